//! Adds links without a structure element to the structure tree (ISO 14289-1, 7.18.5). Chromium writes none for links
//! in frames, in SVG and in headers and footers.

use super::structure_tree::StructureTree;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Adds a `Link` for each annotation that has no element, after all other content and in the order of pages, and sets
/// the order in which a reader steps through the annotations of a page to that of the structure (ISO 14289-1, 7.18.3).
pub(super) fn add_link_elements<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    pages: &[ObjectNumber],
) -> Result<(), PdfError> {
    for page_number in pages {
        let mut page = document.get_dictionary(*page_number, "expected a page")?;
        let Some(annotations) = page.get("Annots").map(|found| document.resolve(found)).transpose()? else {
            continue;
        };
        let annotations = annotations.as_array().unwrap_or_default();
        for number in annotations.iter().filter_map(Object::as_reference) {
            let mut annotation = document.get_dictionary(number, "expected an annotation")?;
            if annotation.get("StructParent").is_none()
                && let Some(element) = structure.add_element(document, link_element(*page_number, number))?
            {
                let key = structure.add_key(document, Object::Reference(element))?;
                annotation.set("StructParent", Object::Integer(key));
                document.set(number, Object::Dictionary(annotation));
            }
        }
        if !annotations.is_empty() && page.get("Tabs").is_none() {
            page.set("Tabs", Object::name("S"));
            document.set(*page_number, Object::Dictionary(page));
        }
    }
    Ok(())
}

fn link_element<'a>(page: ObjectNumber, annotation: ObjectNumber) -> Dictionary<'a> {
    let reference = Dictionary::new([
        ("Type", Object::name("OBJR")),
        ("Pg", Object::Reference(page)),
        ("Obj", Object::Reference(annotation)),
    ]);
    Dictionary::new([
        ("Type", Object::name("StructElem")),
        ("S", Object::name("Link")),
        ("Pg", Object::Reference(page)),
        ("K", Object::Dictionary(reference)),
    ])
}
