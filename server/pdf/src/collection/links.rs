//! Destinations of links. The names of places are unique in a document only, and the names of all documents would have to
//! stay in memory, so links lead directly to their places (ISO 32000-1, 12.3.2.2).

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::PdfError;
use crate::document::Document;
use crate::mentions::Mention;
use crate::object::{Dictionary, Object};

/// Replaces the names of places in links and outline entries by the places.
pub(super) fn name_no_places<'a>(document: &mut Document<'a>, catalog: &Dictionary<'a>) -> Result<(), PdfError> {
    let mut places: BTreeMap<Cow<[u8]>, Object> = BTreeMap::new();
    for (name, place) in document.resolve_dictionary(catalog, "Dests")?.entries {
        let place = document.resolve(&place)?;
        // The first of duplicate names applies.
        places.entry(name).or_insert(place);
    }
    if places.is_empty() {
        return Ok(());
    }
    for number in 1..document.size() {
        let mut has_name = false;
        document.mentions(number, |mention| has_name |= matches!(mention, Mention::Destination(_)))?;
        if !has_name {
            continue;
        }
        let mut object = document.get(number)?;
        if let Some(Object::Name(name)) = object.as_dictionary().and_then(|owner| owner.get("Dest"))
            && let Some(place) = places.get(name)
            && let Some(owner) = object.as_dictionary_mut()
        {
            owner.set("Dest", place.clone());
            document.set(number, object);
        }
    }
    Ok(())
}
