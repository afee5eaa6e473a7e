//! The structure tree of a collection: a `Document` element whose kids are the documents.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::LastObjects;
use super::numbering::Numbering;
use super::source::Source;
use crate::PdfError;
use crate::document::Document;
use crate::join::structure::{
    StructureEntries, StructureTrees, adopt_elements, count_keys, document_element, structure_root,
};
use crate::object::{Object, ObjectNumber};
use crate::object_streams::SectionWriter;
use crate::trees::{Node, TreeKind, write_leaves, write_root};

/// Digits of a document's number before its identifiers, so that they follow those of the former documents.
const DIGITS: usize = 5;

#[derive(Default)]
pub(super) struct CollectedStructure {
    /// Numbers of the root and of the `Document` element; `None` as long as no document has tags.
    tree: Option<(ObjectNumber, ObjectNumber)>,
    /// Numbers of the element's kids.
    kids: Vec<ObjectNumber>,
    /// Leaves of the parent tree and of the identifier tree.
    keys: Vec<Node<'static>>,
    identifiers: Vec<Node<'static>>,
    roles: BTreeMap<Cow<'static, [u8]>, Object<'static>>,
    next_key: i64,
}

/// What a document adds to the trees, with the document's numbers.
#[derive(Default)]
pub(super) struct Leaves {
    kids: Vec<ObjectNumber>,
    keys: Vec<Node<'static>>,
    identifiers: Vec<Node<'static>>,
}

impl Leaves {
    pub(super) fn numbers(&self) -> impl Iterator<Item = ObjectNumber> {
        let nodes = self.keys.iter().chain(&self.identifiers).map(|(_, number)| *number);
        nodes.chain(self.kids.iter().copied())
    }
}

impl CollectedStructure {
    /// Makes keys of the parent tree and identifiers of elements unique, before any of them is read. `number` is that of
    /// the document in the collection.
    pub(super) fn separate_keys(&mut self, document: &mut Document, number: usize) -> Result<(), PdfError> {
        let counts = document.parts().iter().map(|part| count_keys(document, part));
        let count: i64 = counts.sum::<Result<_, _>>()?;
        for part in document.parts_mut() {
            part.first_key = self.next_key;
            part.identifier_prefix = format!("{number:0DIGITS$}-");
        }
        self.next_key = self.next_key.saturating_add(count);
        Ok(())
    }

    /// Makes the outermost elements of a document kids of the collection's.
    pub(super) fn add<'a>(
        &mut self,
        document: &mut Document<'a>,
        numbering: &mut Numbering,
        file: &mut SectionWriter,
        source: &Source<'a>,
    ) -> Result<Leaves, PdfError> {
        let structure = document.resolve_dictionary(&source.catalog, "StructTreeRoot")?;
        if structure.items("K").is_empty() {
            return Ok(Leaves::default());
        }
        let mut entries = StructureEntries::default();
        for part in document.parts() {
            entries.read(document, part, &structure)?;
        }
        let owner = document.add(Object::Null);
        let (_, element) = self.tree.get_or_insert_with(|| (file.reserve(), file.reserve()));
        numbering.set(owner, *element);
        let language = source.catalog.get("Lang");
        let kids = adopt_elements(document, structure.items("K"), owner, &source.facts, language)?;
        for (role, standard) in entries.roles {
            if let Object::Name(standard) = standard {
                let standard = Object::Name(Cow::Owned(standard.into_owned()));
                self.roles.entry(Cow::Owned(role.into_owned())).or_insert(standard);
            }
        }
        let keys: Vec<_> = entries
            .keys
            .into_iter()
            .map(|(key, value)| (Object::Integer(key), value))
            .collect();
        let identifiers = entries.identifiers.into_iter();
        let identifiers: Vec<_> = identifiers
            .map(|(identifier, value)| (Object::String(identifier), value))
            .collect();
        let keys = write_leaves(document, TreeKind::Numbers, &keys);
        let identifiers = write_leaves(document, TreeKind::Names, &identifiers);
        Ok(Leaves {
            kids,
            keys: keys.into_iter().map(without_source).collect(),
            identifiers: identifiers.into_iter().map(without_source).collect(),
        })
    }

    /// Notes the numbers of the document that was added.
    pub(super) fn note(&mut self, numbering: &Numbering, leaves: Leaves) {
        let number = |number| numbering.number_of(number);
        let node = |(limits, of_document)| (limits, number(of_document));
        self.kids.extend(leaves.kids.into_iter().map(number));
        self.keys.extend(leaves.keys.into_iter().map(node));
        self.identifiers.extend(leaves.identifiers.into_iter().map(node));
    }

    /// Returns the number of the tree; `None` if no document has tags.
    pub(super) fn finish(self, last: &mut LastObjects) -> Option<ObjectNumber> {
        let (root, element) = self.tree?;
        let kids = self.kids.into_iter().map(Object::Reference).collect();
        last.set(element, document_element(root, kids));
        let trees = StructureTrees {
            parent_tree: write_root(self.keys, |node| last.add(node)),
            next_key: self.next_key,
            identifier_tree: (!self.identifiers.is_empty())
                .then(|| write_root(self.identifiers, |node| last.add(node))),
        };
        last.set(root, structure_root(element, &trees, self.roles));
        Some(root)
    }
}

/// Copies the keys of a node, which are numbers or texts.
fn without_source((limits, number): Node) -> Node<'static> {
    let limits = limits.map(|key| match key {
        Object::Integer(key) => Object::Integer(key),
        Object::String(key) => Object::String(Cow::Owned(key.into_owned())),
        _ => Object::Null,
    });
    (limits, number)
}
