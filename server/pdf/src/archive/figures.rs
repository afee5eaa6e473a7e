//! Makes groups of the figures that group content with a caption, HTML's `figure`. Chromium gives them the type of a
//! picture, which would lack an alternative text (ISO 14289-1, 7.3); the pictures in them have their own.

use crate::PdfError;
use crate::document::Document;
use crate::object::{Object, ObjectNumber};
use crate::structure_elements::is_kind;

/// Turns each `Figure` that contains a caption, or nothing but elements with another figure among them, into a `Div`,
/// unless it has a text of its own.
pub(super) fn group_figures(document: &mut Document, figures: &[ObjectNumber]) -> Result<(), PdfError> {
    for number in figures {
        let mut figure = document.get_dictionary(*number, "expected a structure element")?;
        if figure.get("Alt").or(figure.get("ActualText")).is_some() {
            continue;
        }
        let kids = figure.items("K");
        let has_own_content = kids.iter().any(|kid| kid.as_reference().is_none());
        let mut is_group = false;
        for kid in kids.iter().filter_map(Object::as_reference) {
            let kid = document.get_dictionary(kid, "expected a structure element")?;
            is_group |= is_kind(&kid, &["Caption"]) || is_kind(&kid, &["Figure"]) && !has_own_content;
        }
        if is_group {
            figure.set("S", Object::name("Div"));
            document.set(*number, Object::Dictionary(figure));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Dictionary;

    const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");

    #[test]
    fn only_groups_are_no_pictures() {
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let mut element = |kind, kids: Vec<Object<'static>>, alternative| {
            let mut element = Dictionary::new([("S", Object::name(kind)), ("K", Object::Array(kids))]);
            if alternative {
                element.set("Alt", Object::String(b"A bay".into()));
            }
            document.add(Object::Dictionary(element))
        };
        let content = || Object::Integer(0);
        let picture = Object::Reference(element("Figure", vec![content()], true));
        let caption = Object::Reference(element("Caption", vec![content()], false));
        let text = Object::Reference(element("NonStruct", vec![content()], false));
        let cases = [
            (vec![picture.clone(), caption.clone()], false, "Div"),
            (vec![content(), caption.clone()], false, "Div"),
            (vec![picture.clone()], false, "Div"),
            (vec![picture.clone(), caption], true, "Figure"),
            (vec![content(), picture], false, "Figure"),
            (vec![text], false, "Figure"),
            (vec![content()], false, "Figure"),
        ];
        let cases = cases.map(|(kids, alternative, expected)| (element("Figure", kids, alternative), expected));
        group_figures(&mut document, &cases.map(|(figure, _)| figure)).expect("valid");
        for (figure, expected) in cases {
            let figure = document.get_dictionary(figure, "an element").expect("an element");
            assert!(figure.get("S").is_some_and(|kind| kind.is_name(expected)), "{figure:?}");
        }
    }
}
