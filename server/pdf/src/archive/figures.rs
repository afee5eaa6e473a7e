//! Makes groups of the figures that group content, HTML's `figure`. Chromium gives them the type of a picture, which would
//! lack an alternative text (ISO 14289-1, 7.3); the pictures in them have their own.

use std::collections::VecDeque;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::structure_elements::is_kind;

/// Types of which a picture has no elements. The text of a drawing consists of others.
const PARTS_OF_GROUPS: [&str; 10] = ["Figure", "P", "H1", "H2", "H3", "H4", "H5", "H6", "L", "Table"];
/// Most elements that are searched for them in a figure.
const MAX_SEARCHED: usize = 64;

/// Turns each `Figure` that contains a caption, or nothing but elements with another figure, a paragraph, a heading, a list or a table
/// among them, into a `Div`, unless it has a text of its own.
pub(super) fn group_figures(document: &mut Document, figures: &[ObjectNumber]) -> Result<(), PdfError> {
    for number in figures {
        let mut figure = document.get_dictionary(*number, "expected a structure element")?;
        let has_text = figure.get("Alt").or(figure.get("ActualText")).is_some();
        if !has_text && is_group(document, &figure)? {
            figure.set("S", Object::name("Div"));
            document.set(*number, Object::Dictionary(figure));
        }
    }
    Ok(())
}

fn is_group(document: &Document, figure: &Dictionary) -> Result<bool, PdfError> {
    let kids = figure.items("K");
    let has_own_content = kids.iter().any(|kid| kid.as_reference().is_none());
    let mut waiting: VecDeque<ObjectNumber> = kids.iter().filter_map(Object::as_reference).collect();
    for _ in 0..MAX_SEARCHED {
        let Some(number) = waiting.pop_front() else { break };
        let element = document.get_dictionary(number, "expected a structure element")?;
        if is_kind(&element, &["Caption"]) || is_kind(&element, &PARTS_OF_GROUPS) && !has_own_content {
            return Ok(true);
        }
        if !has_own_content {
            let kids = element.items("K").iter().filter_map(Object::as_reference);
            waiting.extend(kids.take(MAX_SEARCHED));
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let link = Object::Reference(element("Link", vec![text.clone(), picture.clone()], false));
        let paragraph = Object::Reference(element("P", vec![text.clone()], false));
        let many = vec![text.clone(); MAX_SEARCHED];
        let cases = [
            (vec![picture.clone(), caption.clone()], false, "Div"),
            (vec![content(), caption.clone()], false, "Div"),
            (vec![picture.clone()], false, "Div"),
            (vec![picture.clone(), caption], true, "Figure"),
            (vec![content(), picture.clone()], false, "Figure"),
            (vec![link.clone()], false, "Div"),
            (vec![content(), link], false, "Figure"),
            (vec![text.clone(), paragraph.clone()], false, "Div"),
            (vec![paragraph], true, "Figure"),
            ([many, vec![picture]].concat(), false, "Figure"),
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
