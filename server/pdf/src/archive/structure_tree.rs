//! Adds elements and content to the structure tree (ISO 32000-1, 14.7), and keeps its parent tree consistent.

use std::collections::BTreeMap;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Object, ObjectNumber};
use crate::trees::{TreeKind, read_tree, write_tree};

/// A structure tree that is being changed. Its parent tree is read before the first change.
#[derive(Debug)]
pub(super) struct StructureTree<'a> {
    number: ObjectNumber,
    /// By key: the element of an annotation, or the elements of a page or form by marked-content identifier.
    parents: Option<BTreeMap<i64, Object<'a>>>,
    next_key: i64,
    is_changed: bool,
}

impl<'a> StructureTree<'a> {
    /// Returns the document's tree; `None` if it has none.
    pub(super) fn of(document: &Document<'a>) -> Result<Option<Self>, PdfError> {
        let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
        Ok(catalog.reference("StructTreeRoot").map(|number| Self {
            number,
            parents: None,
            next_key: 0,
            is_changed: false,
        }))
    }

    /// Returns the object number of the tree's root.
    pub(super) fn root(&self) -> ObjectNumber {
        self.number
    }

    /// Returns the outermost element, the last if there are several; `None` if there is none.
    pub(super) fn outermost(&self, document: &Document<'a>) -> Result<Option<ObjectNumber>, PdfError> {
        let tree = document.get_dictionary(self.number, "expected a structure tree")?;
        Ok(tree.items("K").last().and_then(Object::as_reference))
    }

    /// Returns a new key of the parent tree, which leads to an element or to those of a content stream.
    pub(super) fn add_key(&mut self, document: &Document<'a>, parent: Object<'a>) -> Result<i64, PdfError> {
        self.parents(document)?;
        let key = self.next_key;
        self.next_key += 1;
        self.is_changed = true;
        self.parents(document)?.insert(key, parent);
        Ok(key)
    }

    /// Returns the element of an annotation by its key.
    pub(super) fn element(&mut self, document: &Document<'a>, key: i64) -> Result<Option<ObjectNumber>, PdfError> {
        Ok(self.parents(document)?.get(&key).and_then(Object::as_reference))
    }

    /// Replaces the element of an annotation.
    pub(super) fn set_element(
        &mut self,
        document: &Document<'a>,
        key: i64,
        element: ObjectNumber,
    ) -> Result<(), PdfError> {
        self.parents(document)?.insert(key, Object::Reference(element));
        self.is_changed = true;
        Ok(())
    }

    /// Returns the elements of a content stream by marked-content identifier.
    pub(super) fn owners(&mut self, document: &Document<'a>, key: i64) -> Result<Vec<Object<'a>>, PdfError> {
        match self.parents(document)?.get(&key).map(|value| document.resolve(value)) {
            Some(Ok(Object::Array(owners))) => Ok(owners),
            Some(Err(error)) => Err(error),
            _ => Ok(Vec::new()),
        }
    }

    /// Replaces the elements of a content stream.
    pub(super) fn set_owners(
        &mut self,
        document: &mut Document<'a>,
        key: i64,
        owners: Vec<Object<'a>>,
    ) -> Result<(), PdfError> {
        let former = self.parents(document)?.get(&key).and_then(Object::as_reference);
        if let Some(number) = former {
            document.set(number, Object::Array(owners));
        } else {
            self.is_changed = true;
            self.parents(document)?.insert(key, Object::Array(owners));
        }
        Ok(())
    }

    fn parents(&mut self, document: &Document<'a>) -> Result<&mut BTreeMap<i64, Object<'a>>, PdfError> {
        if self.parents.is_none() {
            let tree = document.get_dictionary(self.number, "expected a structure tree")?;
            let entries = read_tree(document, &tree, "ParentTree", TreeKind::Numbers)?;
            let entries = entries
                .into_iter()
                .filter_map(|(key, value)| Some((key.as_integer()?, value)));
            let parents: BTreeMap<i64, Object> = entries.collect();
            let after = parents.last_key_value().map_or(0, |(key, _)| key.saturating_add(1));
            let next = tree.get("ParentTreeNextKey").and_then(Object::as_integer);
            self.next_key = next.unwrap_or_default().max(after);
            self.parents = Some(parents);
        }
        Ok(self.parents.get_or_insert_default())
    }

    /// Writes the parent tree, if it was changed.
    pub(super) fn finish(self, document: &mut Document<'a>) -> Result<(), PdfError> {
        let Some(parents) = self.parents.filter(|_| self.is_changed) else {
            return Ok(());
        };
        let mut tree = document.get_dictionary(self.number, "expected a structure tree")?;
        let former = tree.reference("ParentTree");
        let parents = parents.into_iter().map(|(key, value)| (Object::Integer(key), value));
        let parent_tree = write_tree(document, TreeKind::Numbers, parents);
        tree.set("ParentTree", Object::Reference(parent_tree));
        tree.set("ParentTreeNextKey", Object::Integer(self.next_key));
        document.set(self.number, Object::Dictionary(tree));
        if let Some(former) = former {
            document.remove(former);
        }
        Ok(())
    }
}
