//! Gives list items the structure that PDF defines: a label and a body (ISO 32000-1, 14.8.4.3.3; ISO 14289-1, 7.2).
//! Chromium writes the label, but no body.

use std::collections::BTreeSet;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::structure_elements::is_kind;

/// Puts everything other than labels into an `LBody` in each `LI` of the lists that contain these items.
pub(super) fn add_list_bodies(document: &mut Document, items: &[ObjectNumber]) -> Result<(), PdfError> {
    let mut lists = BTreeSet::new();
    for number in items {
        let item = document.get_dictionary(*number, "expected a structure element")?;
        lists.extend(item.reference("P"));
    }
    for list_number in lists {
        let mut list = document.get_dictionary(list_number, "expected a structure element")?;
        let mut kids = list.items("K").to_vec();
        let mut is_changed = false;
        for kid in &mut kids {
            let Some(number) = kid.as_reference() else { continue };
            if let Some(item) = add_body(document, list_number, number)? {
                *kid = Object::Reference(item);
                is_changed = true;
            }
        }
        if is_changed {
            list.set("K", Object::Array(kids));
            document.set(list_number, Object::Dictionary(list));
        }
    }
    Ok(())
}

/// Makes an `LI` of a list the body of a new one, so that the parent tree stays as it is. Returns the new `LI`; `None`
/// if nothing changes.
fn add_body(
    document: &mut Document,
    list: ObjectNumber,
    number: ObjectNumber,
) -> Result<Option<ObjectNumber>, PdfError> {
    let Object::Dictionary(mut body) = document.get(number)? else {
        return Ok(None);
    };
    if !is_kind(&body, &["LI"]) || body.reference("P") != Some(list) {
        return Ok(None);
    }
    let (labels, content) = split(document, &body)?;
    if content.is_empty() {
        return Ok(None);
    }
    let item_number = document.add(Object::Null);
    for label in labels.iter().filter_map(Object::as_reference) {
        let mut element = document.get_dictionary(label, "expected a structure element")?;
        element.set("P", Object::Reference(item_number));
        document.set(label, Object::Dictionary(element));
    }
    let item = item(&body, list, labels.into_iter().chain([Object::Reference(number)]));
    document.set(item_number, Object::Dictionary(item));
    body.set("S", Object::name("LBody"));
    body.set("P", Object::Reference(item_number));
    body.set("K", Object::Array(content));
    document.set(number, Object::Dictionary(body));
    Ok(Some(item_number))
}

/// Splits the kids of an item into the labels with which it begins and its content. There is no content if the item has
/// a body already.
fn split<'a>(document: &Document<'a>, item: &Dictionary<'a>) -> Result<(Vec<Object<'a>>, Vec<Object<'a>>), PdfError> {
    let mut labels = item.items("K").to_vec();
    let mut count = 0;
    for kid in &labels {
        let element = kid.as_reference().map(|kid| document.get(kid)).transpose()?;
        let element = element.as_ref().and_then(Object::as_dictionary);
        if element.is_some_and(|element| is_kind(element, &["LBody"])) {
            return Ok((labels, Vec::new()));
        }
        if !element.is_some_and(|element| is_kind(element, &["Lbl"])) {
            break;
        }
        count += 1;
    }
    let content = labels.split_off(count);
    Ok((labels, content))
}

/// Returns an `LI` with the language of its body.
fn item<'a>(body: &Dictionary<'a>, list: ObjectNumber, kids: impl Iterator<Item = Object<'a>>) -> Dictionary<'a> {
    let mut item = Dictionary::new([
        ("Type", Object::name("StructElem")),
        ("S", Object::name("LI")),
        ("P", Object::Reference(list)),
        ("K", kids.collect()),
    ]);
    if let Some(language) = body.get("Lang") {
        item.set("Lang", language.clone());
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");

    fn element(
        document: &mut Document,
        kind: &'static str,
        parent: ObjectNumber,
        kids: Object<'static>,
    ) -> ObjectNumber {
        document.add(Object::Dictionary(Dictionary::new([
            ("S", Object::name(kind)),
            ("P", Object::Reference(parent)),
            ("K", kids),
        ])))
    }

    /// Returns the structure below an element in short, and checks the parents of elements.
    fn outline(document: &Document, number: ObjectNumber) -> String {
        let element = document.get_dictionary(number, "an element").expect("an element");
        let Some(Object::Name(kind)) = element.get("S") else {
            panic!("{element:?}")
        };
        let kids = element.items("K").iter().map(|kid| match kid {
            Object::Reference(below) => {
                let parent = document.get_dictionary(*below, "an element").expect("an element");
                assert_eq!(parent.reference("P"), Some(number));
                outline(document, *below)
            }
            content => format!("{content:?}"),
        });
        format!(
            "{}({})",
            String::from_utf8_lossy(kind),
            kids.collect::<Vec<_>>().join(" ")
        )
    }

    #[test]
    fn content_beside_the_label_becomes_the_body() {
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let list = document.add(Object::Null);
        let (first, second) = (document.add(Object::Null), document.add(Object::Null));
        let label = element(&mut document, "Lbl", first, Object::Integer(0));
        let link = element(&mut document, "Link", first, Object::Integer(1));
        let item = |kids: Vec<Object<'static>>| {
            Object::Dictionary(Dictionary::new([
                ("S", Object::name("LI")),
                ("P", Object::Reference(list)),
                ("K", Object::Array(kids)),
            ]))
        };
        document.set(first, item(vec![Object::Reference(label), Object::Reference(link)]));
        document.set(second, item(vec![Object::Integer(2)]));
        let kids = Dictionary::new([
            ("S", Object::name("L")),
            ("K", [first, second].map(Object::Reference).into_iter().collect()),
        ]);
        document.set(list, Object::Dictionary(kids));
        let expected = "L(LI(Lbl(Integer(0)) LBody(Link(Integer(1)))) LI(LBody(Integer(2))))";
        add_list_bodies(&mut document, &[first, second]).expect("valid");
        assert_eq!(outline(&document, list), expected);
        // The owners of the marked content remain the same.
        let owner = document.get_dictionary(second, "an element").expect("an element");
        assert_eq!(owner.items("K"), [Object::Integer(2)]);

        let items: Vec<ObjectNumber> = (1..document.size())
            .filter(|number| {
                document
                    .get_dictionary(*number, "")
                    .is_ok_and(|element| is_kind(&element, &["LI"]))
            })
            .collect();
        add_list_bodies(&mut document, &items).expect("valid");
        assert_eq!(outline(&document, list), expected);
    }

    #[test]
    fn long_lists_are_completed_in_order() {
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let list = document.add(Object::Null);
        let items: Vec<ObjectNumber> = (0..20_000)
            .map(|content| element(&mut document, "LI", list, Object::Integer(content)))
            .collect();
        let kids = items.iter().copied().map(Object::Reference).collect();
        let element = Dictionary::new([("S", Object::name("L")), ("K", kids)]);
        document.set(list, Object::Dictionary(element));
        add_list_bodies(&mut document, &items).expect("valid");
        let expected: Vec<String> = (0..20_000)
            .map(|content| format!("LI(LBody(Integer({content})))"))
            .collect();
        assert_eq!(outline(&document, list), format!("L({})", expected.join(" ")));
    }
}
