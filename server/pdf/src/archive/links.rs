//! Removes links that a distributed file must not contain: `file:` reveals paths of this machine, `javascript:` and the
//! like run code, hosts below `.invalid` do not exist (RFC 6761, 6.4), and PDF/A does not allow addresses of more than
//! 32,767 bytes.

use std::collections::BTreeSet;

use super::warnings::Warnings;
use crate::PdfError;
use crate::annotations::remove_annotations;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::text::{MAX_STRING, abbreviate, clean, decode};

const SAFE_SCHEMES: [&str; 6] = ["http", "https", "mailto", "tel", "sms", "ftp"];
/// Characters of an address that a warning shows.
const SHOWN_LENGTH: usize = 100;

/// Removes every link annotation whose action is not a short address with a safe scheme and a possible host. Adds a
/// warning with the page for each.
pub(super) fn remove_unsafe_links(
    document: &mut Document,
    pages: &[ObjectNumber],
    warnings: &mut Warnings,
) -> Result<(), PdfError> {
    // A link that spans several lines is several annotations, but one warning.
    let mut reasons = BTreeSet::new();
    remove_annotations(document, pages, |document, page, annotation| {
        let reason = reason_to_remove(document, annotation)?;
        let must_go = reason.is_some();
        reasons.extend(reason.map(|reason| (page, reason)));
        Ok(must_go)
    })?;
    for (page, reason) in reasons {
        warnings.add("link_removed", format!("Page {}: {reason}", page + 1));
    }
    Ok(())
}

/// Returns why a link must be removed, as the end of a sentence; `None` if it may stay.
fn reason_to_remove(document: &Document, annotation: &Dictionary) -> Result<Option<String>, PdfError> {
    let action = match annotation.get("A") {
        Some(action) => document.resolve(action)?,
        // A link to a place in this document.
        None => return Ok(None),
    };
    let action = action.as_dictionary();
    let is_address = action
        .and_then(|action| action.get("S"))
        .is_some_and(|kind| kind.is_name("URI"));
    let address = action.and_then(|action| action.get("URI")).and_then(Object::as_string);
    let Some(address) = address.filter(|_| is_address) else {
        return Ok(Some("a link with an action other than an address was removed.".into()));
    };
    let shown = || abbreviate(&clean(&decode(address)).unwrap_or_default(), SHOWN_LENGTH);
    if address.len() > MAX_STRING {
        let length = address.len();
        return Ok(Some(format!(
            "the link to “{}” was removed: it has {length} bytes, at most {MAX_STRING} are allowed.",
            shown()
        )));
    }
    if let Some(path) = path_at_invalid_host(address) {
        let path = abbreviate(&clean(&decode(path)).unwrap_or_default(), SHOWN_LENGTH);
        return Ok(Some(format!(
            "the link to “{path}” was removed: readers of the document can't reach its host."
        )));
    }
    if SAFE_SCHEMES.contains(&scheme(address).as_str()) {
        return Ok(None);
    }
    let allowed = SAFE_SCHEMES.join(", ");
    Ok(Some(format!(
        "the link to “{}” was removed: only absolute addresses with {allowed} are allowed.",
        shown()
    )))
}

/// Returns the scheme in lower case; empty if there is none. Ignores control characters and spaces, as browsers do.
fn scheme(address: &[u8]) -> String {
    let visible: Vec<u8> = address.iter().copied().filter(|byte| *byte > b' ').collect();
    match visible.iter().position(|byte| *byte == b':') {
        Some(end) => String::from_utf8_lossy(&visible[..end]).to_ascii_lowercase(),
        None => String::new(),
    }
}

/// Returns the part of an address after its host, if the host is below `.invalid`.
fn path_at_invalid_host(address: &[u8]) -> Option<&[u8]> {
    let start = address.windows(3).position(|window| window == b"://")? + 3;
    let rest = &address[start..];
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.split(|byte| *byte == b':').next()?;
    host.to_ascii_lowercase().ends_with(b".invalid").then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_hosts_that_cannot_exist() {
        for (address, expected) in [
            ("http://0.a1.invalid:4711/b.html#c", Some("/b.html#c")),
            ("https://A.INVALID", Some("")),
            ("https://a.invalid.example/", None),
            ("https://example.com/?to=http://a.invalid/", None),
            ("mailto:someone@a.invalid", None),
        ] {
            assert_eq!(
                path_at_invalid_host(address.as_bytes()),
                expected.map(str::as_bytes),
                "{address}"
            );
        }
    }

    #[test]
    fn reads_the_scheme_as_a_browser_does() {
        for (address, expected) in [
            ("https://example.com/a:b", "https"),
            ("HTTPS://example.com", "https"),
            (" java\nscript:alert(1)", "javascript"),
            ("\u{1}file:///etc/passwd", "file"),
            ("page.html", ""),
            ("", ""),
        ] {
            assert_eq!(scheme(address.as_bytes()), expected, "{address:?}");
        }
    }
}
