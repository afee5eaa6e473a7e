//! Says beside each link to an address what that is (ISO 32000-1, 12.5.2, `/Contents`; PDF/UA asks for it, ISO 14289-1,
//! 7.18.5). A screen reader reads the link's text from its tags; the address tells where it leads. A link inside the
//! document gets none: there is nothing to say of its target that its text does not.

use std::borrow::Cow;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Object, ObjectNumber};
use crate::text::{encode, fit};

/// Describes all links of these pages that lead to an address and have no description yet.
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
            let action = document.resolve_dictionary(&annotation, "A")?;
            if let Some(address) = action.get("URI").and_then(Object::as_string)
                && annotation.get("Contents").is_none()
            {
                let description = encode(fit(&String::from_utf8_lossy(address)));
                annotation.set("Contents", Object::String(Cow::Owned(description)));
                document.set(number, Object::Dictionary(annotation));
            }
        }
    }
    Ok(())
}
