//! Tags text that Chromium leaves without an element: generated content (`::before`, counters, quotation marks). It
//! becomes content of the element that is painted before or after it on the same line, so that it is read where it is
//! painted. Text whose place is doubtful is left.

use std::collections::BTreeMap;

use super::structure_tree::StructureTree;
use super::untagged::{Line, Operators, Tagged, Text};
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Elements above an element that are compared.
const MAX_DEPTH: usize = 256;
/// Elements whose kids are separate, even on one line.
const CONTAINERS: [&str; 6] = ["Table", "THead", "TBody", "TFoot", "TR", "L"];
/// Elements that consist of text.
const TEXT_BLOCKS: [&str; 19] = [
    "P",
    "H1",
    "H2",
    "H3",
    "H4",
    "H5",
    "H6",
    "TD",
    "TH",
    "LBody",
    "Lbl",
    "Caption",
    "Span",
    "Link",
    "Quote",
    "Code",
    "BlockQuote",
    "Em",
    "Strong",
];
/// Elements that text beside them is not part of.
const OBJECTS: [&str; 3] = ["Figure", "Formula", "Form"];

/// A text object with its new marked-content identifier and the type of its element.
#[derive(Debug, PartialEq)]
pub(super) struct TaggedText {
    pub(super) range: Operators,
    pub(super) kind: Vec<u8>,
    pub(super) identifier: usize,
}

/// Adds texts to the structure. `key` is that of the stream in the parent tree.
pub(super) fn tag_texts<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    key: i64,
    texts: &[&Text],
) -> Result<Vec<TaggedText>, PdfError> {
    let mut owners = structure.owners(document, key)?;
    let mut ancestry = Ancestry::default();
    let mut tagged = Vec::new();
    // The identifier of the last text that was added after tagged content, and that content's.
    let mut last_before: Option<(usize, usize)> = None;
    let mut last_after = None;
    for text in texts {
        let Some(side) = side_of(document, &mut ancestry, &owners, text)? else {
            continue;
        };
        let (neighbour, is_after) = match (side, text.after) {
            // Once a text belongs to what follows, so do those between.
            (Side::Before(_), Some(after)) if last_after == Some(after.identifier) => (after.identifier, false),
            (Side::Before(before), _) => (before.identifier, true),
            (Side::After(after), _) => (after.identifier, false),
        };
        let Some(element_number) = owners.get(neighbour).and_then(Object::as_reference) else {
            continue;
        };
        let place = match last_before {
            Some((content, added)) if is_after && content == neighbour => added,
            _ => neighbour,
        };
        let identifier = owners.len();
        let mut element = document.get_dictionary(element_number, "expected a structure element")?;
        if !insert_kid(&mut element, place, is_after, identifier) {
            continue;
        }
        let kind = match element.get("S") {
            Some(Object::Name(kind)) => kind.to_vec(),
            _ => continue,
        };
        document.set(element_number, Object::Dictionary(element));
        owners.push(Object::Reference(element_number));
        if is_after {
            last_before = Some((neighbour, identifier));
        } else {
            last_after = Some(neighbour);
        }
        let range = text.range.clone();
        tagged.push(TaggedText {
            range,
            kind,
            identifier,
        });
    }
    if !tagged.is_empty() {
        structure.set_owners(document, key, owners)?;
    }
    Ok(tagged)
}

/// The content that a text belongs to.
enum Side<'c> {
    Before(Tagged<'c>),
    After(Tagged<'c>),
}

fn side_of<'a, 'c>(
    document: &Document<'a>,
    ancestry: &mut Ancestry<'a>,
    owners: &[Object],
    text: &Text<'c>,
) -> Result<Option<Side<'c>>, PdfError> {
    let mut path = |tagged: Option<Tagged>| {
        let element = tagged.and_then(|tagged| owners.get(tagged.identifier)?.as_reference());
        element.map_or(Ok(Vec::new()), |element| ancestry.path(document, element))
    };
    let (before, after) = (path(text.before)?, path(text.after)?);
    let is_beside = |path: &[Element], line: Option<Line>| {
        let is_same_line = text.line.zip(line).is_some_and(|(own, other)| own.is_same(&other));
        is_same_line && path.first().is_some_and(|leaf| !leaf.is(&OBJECTS))
    };
    let is_beside_before = is_beside(&before, text.before.and_then(|tagged| tagged.last_line));
    let is_beside_after = is_beside(&after, text.after.and_then(|tagged| tagged.first_line));
    let common = before
        .iter()
        .find(|element| after.iter().any(|other| other.number == element.number));
    let is_in_text_block = common.is_some_and(|common| common.is(&TEXT_BLOCKS));
    let belongs_before = match (is_beside_before, is_beside_after) {
        (true, true) if common.is_none_or(|common| common.is(&CONTAINERS)) => return Ok(None),
        // Text after a label is the beginning of the item, and text after a link is no part of it.
        (true, true) => !before.iter().any(|element| {
            element.is(&["Lbl", "Link"])
                && common.is_some_and(|common| common.number != element.number)
                && !after.iter().any(|other| other.number == element.number)
        }),
        (false, false) if is_in_text_block => !before.first().is_some_and(|leaf| leaf.is(&OBJECTS)),
        (false, false) => return Ok(None),
        (is_beside_before, _) => is_beside_before,
    };
    Ok(if belongs_before {
        text.before.map(Side::Before)
    } else {
        text.after.map(Side::After)
    })
}

/// An element on the path from content to the root.
#[derive(Debug, Clone)]
struct Element<'a> {
    number: ObjectNumber,
    kind: Object<'a>,
    parent: Option<ObjectNumber>,
}

impl Element<'_> {
    fn is(&self, kinds: &[&str]) -> bool {
        kinds.iter().any(|kind| self.kind.is_name(kind))
    }
}

/// Elements that were read. Texts of one stream have most of those above them in common.
#[derive(Debug, Default)]
struct Ancestry<'a> {
    known: BTreeMap<ObjectNumber, Option<Element<'a>>>,
}

impl<'a> Ancestry<'a> {
    /// Returns an element and those above it, without the root of the tree.
    fn path(&mut self, document: &Document<'a>, element: ObjectNumber) -> Result<Vec<Element<'a>>, PdfError> {
        let mut path = Vec::new();
        let mut next = Some(element);
        while let Some(number) = next.filter(|_| path.len() < MAX_DEPTH) {
            let element = match self.known.get(&number) {
                Some(known) => known.clone(),
                None => self
                    .known
                    .entry(number)
                    .or_insert(read_element(document, number)?)
                    .clone(),
            };
            let Some(element) = element else { break };
            next = element.parent;
            path.push(element);
        }
        Ok(path)
    }
}

/// Returns `None` for the root of the tree.
fn read_element<'a>(document: &Document<'a>, number: ObjectNumber) -> Result<Option<Element<'a>>, PdfError> {
    let element = document.get_dictionary(number, "expected a structure element")?;
    Ok(element.get("S").map(|kind| Element {
        number,
        kind: kind.clone(),
        parent: element.reference("P"),
    }))
}

/// Adds marked content beside that of identifier `place`. Returns `false` if the element does not contain that.
fn insert_kid(element: &mut Dictionary, place: usize, is_after: bool, identifier: usize) -> bool {
    let is_place = |kid: &Object| kid.as_integer() == i64::try_from(place).ok();
    let mut kids = element.items("K").to_vec();
    let found = kids.iter().position(|kid| match kid {
        Object::Dictionary(reference) => reference.get("MCID").is_some_and(is_place),
        kid => is_place(kid),
    });
    let Some(index) = found else { return false };
    let identifier = Object::count(identifier);
    let kid = match &kids[index] {
        Object::Dictionary(reference) => {
            let mut reference = reference.clone();
            reference.set("MCID", identifier);
            Object::Dictionary(reference)
        }
        _ => identifier,
    };
    kids.insert(index + usize::from(is_after), kid);
    element.set("K", Object::Array(kids));
    true
}

#[cfg(test)]
mod tests {
    use super::super::artifacts::write_marks;
    use super::super::untagged::{Drawn, find_untagged};
    use super::*;

    const LINKS: &[u8] = include_bytes!("../../tests/fixtures/links.pdf");

    /// Tags the texts of a page whose content is owned by elements of these types, one for each identifier, below
    /// elements of the types before the last slash. Returns the content, and the kids of each of the elements.
    fn tagged(content: &str, kinds: &[&'static str]) -> (String, Vec<String>) {
        let mut document = Document::open(&[LINKS]).expect("valid");
        let mut structure = StructureTree::of(&document).expect("valid").expect("a tree");
        let mut by_path: BTreeMap<&str, ObjectNumber> = BTreeMap::new();
        let mut owners = Vec::new();
        for (identifier, path) in kinds.iter().enumerate() {
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

    fn element(
        document: &mut Document,
        kind: &'static str,
        parent: Option<ObjectNumber>,
        kids: &[usize],
    ) -> ObjectNumber {
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
}
