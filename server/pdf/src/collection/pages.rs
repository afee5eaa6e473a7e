//! The page tree of a collection: nodes of documents below the root. Each node contains the trees of many documents.

use super::LastObjects;
use super::MAX_PAGES;
use super::numbering::Numbering;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::object_streams::SectionWriter;
use crate::page_tree::add_page_tree;

/// Most documents of a node, so that with [`MAX_PAGES`] documents the root has as many nodes.
const DOCUMENTS_PER_NODE: usize = 100;

pub(super) struct CollectedPages {
    root: ObjectNumber,
    nodes: Vec<Node>,
    page_count: usize,
}

struct Node {
    number: ObjectNumber,
    /// Numbers of the documents' trees.
    kids: Vec<ObjectNumber>,
    page_count: usize,
}

impl CollectedPages {
    pub(super) fn new(file: &mut SectionWriter) -> Self {
        Self {
            root: file.reserve(),
            nodes: Vec::new(),
            page_count: 0,
        }
    }

    /// Puts a document's pages into a tree below a node of the collection, and returns the number of its root in the
    /// document.
    pub(super) fn add(
        &mut self,
        document: &mut Document,
        numbering: &mut Numbering,
        file: &mut SectionWriter,
        pages: &[ObjectNumber],
    ) -> Result<ObjectNumber, PdfError> {
        self.page_count += pages.len();
        let limit = usize::from(MAX_PAGES);
        if self.page_count > limit {
            return Err(PdfError::TooLarge {
                what: "pages",
                found: self.page_count,
                limit,
            });
        }
        let tree = add_page_tree(document, pages)?;
        let parent = document.add(Object::Null);
        numbering.set(parent, self.node(file).number);
        let mut root = document.get_dictionary(tree, "expected a page tree node")?;
        root.set("Parent", Object::Reference(parent));
        document.set(tree, Object::Dictionary(root));
        Ok(tree)
    }

    /// Notes the number of the document that was added.
    pub(super) fn note(&mut self, numbering: &Numbering, tree: ObjectNumber, page_count: usize) {
        if let Some(node) = self.nodes.last_mut() {
            node.kids.push(numbering.number_of(tree));
            node.page_count += page_count;
        }
    }

    pub(super) fn finish(&self, last: &mut LastObjects) -> ObjectNumber {
        for node in &self.nodes {
            let mut dictionary = page_tree_node(&node.kids, node.page_count);
            dictionary.set("Parent", Object::Reference(self.root));
            last.set(node.number, Object::Dictionary(dictionary));
        }
        let nodes: Vec<ObjectNumber> = self.nodes.iter().map(|node| node.number).collect();
        last.set(self.root, Object::Dictionary(page_tree_node(&nodes, self.page_count)));
        self.root
    }

    /// Returns the node for the next document.
    fn node(&mut self, file: &mut SectionWriter) -> &Node {
        if self
            .nodes
            .last()
            .is_none_or(|node| node.kids.len() >= DOCUMENTS_PER_NODE)
        {
            self.nodes.push(Node {
                number: file.reserve(),
                kids: Vec::new(),
                page_count: 0,
            });
        }
        &self.nodes[self.nodes.len() - 1]
    }
}

fn page_tree_node(kids: &[ObjectNumber], page_count: usize) -> Dictionary<'static> {
    Dictionary::new([
        ("Type", Object::name("Pages")),
        ("Count", Object::count(page_count)),
        ("Kids", kids.iter().map(|number| Object::Reference(*number)).collect()),
    ])
}
