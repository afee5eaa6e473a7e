//! The marked content of all elements in the order in which it is read: that of the structure tree (ISO 32000-1, 14.8.2.3).

use std::collections::{BTreeMap, BTreeSet};

use super::painted_page::Content;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

pub(super) struct ReadingOrder {
    /// Each with its element.
    pub(super) contents: Vec<(Content, ObjectNumber)>,
    ranks: BTreeMap<Content, usize>,
}

impl ReadingOrder {
    /// Reads the elements below the root of the tree, each once.
    pub(super) fn read(document: &Document, root: ObjectNumber) -> Result<Self, PdfError> {
        let mut contents = Vec::new();
        let mut seen = BTreeSet::from([root]);
        let tree = document.get_dictionary(root, "expected a structure tree")?;
        let mut waiting = kids(&tree, root, None);
        while let Some(Kid { object, element, page }) = waiting.pop() {
            let (number, kid) = match object {
                Object::Reference(number) if seen.insert(number) => (Some(number), document.get(number)?),
                Object::Reference(_) => continue,
                direct => (None, direct),
            };
            match (kid, number) {
                (Object::Dictionary(kid), number) if kid.get("S").is_some() => {
                    let page = kid.reference("Pg").or(page);
                    waiting.extend(number.map(|number| kids(&kid, number, page)).unwrap_or_default());
                }
                (kid, _) => contents.extend(content_of(&kid, page).map(|content| (content, element))),
            }
        }
        let ranks = contents.iter().zip(0..).map(|((content, _), rank)| (*content, rank));
        Ok(Self {
            ranks: ranks.collect(),
            contents,
        })
    }

    /// Returns the place of content in the order; `None` if it has no element.
    pub(super) fn rank(&self, content: Content) -> Option<usize> {
        self.ranks.get(&content).copied()
    }
}

struct Kid<'a> {
    object: Object<'a>,
    element: ObjectNumber,
    /// The page that the element names.
    page: Option<ObjectNumber>,
}

/// Returns the kids of an element, the last first.
fn kids<'a>(element: &Dictionary<'a>, number: ObjectNumber, page: Option<ObjectNumber>) -> Vec<Kid<'a>> {
    let kids = element.items("K").iter().rev();
    let kids = kids.map(|object| Kid {
        object: object.clone(),
        element: number,
        page,
    });
    kids.collect()
}

/// Returns the marked content that a kid of an element is; `None` for an annotation. `page` is that of the element.
pub(super) fn content_of(kid: &Object, page: Option<ObjectNumber>) -> Option<Content> {
    match kid {
        Object::Dictionary(reference) => {
            let owner = reference.reference("Stm").or(reference.reference("Pg")).or(page);
            owner.zip(reference.get("MCID").and_then(Object::as_integer))
        }
        kid => page.zip(kid.as_integer()),
    }
}
