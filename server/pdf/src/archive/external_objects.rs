//! Determines what external objects draw: decoration, which is an artifact as a whole, or text and tagged content, whose
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
        if let Some(known) = self.known.get(&number) {
            return *known;
        }
        let mut search = Search {
            document,
            known: &self.known,
            found: BTreeMap::new(),
            has_cycle: false,
        };
        let drawn = search.drawn_at(number, 0);
        // In a cycle, the results for other forms lack what is drawn by a form whose own result was still open.
        if !search.has_cycle {
            let found = search.found;
            let found = found.into_iter().filter_map(|(number, drawn)| Some((number, drawn?)));
            self.known.extend(found);
        }
        self.known.insert(number, drawn);
        drawn
    }
}

/// Reads one external object and those within.
struct Search<'s, 'd, 'a> {
    document: &'d Document<'a>,
    known: &'s BTreeMap<ObjectNumber, Drawn>,
    /// What the objects read so far draw; `None` for those that are being read.
    found: BTreeMap<ObjectNumber, Option<Drawn>>,
    has_cycle: bool,
}

impl Search<'_, '_, '_> {
    fn drawn_at(&mut self, number: ObjectNumber, depth: usize) -> Drawn {
        if let Some(known) = self.known.get(&number) {
            return *known;
        }
        if let Some(found) = self.found.get(&number) {
            self.has_cycle |= found.is_none();
            // What a form draws doesn't depend on whether it draws itself.
            return found.unwrap_or(Drawn::Decoration);
        }
        if depth > MAX_DEPTH {
            return Drawn::Text;
        }
        self.found.insert(number, None);
        let drawn = self.read(number, depth).unwrap_or(Drawn::Text);
        self.found.insert(number, Some(drawn));
        drawn
    }

    /// Returns `None` if the object can't be read.
    fn read(&mut self, number: ObjectNumber, depth: usize) -> Option<Drawn> {
        let document = self.document;
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
        let below = numbers.map(|number| self.drawn_at(number, depth + 1)).max();
        Some(below.map_or(own, |below| below.max(own)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Dictionary, Stream};

    const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");

    fn set_form(document: &mut Document, number: ObjectNumber, font: Option<&'static str>, drawn: &[ObjectNumber]) {
        let names = drawn
            .iter()
            .map(|number| (format!("F{number}").into_bytes().into(), Object::Reference(*number)));
        let objects = Dictionary {
            entries: names.collect(),
        };
        let fonts = font.map(|font| (font.as_bytes().into(), Object::Null));
        let fonts = Dictionary {
            entries: fonts.into_iter().collect(),
        };
        let resources = Dictionary::new([
            ("XObject", Object::Dictionary(objects)),
            ("Font", Object::Dictionary(fonts)),
        ]);
        let form = Dictionary::new([
            ("Subtype", Object::name("Form")),
            ("Resources", Object::Dictionary(resources)),
        ]);
        document.set(number, Object::Stream(Stream::plain(form, b"".as_slice())));
    }

    #[test]
    fn forms_that_draw_each_other_draw_the_same() {
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let [first, second, silent, speaking] = [(); 4].map(|()| document.add(Object::Null));
        set_form(&mut document, first, None, &[second, silent, speaking]);
        set_form(&mut document, second, None, &[first]);
        set_form(&mut document, silent, None, &[silent]);
        set_form(&mut document, speaking, Some("F1"), &[]);
        let mut objects = ExternalObjects::default();
        let drawn = [first, second, silent, speaking].map(|number| objects.drawn(&document, number));
        assert_eq!(drawn, [Drawn::Text, Drawn::Text, Drawn::Decoration, Drawn::Text]);
    }
}
