//! The page tree: number and size of pages.

use super::{Finding, dictionary};
use crate::document::Document;
use crate::object::{Object, ObjectNumber};
use crate::page_tree::{ALLOWED_SIDE, page_size};

/// Checks the size of a page (ISO 19005-2, 6.1.13).
pub(super) fn check_page_size(document: &Document, number: ObjectNumber) -> Result<(), Finding> {
    match page_size(document, number) {
        Ok((width, height)) if ALLOWED_SIDE.contains(&width) && ALLOWED_SIDE.contains(&height) => Ok(()),
        _ => Err(Finding::new("6.1.13-11", "a page side under 3 or over 14,400 pt")),
    }
}

/// Checks that `/Count` of a node is the number of its pages (ISO 32000-1, 7.7.3.2). `nodes` are all nodes of the tree,
/// in the order of their object numbers.
pub(super) fn check_page_tree_node(
    document: &Document,
    number: ObjectNumber,
    nodes: &[ObjectNumber],
) -> Result<(), Finding> {
    let node = dictionary(document, number)?;
    let mut pages = 0;
    for kid in node.get("Kids").and_then(Object::as_array).unwrap_or_default() {
        let kid = kid.as_reference().unwrap_or_default();
        pages += if nodes.binary_search(&kid).is_ok() {
            let count = dictionary(document, kid)?.get("Count").and_then(Object::as_integer);
            count.unwrap_or_default()
        } else {
            1
        };
    }
    if pages > 0 && node.get("Count").and_then(Object::as_integer) == Some(pages) {
        Ok(())
    } else {
        Err(Finding::new(
            "6.1",
            "page tree node: /Count is not the number of its pages",
        ))
    }
}
