//! The elements above an element (ISO 32000-1, 14.7.2).

use std::collections::BTreeMap;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Object, ObjectNumber};

/// Elements above an element that are compared.
const MAX_DEPTH: usize = 256;

/// An element on the path from content to the root.
#[derive(Debug, Clone)]
pub(super) struct Element<'a> {
    pub(super) number: ObjectNumber,
    kind: Object<'a>,
    pub(super) parent: Option<ObjectNumber>,
}

impl Element<'_> {
    /// Returns whether the type is one of these.
    pub(super) fn is(&self, kinds: &[&str]) -> bool {
        kinds.iter().any(|kind| self.kind.is_name(kind))
    }
}

/// Elements that were read. Contents of one stream have most of those above them in common.
#[derive(Debug, Default)]
pub(super) struct Ancestry<'a> {
    known: BTreeMap<ObjectNumber, Option<Element<'a>>>,
}

impl<'a> Ancestry<'a> {
    /// Returns an element and those above it, without the root of the tree.
    pub(super) fn path(
        &mut self,
        document: &Document<'a>,
        element: ObjectNumber,
    ) -> Result<Vec<Element<'a>>, PdfError> {
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
