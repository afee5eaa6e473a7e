//! Tags text that Chromium leaves without an element: generated content (`::before`, counters, quotation marks). It
//! becomes content of the element that is painted before or after it on the same line, so that it is read where it is
//! painted. Text whose place is doubtful is left.

mod changed_elements;

use super::ancestry::{Ancestry, Element};
use super::structure_tree::StructureTree;
use super::untagged::{Line, Operators, Tagged, Text};
use crate::PdfError;
use crate::document::Document;
use crate::object::Object;
use changed_elements::ChangedElements;

/// Elements whose kids are separate, even on one line.
pub(super) const CONTAINERS: [&str; 6] = ["Table", "THead", "TBody", "TFoot", "TR", "L"];
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
    let mut elements = ChangedElements::new(key);
    let mut tagged = Vec::new();
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
        let Some(owner) = owners.get(neighbour).and_then(Object::as_reference) else {
            continue;
        };
        let identifier = owners.len();
        let Some(kind) = elements.add(document, owner, (neighbour, is_after), identifier)? else {
            continue;
        };
        owners.push(Object::Reference(owner));
        if !is_after {
            last_after = Some(neighbour);
        }
        tagged.push(TaggedText {
            range: text.range.clone(),
            kind,
            identifier,
        });
    }
    if !tagged.is_empty() {
        elements.write(document);
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

#[cfg(test)]
mod tests;
