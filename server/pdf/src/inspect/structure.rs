//! The structure tree (ISO 32000-1, 14.7.2) in reading order.

use std::mem::replace;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object};
use crate::object_streams::unpack;
use crate::text::{abbreviate, decode};

/// Most elements that are listed.
const MAX_ELEMENTS: usize = 2_000;
/// Most characters of each text of an element.
const MAX_TEXT: usize = 60;

/// The elements of a structure tree, each before its children.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StructureTree {
    /// At most 2,000.
    pub elements: Vec<StructureElement>,
    /// Whether there are more elements than listed.
    pub is_cut: bool,
}

/// A structure element. Texts have at most 60 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructureElement {
    /// Number of elements around it.
    pub depth: usize,
    /// Type as written, such as `H1`.
    pub kind: String,
    /// Title.
    pub title: Option<String>,
    /// Language tag.
    pub language: Option<String>,
    /// Alternative text.
    pub alternative: Option<String>,
    /// Text that replaces the content.
    pub actual_text: Option<String>,
}

/// Reads the structure tree of a file of one revision, as Chromium and Platen write it; an empty one if the file isn't
/// tagged. Fails with [`PdfError::Damaged`] for any other file.
pub fn read_structure(bytes: &[u8]) -> Result<StructureTree, PdfError> {
    let bytes = &*unpack(bytes)?;
    let document = Document::open(&[bytes])?;
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    let root = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
    let mut tree = StructureTree::default();
    let mut waiting = kids(&document, &root, 0)?;
    // Each number is visited once, so that a cycle ends.
    let mut seen = vec![false; document.size() as usize];
    while let Some((kid, depth)) = waiting.pop() {
        let is_new = kid
            .as_reference()
            .and_then(|number| seen.get_mut(number as usize))
            .is_none_or(|seen| !replace(seen, true));
        let Object::Dictionary(element) = document.resolve(&kid)? else {
            continue;
        };
        // References to content have no type of structure.
        let Some(Object::Name(kind)) = element.get("S").filter(|_| is_new) else {
            continue;
        };
        if tree.elements.len() == MAX_ELEMENTS {
            tree.is_cut = true;
            break;
        }
        let text = |key: &str| {
            let text = element.get(key).and_then(Object::as_string).map(decode);
            text.map(|text| abbreviate(&text, MAX_TEXT))
        };
        tree.elements.push(StructureElement {
            depth,
            kind: String::from_utf8_lossy(kind).into_owned(),
            title: text("T"),
            language: text("Lang"),
            alternative: text("Alt"),
            actual_text: text("ActualText"),
        });
        waiting.extend(kids(&document, &element, depth + 1)?);
    }
    Ok(tree)
}

/// Returns the children of an element or of the root, the last one first.
fn kids<'a>(
    document: &Document<'a>,
    owner: &Dictionary<'a>,
    depth: usize,
) -> Result<Vec<(Object<'a>, usize)>, PdfError> {
    let Some(kids) = owner.get("K") else {
        return Ok(Vec::new());
    };
    let kids = match document.resolve(kids)? {
        Object::Array(items) => items,
        _ => vec![kids.clone()],
    };
    Ok(kids.into_iter().rev().map(|kid| (kid, depth)).collect())
}
