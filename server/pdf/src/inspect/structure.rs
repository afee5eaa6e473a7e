//! The structure tree (ISO 32000-1, 14.7.2) in reading order.

use std::collections::BTreeMap;
use std::mem::replace;

use crate::PdfError;
use crate::check::places::Places;
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
    /// Page of its own content, or the page that it names, from 1. Elements that only contain others may have none.
    pub page: Option<usize>,
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
        places: Places::new(&document, &pages),
        page_numbers: pages.iter().copied().zip(1..).collect(),
        seen: vec![false; document.size() as usize],
        tree: StructureTree::default(),
        document: &document,
    };
    reader.read(&tree)?;
    Ok(reader.tree)
}

struct Reader<'d, 'a> {
    document: &'d Document<'a>,
    places: Places<'d, 'a>,
    /// From 1, by object number.
    page_numbers: BTreeMap<ObjectNumber, usize>,
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
            let (page, own_text) = self.content(&element, &kids);
            let text = |key: &str| {
                let text = element.get(key).and_then(Object::as_string).map(decode);
                text.map(|text| abbreviate(&text, MAX_TEXT))
            };
            self.tree.elements.push(StructureElement {
                depth: kid.depth,
                kind: String::from_utf8_lossy(kind).into_owned(),
                page,
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

    /// Returns the page of an element's own content, or the page that it names, and the beginning of the content's text.
    fn content(&mut self, element: &Dictionary, kids: &[Kid]) -> (Option<usize>, String) {
        let (mut first_page, mut text) = (None, String::new());
        for kid in kids.iter().rev() {
            let Some((page, content)) = self.place(kid) else {
                continue;
            };
            first_page = first_page.or(Some(page));
            if let Some(more) = content.and_then(|content| self.places.text(page, content)) {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(&more);
            }
            if text.chars().nth(MAX_TEXT).is_some() {
                break;
            }
        }
        let named_page = || self.page_numbers.get(&element.reference("Pg")?).copied();
        (first_page.or_else(named_page), text)
    }

    /// Returns the page of a child that is content, and the page or form that contains it with its identifier. An object,
    /// such as a link, has none of the latter.
    fn place(&self, kid: &Kid) -> Option<(usize, Option<(ObjectNumber, i64)>)> {
        let (page, content) = match &kid.object {
            Object::Integer(identifier) => {
                let page = kid.page?;
                (page, Some((page, *identifier)))
            }
            Object::Dictionary(reference) if reference.get("S").is_none() => {
                let page = reference.reference("Pg").or(kid.page)?;
                let stream = reference.reference("Stm").unwrap_or(page);
                let identifier = reference.get("MCID").and_then(Object::as_integer);
                (page, identifier.map(|identifier| (stream, identifier)))
            }
            _ => return None,
        };
        Some((*self.page_numbers.get(&page)?, content))
    }
}
