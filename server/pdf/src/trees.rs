//! Name trees and number trees (ISO 32000-1, 7.9.6 and 7.9.7).

use std::collections::BTreeSet;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Most entries of a leaf and kids of a node that Platen writes.
const MAX_ENTRIES: usize = 256;

/// Kind of a tree, which determines the key of the entries in its leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TreeKind {
    Names,
    Numbers,
}

impl TreeKind {
    fn key(self) -> &'static str {
        match self {
            Self::Names => "Names",
            Self::Numbers => "Nums",
        }
    }
}

/// Returns the entries of the tree under a key, in no particular order; none if there is no tree.
pub(crate) fn read_tree<'a>(
    document: &Document<'a>,
    owner: &Dictionary<'a>,
    key: &str,
    kind: TreeKind,
) -> Result<Vec<(Object<'a>, Object<'a>)>, PdfError> {
    let mut entries = Vec::new();
    let mut waiting = vec![document.resolve_dictionary(owner, key)?];
    // Each node is visited once, so that a cycle ends.
    let mut seen = BTreeSet::new();
    while let Some(node) = waiting.pop() {
        for kid in node.items("Kids") {
            let number = kid.as_reference().filter(|number| seen.insert(*number));
            let number = number.ok_or(PdfError::damaged(0, "a name tree or number tree that is not a tree"))?;
            waiting.push(document.get_dictionary(number, "expected a node of a name tree or number tree")?);
        }
        for entry in node.items(kind.key()).chunks_exact(2) {
            entries.push((entry[0].clone(), entry[1].clone()));
        }
    }
    Ok(entries)
}

/// A node with its first and last key.
pub(crate) type Node<'a> = ([Object<'a>; 2], ObjectNumber);

/// Adds a tree of entries, which must be in the order of their keys, and returns its number.
pub(crate) fn write_tree<'a>(
    document: &mut Document<'a>,
    kind: TreeKind,
    entries: impl IntoIterator<Item = (Object<'a>, Object<'a>)>,
) -> ObjectNumber {
    let entries: Vec<_> = entries.into_iter().collect();
    if entries.len() <= MAX_ENTRIES {
        return document.add(Object::Dictionary(leaf(kind, &entries)));
    }
    let leaves = write_leaves(document, kind, &entries);
    write_root(leaves, |node| document.add(node))
}

/// Adds leaves with entries, which must be in the order of their keys.
pub(crate) fn write_leaves<'a>(
    document: &mut Document<'a>,
    kind: TreeKind,
    entries: &[(Object<'a>, Object<'a>)],
) -> Vec<Node<'a>> {
    let leaves = entries.chunks(MAX_ENTRIES).map(|entries| {
        let ends = [entries.first(), entries.last()];
        let limits = ends.map(|entry| entry.map_or(Object::Null, |(key, _)| key.clone()));
        let mut node = leaf(kind, entries);
        node.set("Limits", limits.iter().cloned().collect());
        (limits, document.add(Object::Dictionary(node)))
    });
    leaves.collect()
}

/// Adds the nodes above others, which must be in the order of their keys, and returns the number of the root.
pub(crate) fn write_root<'a>(
    mut level: Vec<Node<'a>>,
    mut add: impl FnMut(Object<'a>) -> ObjectNumber,
) -> ObjectNumber {
    while level.len() > MAX_ENTRIES {
        let mut parents = Vec::new();
        for kids in level.chunks(MAX_ENTRIES) {
            let ends = [
                kids.first().map(|(limits, _)| limits[0].clone()),
                kids.last().map(|(limits, _)| limits[1].clone()),
            ];
            let ends = ends.map(|end| end.unwrap_or(Object::Null));
            let mut node = parent(kids);
            node.set("Limits", ends.iter().cloned().collect());
            parents.push((ends, add(Object::Dictionary(node))));
        }
        level = parents;
    }
    add(Object::Dictionary(parent(&level)))
}

fn leaf<'a>(kind: TreeKind, entries: &[(Object<'a>, Object<'a>)]) -> Dictionary<'a> {
    let items = entries.iter().flat_map(|(key, value)| [key.clone(), value.clone()]);
    Dictionary::new([(kind.key(), items.collect())])
}

fn parent<'a>(kids: &[Node<'a>]) -> Dictionary<'a> {
    Dictionary::new([(
        "Kids",
        kids.iter().map(|(_, number)| Object::Reference(*number)).collect(),
    )])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for count in [0, 1, 256, 257, 70_000] {
            let mut document = Document::open(&[include_bytes!("../tests/fixtures/empty.pdf")]).expect("valid");
            let entry = |key| (Object::Integer(key), Object::Integer(-key));
            let entries: Vec<_> = (0..count).map(entry).collect();
            let tree = write_tree(&mut document, TreeKind::Numbers, entries.clone());
            let owner = Dictionary::new([("Tree", Object::Reference(tree))]);
            let mut read = read_tree(&document, &owner, "Tree", TreeKind::Numbers).expect("valid");
            read.sort_by_key(|(key, _)| key.as_integer());
            assert_eq!(read, entries);
            let root = document.get_dictionary(tree, "a root").expect("a root");
            assert_eq!(root.get("Limits"), None);
            let kids = root.get("Kids").and_then(Object::as_array).map_or(0, <[_]>::len);
            assert!(kids <= MAX_ENTRIES);
        }
    }
}
