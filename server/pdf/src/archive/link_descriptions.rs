//! Says beside each link where it leads (ISO 32000-1, 12.5.2, `/Contents`; PDF/UA asks for it, ISO 14289-1, 7.18.5). A
//! screen reader reads the link's text from its tags; the description is the address, as HTML would have it: of a place in
//! this document, `#` and its name.

use std::borrow::Cow;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::text::{encode, fit};

/// Describes all links of these pages that have no description yet.
pub(super) fn describe_links(document: &mut Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    for page in pages {
        let page = document.get_dictionary(*page, "a page expected")?;
        let Some(annotations) = page.get("Annots") else {
            continue;
        };
        let annotations = document.resolve(annotations)?;
        for number in annotations
            .as_array()
            .unwrap_or_default()
            .iter()
            .filter_map(Object::as_reference)
        {
            let mut annotation = document.get_dictionary(number, "an annotation expected")?;
            if annotation.get("Contents").is_none()
                && let Some(target) = target(document, &annotation)?
            {
                let description = encode(fit(&target));
                annotation.set("Contents", Object::String(Cow::Owned(description)));
                document.set(number, Object::Dictionary(annotation));
            }
        }
    }
    Ok(())
}

fn target(document: &Document, annotation: &Dictionary) -> Result<Option<String>, PdfError> {
    if let Some(Object::Name(name)) = annotation.get("Dest") {
        return Ok(Some(format!("#{}", String::from_utf8_lossy(name))));
    }
    let action = document.resolve_dictionary(annotation, "A")?;
    let address = action.get("URI").and_then(Object::as_string);
    Ok(address.map(|address| String::from_utf8_lossy(address).into_owned()))
}
