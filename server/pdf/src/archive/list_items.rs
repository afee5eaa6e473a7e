//! Gives list items the structure that PDF defines: a label and a body (ISO 32000-1, 14.8.4.3.3; ISO 14289-1, 7.2).
//! Chromium writes the label, but no body.

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Puts everything other than labels into an `LBody` in each of these `LI`s. The element itself becomes the body, so
/// that the parent tree stays as it is, and moves below a new `LI`.
pub(super) fn add_list_bodies(document: &mut Document, items: &[ObjectNumber]) -> Result<(), PdfError> {
    for number in items {
        let body = document.get_dictionary(*number, "expected a structure element")?;
        let Some(list_number) = body.reference("P").filter(|_| is_kind(&body, "LI")) else {
            continue;
        };
        let mut list = document.get_dictionary(list_number, "expected a structure element")?;
        let place = list
            .items("K")
            .iter()
            .position(|kid| kid.as_reference() == Some(*number));
        let (labels, content) = split(document, &body)?;
        let (Some(place), false) = (place, content.is_empty()) else {
            continue;
        };
        let item_number = document.add(Object::Null);
        let mut kids = list.items("K").to_vec();
        kids[place] = Object::Reference(item_number);
        list.set("K", Object::Array(kids));
        document.set(list_number, Object::Dictionary(list));
        for label in labels.iter().filter_map(Object::as_reference) {
            let mut element = document.get_dictionary(label, "expected a structure element")?;
            element.set("P", Object::Reference(item_number));
            document.set(label, Object::Dictionary(element));
        }
        let item = item(
            &body,
            list_number,
            labels.into_iter().chain([Object::Reference(*number)]),
        );
        document.set(item_number, Object::Dictionary(item));
        let mut body = body;
        body.set("S", Object::name("LBody"));
        body.set("P", Object::Reference(item_number));
        body.set("K", Object::Array(content));
        document.set(*number, Object::Dictionary(body));
    }
    Ok(())
}

fn is_kind(element: &Dictionary, kind: &str) -> bool {
    element.get("S").is_some_and(|found| found.is_name(kind))
}

/// Splits the kids of an item into the labels with which it begins and its content. There is no content if the item has
/// a body already.
fn split<'a>(document: &Document<'a>, item: &Dictionary<'a>) -> Result<(Vec<Object<'a>>, Vec<Object<'a>>), PdfError> {
    let mut labels = item.items("K").to_vec();
    let mut count = 0;
    for kid in &labels {
        let element = kid.as_reference().map(|kid| document.get(kid)).transpose()?;
        let element = element.as_ref().and_then(Object::as_dictionary);
        if element.is_some_and(|element| is_kind(element, "LBody")) {
            return Ok((labels, Vec::new()));
        }
        if !element.is_some_and(|element| is_kind(element, "Lbl")) {
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
                    .is_ok_and(|element| is_kind(&element, "LI"))
            })
            .collect();
        add_list_bodies(&mut document, &items).expect("valid");
        assert_eq!(outline(&document, list), expected);
    }
}
