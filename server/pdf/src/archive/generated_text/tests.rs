//! Which generated text is tagged, and where.

use super::super::artifacts::write_marks;
use super::super::untagged::{Drawn, find_untagged};
use super::*;

const LINKS: &[u8] = include_bytes!("../../../tests/fixtures/links.pdf");

/// Tags the texts of a page whose content is owned by elements of these types, one for each identifier, below
/// elements of the types before the last slash. Returns the content, and the kids of each of the elements.
fn tagged(content: &str, paths: &[&'static str]) -> (String, Vec<String>) {
    let mut document = Document::open(&[LINKS]).expect("valid");
    let mut structure = StructureTree::of(&document).expect("valid").expect("a tree");
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
                    .or_insert_with(|| element(&mut document, kind, parent, &[])),
            );
        }
        let kind = path.rsplit('/').next().unwrap_or_default();
        owners.push(element(&mut document, kind, parent, &[identifier]));
    }
    let key = structure.add_key(&document, Object::Null).expect("valid");
    let references = owners.iter().map(|owner| Object::Reference(*owner));
    structure
        .set_owners(&mut document, key, references.collect())
        .expect("valid");
    let untagged = find_untagged(content.as_bytes(), None, &mut |_| Drawn::Text).expect("valid");
    let texts: Vec<&Text> = untagged.texts.iter().collect();
    let tagged = tag_texts(&mut document, &mut structure, key, &texts).expect("valid");
    let content = write_marks(content.as_bytes(), &untagged, &tagged, &[]);
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
    let kids = kids.collect();
    (String::from_utf8(content.unwrap_or_default()).expect("ASCII"), kids)
}

fn element(document: &mut Document, kind: &'static str, parent: Option<ObjectNumber>, kids: &[usize]) -> ObjectNumber {
    let mut element = Dictionary::new([
        ("S", Object::name(kind)),
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
