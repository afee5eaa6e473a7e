//! Tells forms with text or tagged content, whose content is marked within them, from decoration, which is an artifact
//! as a whole.

use std::collections::BTreeMap;

use crate::document::Document;
use crate::object::{Object, ObjectNumber};

/// Nesting of forms up to which they are read.
const MAX_DEPTH: usize = 16;

/// Remembers which external objects show text or tagged content.
#[derive(Debug, Default)]
pub(super) struct Speech {
    known: BTreeMap<ObjectNumber, bool>,
}

impl Speech {
    /// Returns whether an external object is a form that has tagged content, or fonts, or contains such a form. Fonts
    /// in the resources are in use: Chromium writes no others. What can't be read counts as content.
    pub(super) fn is_content(&mut self, document: &Document, number: ObjectNumber) -> bool {
        self.is_content_below(document, number, 0)
    }

    fn is_content_below(&mut self, document: &Document, number: ObjectNumber, depth: usize) -> bool {
        if let Some(known) = self.known.get(&number) {
            return *known;
        }
        // A form that draws itself is content as little as it is without that.
        self.known.insert(number, depth > MAX_DEPTH);
        let is_content = depth > MAX_DEPTH || self.read(document, number, depth).unwrap_or(true);
        self.known.insert(number, is_content);
        is_content
    }

    /// Returns `None` if the object can't be read.
    fn read(&mut self, document: &Document, number: ObjectNumber, depth: usize) -> Option<bool> {
        let object = document.get(number).ok()?;
        let form = object.as_dictionary()?;
        if form.get("Subtype").is_some_and(|kind| kind.is_name("Image")) {
            return Some(false);
        }
        let resources = document.resolve_dictionary(form, "Resources").ok()?;
        let fonts = document.resolve_dictionary(&resources, "Font").ok()?;
        if form.get("StructParents").is_some() || !fonts.entries.is_empty() {
            return Some(true);
        }
        let objects = document.resolve_dictionary(&resources, "XObject").ok()?;
        let mut numbers = objects
            .entries
            .iter()
            .filter_map(|(_, object)| Object::as_reference(object));
        Some(numbers.any(|number| self.is_content_below(document, number, depth + 1)))
    }
}
