//! Where links and entries of the outline lead (ISO 32000-1, 12.3.2).

use std::collections::BTreeMap;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// The document's named destinations and the pages that they are on. Chromium keeps them in a dictionary under the
/// catalog, and names them by the ids of HTML that links point to.
#[derive(Debug)]
pub(crate) struct Destinations {
    pages: BTreeMap<Vec<u8>, ObjectNumber>,
}

impl Destinations {
    pub(crate) fn read(document: &Document) -> Result<Self, PdfError> {
        let catalog = document.get_dictionary(document.root()?, "a catalog expected")?;
        let mut pages = BTreeMap::new();
        for (name, value) in document.resolve_dictionary(&catalog, "Dests")?.entries {
            if let Some(page) = page_of(&value) {
                pages.insert(name.into_owned(), page);
            }
        }
        Ok(Self { pages })
    }

    /// The page that a link or an entry of the outline leads to; `None` if it leads to no page of the document.
    pub(crate) fn page(&self, owner: &Dictionary) -> Option<ObjectNumber> {
        match owner.get("Dest")? {
            Object::Name(name) => self.pages.get(name.as_ref()).copied(),
            explicit => page_of(explicit),
        }
    }
}

/// The page of an explicit destination: an array that begins with it, which Chromium writes directly.
pub(crate) fn page_of(destination: &Object) -> Option<ObjectNumber> {
    destination.as_array()?.first()?.as_reference()
}
