//! Finds the objects that can be reached from a document's trailer, or from some of its pages.

use std::collections::BTreeSet;

use crate::PdfError;
use crate::document::Document;
use crate::mentions::Mention;
use crate::object::ObjectNumber;

/// The objects reachable from some roots, including the roots.
#[derive(Debug)]
pub(crate) struct Reach {
    /// By object number.
    is_reached: Vec<bool>,
    /// Keys of the parent tree by which pages, annotations and form `XObject`s find their elements.
    pub(crate) structure_keys: BTreeSet<i64>,
}

impl Reach {
    pub(crate) fn of(document: &Document, roots: impl IntoIterator<Item = ObjectNumber>) -> Result<Self, PdfError> {
        let mut is_reached = vec![false; document.size() as usize];
        let mut structure_keys = BTreeSet::new();
        let mut waiting: Vec<ObjectNumber> = roots.into_iter().collect();
        while let Some(number) = waiting.pop() {
            let is_new = is_reached
                .get_mut(number as usize)
                .is_some_and(|is_reached| !std::mem::replace(is_reached, true));
            if is_new {
                document.mentions(number, |mention| match mention {
                    Mention::Object(number) => waiting.push(number),
                    Mention::StructureKey(key) => {
                        structure_keys.insert(key);
                    }
                    Mention::Identifier(_) | Mention::Destination(_) => {}
                })?;
            }
        }
        Ok(Self {
            is_reached,
            structure_keys,
        })
    }

    pub(crate) fn contains(&self, number: ObjectNumber) -> bool {
        self.is_reached
            .get(number as usize)
            .is_some_and(|is_reached| *is_reached)
    }
}

/// Removes every object that can't be reached from the catalog or the document information.
pub(crate) fn remove_unreachable(document: &mut Document) -> Result<(), PdfError> {
    let trailer = document.trailer();
    let roots = ["Root", "Info"].into_iter().filter_map(|key| trailer.reference(key));
    let reach = Reach::of(document, roots)?;
    for number in 1..document.size() {
        if !reach.contains(number) {
            document.remove(number);
        }
    }
    Ok(())
}
