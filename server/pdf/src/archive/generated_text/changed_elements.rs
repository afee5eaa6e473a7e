//! Adds marked content to elements. The kids of each element are read and written once for each stream, because a
//! paragraph may have any number.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// The elements to which content of one stream is added.
pub(super) struct ChangedElements<'a> {
    /// Key of the stream in the parent tree.
    key: i64,
    elements: BTreeMap<ObjectNumber, ChangedElement<'a>>,
    /// Keys of the streams that elements refer to.
    keys: BTreeMap<ObjectNumber, Option<i64>>,
}

struct ChangedElement<'a> {
    element: Dictionary<'a>,
    /// Indices of kids by the identifiers of the stream's marked content.
    places: BTreeMap<i64, usize>,
    /// Added identifiers by the index of the kid beside them, before it and after it.
    added: BTreeMap<usize, [Vec<usize>; 2]>,
}

impl<'a> ChangedElements<'a> {
    pub(super) fn new(key: i64) -> Self {
        Self {
            key,
            elements: BTreeMap::new(),
            keys: BTreeMap::new(),
        }
    }

    /// Adds marked content `identifier` to an element, before or after the stream's content `neighbour` and everything
    /// that was added there. Returns the element's type; `None` if it has none or doesn't contain that neighbour.
    pub(super) fn add(
        &mut self,
        document: &Document<'a>,
        number: ObjectNumber,
        (neighbour, is_after): (usize, bool),
        identifier: usize,
    ) -> Result<Option<Vec<u8>>, PdfError> {
        let changed = match self.elements.entry(number) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let element = document.get_dictionary(number, "expected a structure element")?;
                let places = places(document, &element, self.key, &mut self.keys)?;
                entry.insert(ChangedElement {
                    element,
                    places,
                    added: BTreeMap::new(),
                })
            }
        };
        let place = i64::try_from(neighbour)
            .ok()
            .and_then(|neighbour| changed.places.get(&neighbour));
        let (Some(place), Some(Object::Name(kind))) = (place, changed.element.get("S")) else {
            return Ok(None);
        };
        changed.added.entry(*place).or_default()[usize::from(is_after)].push(identifier);
        Ok(Some(kind.to_vec()))
    }

    /// Writes the elements to which content was added.
    pub(super) fn write(self, document: &mut Document<'a>) {
        let elements = self.elements.into_iter();
        for (number, changed) in elements.filter(|(_, changed)| !changed.added.is_empty()) {
            document.set(number, Object::Dictionary(changed.finish()));
        }
    }
}

impl<'a> ChangedElement<'a> {
    /// Returns the element with the added kids.
    fn finish(mut self) -> Dictionary<'a> {
        let mut kids = Vec::new();
        for (index, kid) in self.element.items("K").iter().enumerate() {
            let [before, after] = self.added.remove(&index).unwrap_or_default();
            kids.extend(before.into_iter().map(|identifier| with_identifier(kid, identifier)));
            kids.push(kid.clone());
            kids.extend(after.into_iter().map(|identifier| with_identifier(kid, identifier)));
        }
        self.element.set("K", Object::Array(kids));
        self.element
    }
}

/// Returns the indices of an element's kids that are marked content of the stream with this key. That is in `/Stm` or on
/// the page `/Pg` of the kid, or else on that of the element (ISO 32000-1, 14.7.4.2): identifiers are unique only within
/// a stream.
fn places<'a>(
    document: &Document<'a>,
    element: &Dictionary<'a>,
    key: i64,
    keys: &mut BTreeMap<ObjectNumber, Option<i64>>,
) -> Result<BTreeMap<i64, usize>, PdfError> {
    let page = element.reference("Pg");
    let mut places = BTreeMap::new();
    for (index, kid) in element.items("K").iter().enumerate() {
        let (identifier, stream) = match kid {
            Object::Dictionary(reference) => (
                reference.get("MCID").and_then(Object::as_integer),
                reference.reference("Stm").or(reference.reference("Pg")).or(page),
            ),
            kid => (kid.as_integer(), page),
        };
        let (Some(identifier), Some(stream)) = (identifier, stream) else {
            continue;
        };
        let found = match keys.entry(stream) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => *entry.insert(key_of(document, stream)?),
        };
        if found == Some(key) {
            places.entry(identifier).or_insert(index);
        }
    }
    Ok(places)
}

/// Returns the key of a page or form in the parent tree.
fn key_of(document: &Document, stream: ObjectNumber) -> Result<Option<i64>, PdfError> {
    let object = document.get(stream)?;
    let dictionary = object.as_dictionary();
    Ok(dictionary.and_then(|dictionary| dictionary.get("StructParents")?.as_integer()))
}

/// Returns a kid that is the same stream's marked content of another identifier.
fn with_identifier<'a>(kid: &Object<'a>, identifier: usize) -> Object<'a> {
    let identifier = Object::count(identifier);
    match kid {
        Object::Dictionary(reference) => {
            let mut reference = reference.clone();
            reference.set("MCID", identifier);
            Object::Dictionary(reference)
        }
        _ => identifier,
    }
}
