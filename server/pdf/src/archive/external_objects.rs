//! Tells what external objects draw: decoration, which is an artifact as a whole, or text and tagged content, whose
//! marks are within their forms.

use std::collections::BTreeMap;

use super::untagged::Drawn;
use crate::document::Document;
use crate::object::{Object, ObjectNumber};

/// Nesting of forms up to which they are read.
pub(super) const MAX_DEPTH: usize = 16;

/// Remembers what external objects draw.
#[derive(Debug, Default)]
pub(super) struct ExternalObjects {
    known: BTreeMap<ObjectNumber, Drawn>,
}

impl ExternalObjects {
    /// Returns what an image or form draws, including the forms within. Fonts in the resources are in use: Chromium
    /// writes no others. What can't be read counts as text.
    pub(super) fn drawn(&mut self, document: &Document, number: ObjectNumber) -> Drawn {
        self.drawn_at(document, number, 0)
    }

    fn drawn_at(&mut self, document: &Document, number: ObjectNumber, depth: usize) -> Drawn {
        if let Some(known) = self.known.get(&number) {
            return *known;
        }
        if depth > MAX_DEPTH {
            return Drawn::Text;
        }
        // What a form draws doesn't depend on whether it draws itself.
        self.known.insert(number, Drawn::Decoration);
        let drawn = self.read(document, number, depth).unwrap_or(Drawn::Text);
        self.known.insert(number, drawn);
        drawn
    }

    /// Returns `None` if the object can't be read.
    fn read(&mut self, document: &Document, number: ObjectNumber, depth: usize) -> Option<Drawn> {
        let object = document.get(number).ok()?;
        let form = object.as_dictionary()?;
        if form.get("Subtype").is_some_and(|kind| kind.is_name("Image")) {
            return Some(Drawn::Decoration);
        }
        if form.get("StructParents").is_some() {
            return Some(Drawn::Tagged);
        }
        let resources = document.resolve_dictionary(form, "Resources").ok()?;
        let fonts = document.resolve_dictionary(&resources, "Font").ok()?;
        let own = if fonts.entries.is_empty() {
            Drawn::Decoration
        } else {
            Drawn::Text
        };
        let objects = document.resolve_dictionary(&resources, "XObject").ok()?;
        let numbers = objects
            .entries
            .iter()
            .filter_map(|(_, object)| Object::as_reference(object));
        let below = numbers.map(|number| self.drawn_at(document, number, depth + 1)).max();
        Some(below.map_or(own, |below| below.max(own)))
    }
}
