//! Takes links off that must not be in a file that is passed on: `file:` shows the machine's paths, `javascript:` and
//! the like run something, and a PDF/A can't hold an address of more than 32,767 bytes.

use std::collections::{BTreeMap, BTreeSet};

use super::warnings::Warnings;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::text::{MAX_STRING, abbreviate, clean, decode};

const SAFE_SCHEMES: [&str; 6] = ["http", "https", "mailto", "tel", "sms", "ftp"];
/// Characters of an address that a warning shows.
const SHOWN_LENGTH: usize = 100;

/// Removes every link annotation whose action is not a short address of a safe scheme, together with its traces in the
/// structure tree, and warns of each with its page.
pub(super) fn remove_unsafe_links(
    document: &mut Document,
    pages: &[ObjectNumber],
    warnings: &mut Warnings,
) -> Result<(), PdfError> {
    let mut removed = Vec::new();
    for (index, page_number) in pages.iter().enumerate() {
        let mut page = document.get_dictionary(*page_number, "a page expected")?;
        let Some(annotations) = page.get("Annots") else {
            continue;
        };
        let Object::Array(annotations) = document.resolve(annotations)? else {
            return Err(document.damaged(*page_number, "an array of annotations expected"));
        };
        let mut kept = Vec::with_capacity(annotations.len());
        let mut reasons = BTreeSet::new();
        for annotation in &annotations {
            let number = annotation.as_reference();
            let number = number.ok_or_else(|| document.damaged(*page_number, "references to annotations expected"))?;
            let dictionary = document.get_dictionary(number, "an annotation expected")?;
            match reason_to_remove(document, &dictionary)? {
                None => kept.push(annotation.clone()),
                Some(reason) => {
                    let key = dictionary.get("StructParent").and_then(Object::as_integer);
                    removed.push(RemovedLink { number, key });
                    // A link that runs over several lines is several annotations and one warning.
                    reasons.insert(reason);
                }
            }
        }
        if kept.len() < annotations.len() {
            if kept.is_empty() {
                page.remove("Annots");
            } else {
                page.set("Annots", Object::Array(kept));
            }
            document.set(*page_number, Object::Dictionary(page));
        }
        for reason in reasons {
            warnings.add("link_removed", format!("Page {}: {reason}", index + 1));
        }
    }
    if !removed.is_empty() {
        remove_from_structure(document, &removed)?;
    }
    for link in removed {
        document.remove(link.number);
    }
    Ok(())
}

struct RemovedLink {
    /// Of the annotation.
    number: ObjectNumber,
    /// In the parent tree.
    key: Option<i64>,
}

/// Why a link must go, as the end of a sentence; `None` if it may stay.
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
            "the link to “{}” was removed: of its {length} bytes {MAX_STRING} may be.",
            shown()
        )));
    }
    if SAFE_SCHEMES.contains(&scheme(address).as_str()) {
        return Ok(None);
    }
    let allowed = SAFE_SCHEMES.join(", ");
    Ok(Some(format!(
        "the link to “{}” was removed: only absolute addresses of {allowed} are kept.",
        shown()
    )))
}

/// The scheme in lower case; empty if there is none. Browsers overlook control characters and spaces, and so must we.
fn scheme(address: &[u8]) -> String {
    let visible: Vec<u8> = address.iter().copied().filter(|byte| *byte > b' ').collect();
    match visible.iter().position(|byte| *byte == b':') {
        Some(end) => String::from_utf8_lossy(&visible[..end]).to_ascii_lowercase(),
        None => String::new(),
    }
}

/// Makes plain text of the removed links' elements and drops their keys from the parent tree (ISO 32000-1, 14.7.4.4).
fn remove_from_structure(document: &mut Document, removed: &[RemovedLink]) -> Result<(), PdfError> {
    let root = document.root()?;
    let catalog = document.get_dictionary(root, "a catalog expected")?;
    let structure = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
    let Some(tree) = structure.get("ParentTree").and_then(Object::as_reference) else {
        return Ok(());
    };
    let keys: BTreeSet<i64> = removed.iter().filter_map(|link| link.key).collect();
    let elements = take_keys(document, tree, &keys)?;

    let mut annotations_by_element: BTreeMap<ObjectNumber, BTreeSet<ObjectNumber>> = BTreeMap::new();
    for link in removed {
        if let Some(element) = link.key.and_then(|key| elements.get(&key)) {
            annotations_by_element.entry(*element).or_default().insert(link.number);
        }
    }
    for (number, annotations) in annotations_by_element {
        if let Object::Dictionary(mut element) = document.get(number)? {
            remove_annotations(&mut element, &annotations);
            document.set(number, Object::Dictionary(element));
        }
    }
    Ok(())
}

/// Takes keys out of a number tree; gives the objects that they led to.
fn take_keys(
    document: &mut Document,
    tree: ObjectNumber,
    keys: &BTreeSet<i64>,
) -> Result<BTreeMap<i64, ObjectNumber>, PdfError> {
    let mut taken = BTreeMap::new();
    let mut waiting = vec![tree];
    let mut seen = BTreeSet::new();
    while let Some(number) = waiting.pop() {
        if !seen.insert(number) {
            return Err(document.damaged(number, "a parent tree that is not a tree"));
        }
        let mut node = document.get_dictionary(number, "a node of the parent tree expected")?;
        if let Some(kids) = node.get("Kids").and_then(Object::as_array) {
            waiting.extend(kids.iter().filter_map(Object::as_reference));
        }
        let Some(Object::Array(pairs)) = node.remove("Nums") else {
            continue;
        };
        let mut kept = Vec::with_capacity(pairs.len());
        for pair in pairs.chunks(2) {
            match (pair[0].as_integer().filter(|key| keys.contains(key)), pair.get(1)) {
                (Some(key), Some(value)) => taken.extend(value.as_reference().map(|element| (key, element))),
                _ => kept.extend_from_slice(pair),
            }
        }
        node.set("Nums", Object::Array(kept));
        document.set(number, Object::Dictionary(node));
    }
    Ok(taken)
}

/// Drops the element's references to annotations; a link that has none left is no link.
fn remove_annotations(element: &mut Dictionary, annotations: &BTreeSet<ObjectNumber>) {
    let is_object_reference = |kid: &Object| {
        let kind = kid.as_dictionary().and_then(|kid| kid.get("Type"));
        kind.is_some_and(|kind| kind.is_name("OBJR"))
    };
    let leads_to_removed = |kid: &Object| {
        let target = kid
            .as_dictionary()
            .and_then(|kid| kid.get("Obj"))
            .and_then(Object::as_reference);
        is_object_reference(kid) && target.is_some_and(|target| annotations.contains(&target))
    };
    let mut kids = match element.remove("K") {
        Some(Object::Array(kids)) => kids,
        Some(kid) => vec![kid],
        None => Vec::new(),
    };
    kids.retain(|kid| !leads_to_removed(kid));
    if !kids.iter().any(is_object_reference) && element.get("S").is_some_and(|kind| kind.is_name("Link")) {
        element.set("S", Object::name("Span"));
    }
    if !kids.is_empty() {
        element.set("K", Object::Array(kids));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
