//! The document's language (ISO 32000-1, 14.9.2).

use super::warnings::Warnings;
use crate::PdfError;
use crate::document::Document;
use crate::object::Object;
use crate::text::{abbreviate, clean};

/// Returns whether a tag has the form of BCP 47: letters, then letters and digits, in groups of one to eight.
pub(crate) fn is_language_tag(tag: &[u8]) -> bool {
    tag.split(|byte| *byte == b'-').enumerate().all(|(index, group)| {
        let allowed = if index == 0 {
            u8::is_ascii_alphabetic
        } else {
            u8::is_ascii_alphanumeric
        };
        (1..=8).contains(&group.len()) && group.iter().all(allowed)
    })
}

/// Returns the page's language if it is a valid tag; otherwise adds a warning.
pub(crate) fn valid_language(language: Option<&str>, warnings: &mut Warnings) -> Option<String> {
    let language = language.and_then(clean)?;
    if is_language_tag(language.as_bytes()) {
        return Some(language);
    }
    let shown = abbreviate(&language, 40);
    let message = format!("The page's language “{shown}” is not a tag such as en or pt-BR; the document has none.");
    warnings.add("language_invalid", message);
    None
}

/// Writes the language into the catalog. Without one, removes what the browser wrote there and on the outermost element
/// of the structure tree, because a page without a language gets the browser's own.
pub(super) fn set_language(document: &mut Document, language: Option<&str>) -> Result<(), PdfError> {
    let root = document.root()?;
    let mut catalog = document.get_dictionary(root, "expected a catalog")?;
    if let Some(language) = language {
        catalog.set("Lang", Object::String(language.as_bytes().to_vec().into()));
    } else {
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
    document.set(root, Object::Dictionary(catalog));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_language_tags_by_their_form() {
        for tag in ["en", "pt-BR", "zh-Hant-TW", "de-CH-1996", "x-klingon"] {
            assert!(is_language_tag(tag.as_bytes()), "{tag}");
        }
        for tag in ["", "en_US", "english (UK)", "1en", "en-", "abcdefghi", "é"] {
            assert!(!is_language_tag(tag.as_bytes()), "{tag}");
        }
    }
}
