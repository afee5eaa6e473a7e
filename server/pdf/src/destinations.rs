//! Destinations of links and outline entries (ISO 32000-1, 12.3.2).

use std::collections::BTreeMap;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// The document's named destinations and their pages. Chromium writes them in a dictionary in the catalog, and names
/// them by the HTML ids that links point to.
#[derive(Debug)]
pub(crate) struct Destinations {
    pages: BTreeMap<Vec<u8>, ObjectNumber>,
}

impl Destinations {
    pub(crate) fn read(document: &Document) -> Result<Self, PdfError> {
        let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
        let mut pages = BTreeMap::new();
        for (name, value) in document.resolve_dictionary(&catalog, "Dests")?.entries {
            if let Some(page) = page_of(&value) {
                pages.insert(name.into_owned(), page);
            }
        }
        Ok(Self { pages })
    }

    /// Returns the page that a link or outline entry leads to; `None` if it leads to no page of the document.
    pub(crate) fn page(&self, owner: &Dictionary) -> Option<ObjectNumber> {
        match owner.get("Dest")? {
            Object::Name(name) => self.pages.get(name.as_ref()).copied(),
            explicit => page_of(explicit),
        }
    }
}

/// Returns the page of an explicit destination: the first item of an array, which Chromium writes as a direct object.
pub(crate) fn page_of(destination: &Object) -> Option<ObjectNumber> {
    destination.as_array()?.first()?.as_reference()
}
