//! Adds a description to each link (ISO 32000-1, 12.5.2, `/Contents`), which PDF/UA requires (ISO 14289-1, 7.18.5). A
//! screen reader reads the link's text from its tags. The description is the address as in HTML: `#` and the name for a
//! destination in this document.

use std::borrow::Cow;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::text::{encode, fit};

/// Adds descriptions to all links of these pages that have none.
pub(super) fn describe_links(document: &mut Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    for page in pages {
        let page = document.get_dictionary(*page, "expected a page")?;
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
            let mut annotation = document.get_dictionary(number, "expected an annotation")?;
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
