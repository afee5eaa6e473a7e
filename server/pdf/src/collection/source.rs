//! What a document says about itself.

use super::Declared;
use crate::PdfError;
use crate::document::Document;
use crate::join::PartFacts;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::text::{clean, decode, fit, is_language_tag};
use crate::xmp::{Packet, read_packet};

/// A document that is added to a collection.
pub(super) struct Source<'a> {
    pub(super) root: ObjectNumber,
    pub(super) catalog: Dictionary<'a>,
    pub(super) facts: PartFacts,
    pub(super) declared: Declared,
    /// The first of its identifiers; empty if it has none.
    pub(super) identifier: Vec<u8>,
}

impl<'a> Source<'a> {
    pub(super) fn read(document: &Document<'a>) -> Result<Self, PdfError> {
        let root = document.root()?;
        let catalog = document.get_dictionary(root, "expected a catalog")?;
        let trailer = document.trailer();
        let information = document.resolve_dictionary(&trailer, "Info")?;
        let title = information.get("Title").and_then(Object::as_string);
        let title = title.and_then(|title| clean(&decode(title)));
        let language = catalog.get("Lang").and_then(Object::as_string);
        let language = language.filter(|tag| is_language_tag(tag)).map(decode);
        let identifier = trailer.items("ID").first().and_then(Object::as_string);
        Ok(Self {
            root,
            facts: PartFacts {
                title: title.map(|title| fit(&title).to_owned()),
                language,
            },
            declared: declared(document, &catalog)?,
            identifier: identifier.unwrap_or_default().to_vec(),
            catalog,
        })
    }
}

fn declared(document: &Document, catalog: &Dictionary) -> Result<Declared, PdfError> {
    let metadata = catalog.reference("Metadata").map(|number| document.get(number));
    let packet = match metadata.transpose()? {
        Some(Object::Stream(metadata)) => read_packet(&metadata.data),
        _ => None,
    };
    Ok(Declared {
        level: packet.as_ref().and_then(Packet::level),
        is_accessible: packet.is_some_and(|packet| packet.is_accessible),
    })
}
