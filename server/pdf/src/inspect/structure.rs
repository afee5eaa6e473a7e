//! The structure tree (ISO 32000-1, 14.7.2) in reading order.

use std::collections::BTreeMap;
use std::mem::replace;

use crate::PdfError;
use crate::check::places::read_texts;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::object_streams::unpack;
use crate::page_tree::list_pages;
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
    /// First words of its own content.
    pub text: Option<String>,
}

/// Reads the structure tree of a file of one revision, as Chromium and Platen write it; an empty one if the file isn't
/// tagged. Fails with [`PdfError::Damaged`] for any other file.
pub fn read_structure(bytes: &[u8]) -> Result<StructureTree, PdfError> {
    let bytes = &*unpack(bytes)?;
    let document = Document::open(&[bytes])?;
    let root = document.root()?;
    let pages = list_pages(&document, root)?;
    let catalog = document.get_dictionary(root, "expected a catalog")?;
    let tree = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
    let mut reader = Reader {
        texts: read_texts(&document, &pages),
        seen: vec![false; document.size() as usize],
        tree: StructureTree::default(),
        document: &document,
    };
    reader.read(&tree)?;
    Ok(reader.tree)
}

struct Reader<'d, 'a> {
    document: &'d Document<'a>,
    texts: BTreeMap<(ObjectNumber, i64), String>,
    /// By object number. Each element is visited once, so that a cycle ends.
    seen: Vec<bool>,
    tree: StructureTree,
}

/// A child of an element: an element, or content.
struct Kid<'a> {
    object: Object<'a>,
    depth: usize,
    /// The page that the parent names.
    page: Option<ObjectNumber>,
}

impl<'a> Reader<'_, 'a> {
    fn read(&mut self, root: &Dictionary<'a>) -> Result<(), PdfError> {
        let mut waiting = self.kids(root, 0)?;
        while let Some(kid) = waiting.pop() {
            let Object::Dictionary(element) = self.document.resolve(&kid.object)? else {
                continue;
            };
            // References to content have no structure type.
            let Some(Object::Name(kind)) = element.get("S").filter(|_| self.is_new(&kid.object)) else {
                continue;
            };
            if self.tree.elements.len() == MAX_ELEMENTS {
                self.tree.is_cut = true;
                break;
            }
            let kids = self.kids(&element, kid.depth + 1)?;
            let own_texts = kids.iter().rev().filter_map(|kid| self.text(kid));
            let own_text = own_texts.collect::<Vec<_>>().join(" ");
            let text = |key: &str| {
                let text = element.get(key).and_then(Object::as_string).map(decode);
                text.map(|text| abbreviate(&text, MAX_TEXT))
            };
            self.tree.elements.push(StructureElement {
                depth: kid.depth,
                kind: String::from_utf8_lossy(kind).into_owned(),
                title: text("T"),
                language: text("Lang"),
                alternative: text("Alt"),
                actual_text: text("ActualText"),
                text: (!own_text.is_empty()).then(|| abbreviate(&own_text, MAX_TEXT)),
            });
            waiting.extend(kids);
        }
        Ok(())
    }

    fn is_new(&mut self, element: &Object) -> bool {
        let seen = element
            .as_reference()
            .and_then(|number| self.seen.get_mut(number as usize));
        seen.is_none_or(|seen| !replace(seen, true))
    }

    /// Returns the children of an element or of the root, the last one first.
    fn kids(&self, owner: &Dictionary<'a>, depth: usize) -> Result<Vec<Kid<'a>>, PdfError> {
        let Some(kids) = owner.get("K") else {
            return Ok(Vec::new());
        };
        let kids = match self.document.resolve(kids)? {
            Object::Array(items) => items,
            _ => vec![kids.clone()],
        };
        let page = owner.reference("Pg");
        let kids = kids.into_iter().rev();
        Ok(kids.map(|object| Kid { object, depth, page }).collect())
    }

    /// Returns the text of a child that is content: an identifier, or a reference to marked content.
    fn text(&self, kid: &Kid) -> Option<&str> {
        let (stream, identifier) = match &kid.object {
            Object::Integer(identifier) => (kid.page?, *identifier),
            Object::Dictionary(reference) => {
                let stream = reference
                    .reference("Stm")
                    .or_else(|| reference.reference("Pg"))
                    .or(kid.page)?;
                (stream, reference.get("MCID")?.as_integer()?)
            }
            _ => return None,
        };
        self.texts.get(&(stream, identifier)).map(String::as_str)
    }
}
