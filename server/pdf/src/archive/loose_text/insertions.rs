//! Inserts elements among the kids of others, which are read and written once for the whole document.

use std::collections::BTreeMap;

use super::position::{Beside, Position};
use super::reading_order::content_of;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Object, ObjectNumber};

/// New elements by their parent and the kid beside them, before it and after it.
#[derive(Default)]
pub(super) struct Insertions {
    parents: BTreeMap<ObjectNumber, BTreeMap<Beside, [Vec<ObjectNumber>; 2]>>,
}

impl Insertions {
    /// Adds an element. Elements at the same position are in the order in which they are added.
    pub(super) fn add(&mut self, position: &Position, element: ObjectNumber) {
        let parent = self.parents.entry(position.parent).or_default();
        parent.entry(position.beside).or_default()[usize::from(position.is_after)].push(element);
    }

    /// Writes the elements that have new kids.
    pub(super) fn write(self, document: &mut Document) -> Result<(), PdfError> {
        for (number, mut added) in self.parents {
            let mut parent = document.get_dictionary(number, "expected a structure element")?;
            let page = parent.reference("Pg");
            let mut kids = Vec::new();
            for kid in parent.items("K") {
                let beside = match kid {
                    Object::Reference(number) => Some(Beside::Element(*number)),
                    kid => content_of(kid, page).map(Beside::Content),
                };
                let [before, after] = beside.and_then(|beside| added.remove(&beside)).unwrap_or_default();
                kids.extend(before.into_iter().map(Object::Reference));
                kids.push(kid.clone());
                kids.extend(after.into_iter().map(Object::Reference));
            }
            // Beside content whose page only an element above names.
            let others = added.into_values().flatten().flatten();
            kids.extend(others.map(Object::Reference));
            parent.set("K", Object::Array(kids));
            document.set(number, Object::Dictionary(parent));
        }
        Ok(())
    }
}
