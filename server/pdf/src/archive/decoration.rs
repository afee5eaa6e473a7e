//! Marks the content of a document without text and images as decoration. Chromium writes no structure tree for it.
//! Levels A of PDF/A require one, and content that is either in it or an artifact (ISO 19005-2, 6.7.2 and 6.7.3).

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::trees::{TreeKind, write_tree};

/// Adds an empty structure tree to a document without one, and marks the content of each page as an artifact.
pub(super) fn mark_decoration(document: &mut Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    if catalog.get("StructTreeRoot").is_some() {
        return Ok(());
    }
    let mut add_content = |content: &'static [u8]| {
        let stream = Stream::plain(Dictionary::default(), content);
        Object::Reference(document.add(Object::Stream(stream)))
    };
    let (start, end) = (add_content(b"/Artifact BMC\n"), add_content(b"\nEMC"));
    for number in pages {
        let mut page = document.get_dictionary(*number, "expected a page")?;
        let content = page.items("Contents");
        let marked = [std::slice::from_ref(&start), content, std::slice::from_ref(&end)].concat();
        page.set("Contents", Object::Array(marked));
        document.set(*number, Object::Dictionary(page));
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
