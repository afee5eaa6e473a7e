//! Puts all links into `Link` elements (ISO 14289-1, 7.18.5). Chromium writes no element for links in frames, headers
//! and footers, and makes links in SVG content of the figure.

use super::structure_tree::StructureTree;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Adds a `Link` for each annotation: in its element if that is another one, or else after all other content and in the
/// order of pages. Sets the order in which a reader steps through the annotations of a page to that of the structure (ISO 14289-1, 7.18.3).
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
            if let Some(key) = annotation.get("StructParent").and_then(Object::as_integer) {
                move_into_link(document, structure, key, number)?;
            } else if let Some(element) = structure.add_element(document, link_element(*page_number, number))? {
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

/// Puts an annotation that is content of another element into a `Link` at the same place.
fn move_into_link<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    key: i64,
    annotation: ObjectNumber,
) -> Result<(), PdfError> {
    let Some(element_number) = structure.element(document, key)? else {
        return Ok(());
    };
    let mut element = document.get_dictionary(element_number, "expected a structure element")?;
    let mut kids = element.items("K").to_vec();
    let is_annotation = |kid: &Object| kid.as_dictionary().and_then(|kid| kid.reference("Obj")) == Some(annotation);
    let reference = kids.iter_mut().find(|kid| is_annotation(kid));
    if element.get("S").is_none_or(|kind| kind.is_name("Link")) {
        return Ok(());
    }
    let Some(reference) = reference else { return Ok(()) };
    let link = Dictionary::new([
        ("Type", Object::name("StructElem")),
        ("S", Object::name("Link")),
        ("P", Object::Reference(element_number)),
        ("K", reference.clone()),
    ]);
    let link = document.add(Object::Dictionary(link));
    *reference = Object::Reference(link);
    element.set("K", Object::Array(kids));
    document.set(element_number, Object::Dictionary(element));
    structure.set_element(document, key, link)
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
