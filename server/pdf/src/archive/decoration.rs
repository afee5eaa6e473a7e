//! Adds a structure tree to a document without text, whose content is decoration. Chromium writes none for it. Levels A
//! of PDF/A require one (ISO 19005-2, 6.7.2 and 6.7.3).

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object};
use crate::trees::{TreeKind, write_tree};

/// Adds a structure tree without content to a document that has no tree.
pub(super) fn add_empty_structure(document: &mut Document) -> Result<(), PdfError> {
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    if catalog.get("StructTreeRoot").is_some() {
        return Ok(());
    }
    let tree_number = document.add(Object::Null);
    let element = Dictionary::new([
        ("Type", Object::name("StructElem")),
        ("S", Object::name("Document")),
        ("P", Object::Reference(tree_number)),
    ]);
    let element = document.add(Object::Dictionary(element));
    let parent_tree = write_tree(document, TreeKind::Numbers, []);
    let tree = Dictionary::new([
        ("Type", Object::name("StructTreeRoot")),
        ("K", Object::Reference(element)),
        ("ParentTree", Object::Reference(parent_tree)),
        ("ParentTreeNextKey", Object::Integer(0)),
    ]);
    document.set(tree_number, Object::Dictionary(tree));
    document.change_catalog(|catalog| {
        catalog.set("StructTreeRoot", Object::Reference(tree_number));
        let is_marked = Dictionary::new([("Marked", Object::Boolean(true))]);
        catalog.set("MarkInfo", Object::Dictionary(is_marked));
    })
}
