//! Which generated text is tagged, and where.

use std::collections::BTreeMap;

use super::super::artifacts::write_marks;
use super::super::untagged::{Drawn, find_untagged};
use super::*;
use crate::object::{Dictionary, ObjectNumber};

const LINKS: &[u8] = include_bytes!("../../../tests/fixtures/links.pdf");

/// Tags the texts of a page whose content is owned by elements of these types, one for each identifier, below
/// elements of the types before the last slash. Returns the content, and the kids of each of the elements.
fn tagged(content: &str, paths: &[&'static str]) -> (String, Vec<String>) {
    let mut document = Document::open(&[LINKS]).expect("valid");
    let mut structure = StructureTree::of(&document).expect("valid").expect("a tree");
    let (page, key) = page(&mut document, &mut structure);
    let mut by_path: BTreeMap<&str, ObjectNumber> = BTreeMap::new();
    let mut owners = Vec::new();
    for (identifier, path) in paths.iter().enumerate() {
        let mut parent = None;
        let ends = path.match_indices('/').map(|(at, _)| at);
        for end in ends {
            let kind = path[..end].rsplit('/').next().unwrap_or_default();
            let kind = kind.trim_end_matches(char::is_numeric);
            parent = Some(
                *by_path
                    .entry(&path[..end])
                    .or_insert_with(|| element(&mut document, kind, parent, page, &[])),
            );
        }
        let kind = path.rsplit('/').next().unwrap_or_default();
        owners.push(element(&mut document, kind, parent, page, &[identifier]));
    }
    set_owners(&mut document, &mut structure, key, &owners);
    let content = tag_content(&mut document, &mut structure, key, content);
    let parents = structure.owners(&document, key).expect("valid");
    let kids = owners.iter().map(|number| {
        let owner = document.get_dictionary(*number, "an element").expect("an element");
        let kids = owner.items("K").iter().filter_map(Object::as_integer);
        let kids: Vec<i64> = kids.collect();
        for kid in &kids {
            assert_eq!(
                parents[usize::try_from(*kid).expect("positive")],
                Object::Reference(*number)
            );
        }
        format!("{kids:?}")
    });
    (content, kids.collect())
}

/// Tags the texts of a stream and returns its content.
fn tag_content<'a>(document: &mut Document<'a>, structure: &mut StructureTree<'a>, key: i64, content: &str) -> String {
    let untagged = find_untagged(content.as_bytes(), None, &mut |_| Drawn::Text).expect("valid");
    let texts: Vec<&Text> = untagged.texts.iter().collect();
    let tagged = tag_texts(document, structure, key, &texts).expect("valid");
    let content = write_marks(content.as_bytes(), &untagged, &tagged, &[]);
    String::from_utf8(content.unwrap_or_default()).expect("ASCII")
}

/// Adds a page, and returns its number and its key in the parent tree.
fn page<'a>(document: &mut Document<'a>, structure: &mut StructureTree<'a>) -> (ObjectNumber, i64) {
    let key = structure.add_key(document, Object::Null).expect("valid");
    let page = Dictionary::new([("StructParents", Object::Integer(key))]);
    (document.add(Object::Dictionary(page)), key)
}

fn set_owners<'a>(document: &mut Document<'a>, structure: &mut StructureTree<'a>, key: i64, owners: &[ObjectNumber]) {
    let owners = owners.iter().map(|owner| Object::Reference(*owner)).collect();
    structure.set_owners(document, key, owners).expect("valid");
}

fn element(
    document: &mut Document,
    kind: &'static str,
    parent: Option<ObjectNumber>,
    page: ObjectNumber,
    kids: &[usize],
) -> ObjectNumber {
    let mut element = Dictionary::new([
        ("S", Object::name(kind)),
        ("Pg", Object::Reference(page)),
        ("K", kids.iter().map(|kid| Object::count(*kid)).collect()),
    ]);
    if let Some(parent) = parent {
        element.set("P", Object::Reference(parent));
    }
    document.add(Object::Dictionary(element))
}

fn line(height: usize, text: &str) -> String {
    format!("BT /F1 10 Tf 1 0 0 -1 5 {height} Tm ({text}) Tj ET ")
}

fn content(identifier: usize, height: usize) -> String {
    format!("/P <</MCID {identifier} >>BDC {}EMC ", line(height, "content"))
}

#[test]
fn text_is_read_where_it_is_painted() {
    let page = [
        line(20, "before"),
        content(0, 20),
        line(20, "after"),
        line(40, "next"),
        content(1, 40),
    ]
    .concat();
    let (content, kids) = tagged(&page, &["Document/P1/NonStruct", "Document/P2/NonStruct"]);
    assert_eq!(kids, ["[2, 0, 3]", "[4, 1]"]);
    assert!(content.contains("/NonStruct <</MCID 2 >>BDC\nBT /F1 10 Tf 1 0 0 -1 5 20 Tm (before) Tj ET\nEMC"));
}

#[test]
fn text_between_parts_of_a_paragraph_belongs_to_it() {
    let between = |height| [content(0, 20), line(height, "?"), line(height, "?"), content(1, 60)].concat();
    let kinds = ["Document/P/NonStruct", "Document/P/Link"];
    for height in [20, 24, 40] {
        assert_eq!(tagged(&between(height), &kinds).1, ["[0, 2, 3]", "[1]"]);
    }
    assert_eq!(tagged(&between(60), &kinds).1, ["[0]", "[2, 3, 1]"]);
    let on_one_line = [content(0, 20), line(20, "?"), content(1, 20)].concat();
    assert_eq!(
        tagged(&on_one_line, &["Document/P/Link", "Document/P/NonStruct"]).1,
        ["[0]", "[2, 1]"]
    );
    assert_eq!(tagged(&on_one_line, &["L/LI/Lbl", "L/LI/LBody"]).1, ["[0]", "[2, 1]"]);
}

#[test]
fn text_whose_place_is_doubtful_is_left() {
    let other_line = [content(0, 20), line(40, "?"), content(1, 60)].concat();
    let on_one_line = [content(0, 20), line(20, "?"), content(1, 20)].concat();
    let other_clip = format!("{}q 0 0 9 9 re W n {}Q", content(0, 20), line(20, "?"));
    let upright = format!("{}BT /F1 10 Tf 0 1 1 0 5 20 Tm (?) Tj ET", content(0, 20));
    for (page, kinds) in [
        (&other_line, ["Document/P1/NonStruct", "Document/P2/NonStruct"]),
        (&on_one_line, ["TR/TD1/NonStruct", "TR/TD2/NonStruct"]),
        (&on_one_line, ["Document/Figure", "Document/Form"]),
        (&other_clip, ["Document/P", "Document/P"]),
        (&upright, ["Document/P", "Document/P"]),
    ] {
        assert_eq!(
            tagged(page, &kinds),
            (String::new(), vec!["[0]".to_owned(), "[1]".to_owned()]),
            "{page}"
        );
    }
}

#[test]
fn text_is_added_beside_the_content_of_its_own_stream() {
    let mut document = Document::open(&[LINKS]).expect("valid");
    let mut structure = StructureTree::of(&document).expect("valid").expect("a tree");
    let [(first, _), (second, key), (form, form_key)] = [(); 3].map(|()| page(&mut document, &mut structure));
    let reference = |streams: &[(&'static str, ObjectNumber)], identifier| {
        let mut reference = Dictionary::new([("Type", Object::name("MCR")), ("MCID", Object::Integer(identifier))]);
        for (name, stream) in streams {
            reference.set(name, Object::Reference(*stream));
        }
        Object::Dictionary(reference)
    };
    let on_page = |identifier| reference(&[("Pg", second)], identifier);
    let in_form = |identifier| reference(&[("Pg", second), ("Stm", form)], identifier);
    // A paragraph that begins on the first page, and continues on the second page and in a form.
    let paragraph = element(&mut document, "P", None, first, &[0]);
    let mut continued = document.get_dictionary(paragraph, "an element").expect("an element");
    continued.set("K", [Object::Integer(0), in_form(0), on_page(0)].into_iter().collect());
    document.set(paragraph, Object::Dictionary(continued));
    for key in [key, form_key] {
        set_owners(&mut document, &mut structure, key, &[paragraph]);
        tag_content(
            &mut document,
            &mut structure,
            key,
            &[content(0, 20), line(20, "?")].concat(),
        );
    }
    let paragraph = document.get_dictionary(paragraph, "an element").expect("an element");
    let expected = [Object::Integer(0), in_form(0), in_form(1), on_page(0), on_page(1)];
    assert_eq!(paragraph.items("K"), expected);
}

#[test]
fn any_number_of_texts_is_added_to_one_element() {
    const COUNT: usize = 20_000;
    let mut document = Document::open(&[LINKS]).expect("valid");
    let mut structure = StructureTree::of(&document).expect("valid").expect("a tree");
    let (page, key) = page(&mut document, &mut structure);
    let identifiers: Vec<usize> = (0..COUNT).collect();
    let paragraph = element(&mut document, "P", None, page, &identifiers);
    set_owners(&mut document, &mut structure, key, &vec![paragraph; COUNT]);
    let page: String = identifiers
        .iter()
        .map(|identifier| content(*identifier, 20) + &line(20, "?"))
        .collect();
    tag_content(&mut document, &mut structure, key, &page);
    let paragraph = document.get_dictionary(paragraph, "an element").expect("an element");
    let expected = identifiers
        .iter()
        .flat_map(|identifier| [*identifier, COUNT + identifier]);
    let expected: Vec<Object> = expected.map(Object::count).collect();
    assert!(paragraph.items("K") == expected);
}
