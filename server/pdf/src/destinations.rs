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
            if let Some(page) = page_of(&document.resolve(&value)?) {
                pages.insert(name.into_owned(), page);
            }
        }
        Ok(Self { pages })
    }

    /// The page that a link or an entry of the outline leads to; `None` if it leads to no page of the document.
    pub(crate) fn page(&self, document: &Document, owner: &Dictionary) -> Result<Option<ObjectNumber>, PdfError> {
        let Some(destination) = owner.get("Dest") else {
            return Ok(None);
        };
        Ok(match destination {
            Object::Name(name) | Object::String(name) => self.pages.get(name.as_ref()).copied(),
            Object::Reference(number) => page_of(&document.get(*number)?),
            explicit => page_of(explicit),
        })
    }
}

/// The page of an explicit destination: an array that begins with it, or a dictionary that holds the array.
pub(crate) fn page_of(destination: &Object) -> Option<ObjectNumber> {
    let inner = destination.as_dictionary().and_then(|dictionary| dictionary.get("D"));
    inner.unwrap_or(destination).as_array()?.first()?.as_reference()
}
