//! The document's language (ISO 32000-1, 14.9.2).

use super::warnings::Warnings;
use crate::PdfError;
use crate::document::Document;
use crate::object::Object;
use crate::text::{abbreviate, clean, is_language_tag};

/// Returns the page's language if it is a valid tag; otherwise adds a warning.
pub(crate) fn valid_language(language: Option<&str>, warnings: &mut Warnings) -> Option<String> {
    let language = language.and_then(clean)?;
    if is_language_tag(language.as_bytes()) {
        return Some(language);
    }
    let shown = abbreviate(&language, 40);
    let message = format!("The page's language “{shown}” is not a tag such as en or pt-BR; it is ignored.");
    warnings.add("language_invalid", message);
    None
}

/// Writes the language into the catalog. If the page doesn't name it, removes what the browser wrote there and on the
/// outermost element of the structure tree, because such a page gets the browser's own.
pub(super) fn set_language(
    document: &mut Document,
    language: Option<&str>,
    of_page: Option<&str>,
) -> Result<(), PdfError> {
    let root = document.root()?;
    let mut catalog = document.get_dictionary(root, "expected a catalog")?;
    let is_of_page = language.is_some() && of_page.and_then(clean).as_deref() == language;
    if !is_of_page {
        let of_browser = catalog.remove("Lang");
        let structure = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
        if let Some(number) = structure.get("K").and_then(Object::as_reference)
            && let Object::Dictionary(mut element) = document.get(number)?
            && element.get("Lang") == of_browser.as_ref()
            && element.remove("Lang").is_some()
        {
            document.set(number, Object::Dictionary(element));
        }
    }
    if let Some(language) = language {
        catalog.set("Lang", Object::String(language.as_bytes().to_vec().into()));
    }
    document.set(root, Object::Dictionary(catalog));
    Ok(())
}
