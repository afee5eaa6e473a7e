//! Agreement of three records of the same: the identifiers in content streams, the kids of structure elements, and the
//! parent tree (ISO 32000-1, 14.7.4). veraPDF checks only that content has an entry in the parent tree.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Tree;
use crate::PdfError;
use crate::check::levels::LevelFindings;
use crate::check::marks::StreamMarks;
use crate::check::rules;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::trees::{TreeKind, read_tree};

/// Entries of the parent tree by key, each removed when it is found to be used.
pub(super) struct Parents<'a> {
    entries: BTreeMap<i64, Object<'a>>,
}

impl<'a> Parents<'a> {
    /// Reads the parent tree of a structure tree.
    pub(super) fn read(
        document: &Document<'a>,
        root: &Dictionary<'a>,
        findings: &mut LevelFindings,
    ) -> Result<Self, PdfError> {
        let mut entries = BTreeMap::new();
        for (key, value) in read_tree(document, root, "ParentTree", TreeKind::Numbers)? {
            let key = key.as_integer().unwrap_or(-1);
            if key < 0 || entries.insert(key, value).is_some() {
                findings.document(&rules::DAMAGED_TREE);
            }
        }
        let next = root.get("ParentTreeNextKey").and_then(Object::as_integer);
        if next.is_some_and(|next| entries.keys().any(|key| *key >= next)) {
            findings.document(&rules::DAMAGED_TREE);
        }
        Ok(Self { entries })
    }

    /// Takes the entry of an annotation.
    pub(super) fn take(&mut self, key: i64) -> Option<Object<'a>> {
        self.entries.remove(&key)
    }

    /// Checks the marked content of all streams. All entries that remain must belong to a stream.
    pub(super) fn check_contents(
        mut self,
        document: &Document<'a>,
        tree: &Tree,
        streams: &BTreeMap<ObjectNumber, StreamMarks>,
        findings: &mut LevelFindings,
    ) -> Result<(), PdfError> {
        let mut kids: Vec<(ObjectNumber, i64, u32)> = Vec::with_capacity(tree.contents.len());
        kids.extend(
            tree.contents
                .iter()
                .map(|content| (content.owner, content.identifier, content.element)),
        );
        kids.sort_unstable();
        for pair in kids.windows(2) {
            if (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) {
                tree.note(&rules::KID_TWICE, pair[1].2, findings);
            }
        }
        for content in &tree.contents {
            if !streams.contains_key(&content.owner) {
                tree.note(&rules::KID_WITHOUT_MARK, content.element, findings);
            }
        }
        for (number, stream) in streams {
            let start = kids.partition_point(|(owner, ..)| owner < number);
            let end = kids.partition_point(|(owner, ..)| owner <= number);
            let entry = match stream.key.map(|key| self.entries.remove(&key)) {
                Some(Some(entry)) => document.resolve(&entry)?,
                // An empty stream needs no entry.
                Some(None) if stream.contents.is_empty() => Object::Array(Vec::new()),
                Some(None) | None => Object::Null,
            };
            let entry = match &entry {
                Object::Array(entry) => entry.as_slice(),
                Object::Null => &[],
                _ => {
                    findings.object(&rules::DAMAGED_TREE, *number, None);
                    &[]
                }
            };
            Stream {
                number: *number,
                marks: stream,
                kids: &kids[start..end],
                entry,
            }
            .check(tree, findings);
        }
        // Of streams or annotations that don't exist.
        if !self.entries.is_empty() {
            findings.document(&rules::ENTRY_WITHOUT_MARK);
        }
        Ok(())
    }
}

/// A stream with its kids of elements, in the order of their identifiers, and its entry in the parent tree.
struct Stream<'s, 'a> {
    number: ObjectNumber,
    marks: &'s StreamMarks,
    kids: &'s [(ObjectNumber, i64, u32)],
    entry: &'s [Object<'a>],
}

impl Stream<'_, '_> {
    fn check(&self, tree: &Tree, findings: &mut LevelFindings) {
        let mut identifiers: Vec<i64> = self.marks.contents.iter().map(|content| content.identifier).collect();
        identifiers.sort_unstable();
        if identifiers.windows(2).any(|pair| pair[0] == pair[1]) {
            findings.object(&rules::MARK_TWICE, self.number, None);
        }
        for (_, identifier, element) in self.kids {
            if identifiers.binary_search(identifier).is_err() {
                tree.note(&rules::KID_WITHOUT_MARK, *element, findings);
            }
        }
        for (identifier, entry) in (0..).zip(self.entry) {
            if !matches!(entry, Object::Null) && identifiers.binary_search(&identifier).is_err() {
                findings.object(&rules::ENTRY_WITHOUT_MARK, self.number, None);
            }
        }
        let mut without_language = BTreeSet::new();
        for content in &self.marks.contents {
            let index = usize::try_from(content.identifier).ok();
            let entry = index
                .and_then(|index| self.entry.get(index))
                .and_then(Object::as_reference);
            let Some(entry) = entry else {
                findings.object(&rules::MARK_WITHOUT_ENTRY, self.number, None);
                continue;
            };
            let Some(element) = tree.find(entry) else {
                findings.object(&rules::MARK_OF_ANOTHER, self.number, None);
                continue;
            };
            let place = self
                .kids
                .binary_search_by_key(&content.identifier, |(_, identifier, _)| *identifier);
            if place.ok().map(|place| self.kids[place].2) != Some(element) {
                tree.note(&rules::MARK_OF_ANOTHER, element, findings);
            }
            let has_language = content.has_language || tree.elements[element as usize].has_language;
            if content.has_text && !has_language && without_language.insert(element) {
                tree.note(&rules::TEXT_LANGUAGE, element, findings);
            }
            if content.has_icon && !findings.is_full(&rules::ICON_ALTERNATIVE) && !tree.has_alternative(element) {
                tree.note(&rules::ICON_ALTERNATIVE, tree.text_block(element), findings);
            }
        }
    }
}
