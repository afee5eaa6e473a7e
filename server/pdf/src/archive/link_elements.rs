//! Puts all links into `Link` elements (ISO 14289-1, 7.18.5). Chromium writes no element for links in frames, headers
//! and footers, and makes links in SVG content of the figure.

use std::collections::BTreeMap;

use super::structure_tree::StructureTree;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Adds a `Link` for each annotation: in its element if that is another one, or else after all other content and in the
/// order of pages. Sets the order in which a reader steps through the annotations of a page to that of the structure
/// (ISO 14289-1, 7.18.3).
pub(super) fn add_link_elements<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    pages: &[ObjectNumber],
) -> Result<(), PdfError> {
    let outermost = structure.outermost(document)?;
    let mut added = Vec::new();
    // The keys of annotations by element: there may be many in one, whose kids are replaced at once.
    let mut tagged: BTreeMap<ObjectNumber, BTreeMap<ObjectNumber, i64>> = BTreeMap::new();
    for page_number in pages {
        let mut page = document.get_dictionary(*page_number, "expected a page")?;
        let Some(annotations) = page.get("Annots").map(|found| document.resolve(found)).transpose()? else {
            continue;
        };
        let annotations = annotations.as_array().unwrap_or_default();
        for number in annotations.iter().filter_map(Object::as_reference) {
            let mut annotation = document.get_dictionary(number, "expected an annotation")?;
            if let Some(key) = annotation.get("StructParent").and_then(Object::as_integer) {
                if let Some(element) = structure.element(document, key)? {
                    tagged.entry(element).or_default().insert(number, key);
                }
            } else if let Some(outermost) = outermost {
                let element = document.add(Object::Dictionary(link_element(outermost, *page_number, number)));
                added.push(Object::Reference(element));
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
    for (element, annotations) in tagged {
        move_into_links(document, structure, element, annotations)?;
    }
    if let Some(outermost) = outermost.filter(|_| !added.is_empty()) {
        let mut element = document.get_dictionary(outermost, "expected a structure element")?;
        let kids = element.items("K").iter().cloned().chain(added).collect();
        element.set("K", kids);
        document.set(outermost, Object::Dictionary(element));
    }
    Ok(())
}

/// Puts the annotations that are content of an element into a `Link` each, at the same place. `keys` are those of the
/// annotations in the parent tree.
fn move_into_links<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    element_number: ObjectNumber,
    mut keys: BTreeMap<ObjectNumber, i64>,
) -> Result<(), PdfError> {
    let mut element = document.get_dictionary(element_number, "expected a structure element")?;
    if element.get("S").is_none_or(|kind| kind.is_name("Link")) {
        return Ok(());
    }
    let mut kids = element.items("K").to_vec();
    for kid in &mut kids {
        let annotation = kid.as_dictionary().and_then(|kid| kid.reference("Obj"));
        let Some(key) = annotation.and_then(|annotation| keys.remove(&annotation)) else {
            continue;
        };
        let link = Dictionary::new([
            ("Type", Object::name("StructElem")),
            ("S", Object::name("Link")),
            ("P", Object::Reference(element_number)),
            ("K", kid.clone()),
        ]);
        let link = document.add(Object::Dictionary(link));
        *kid = Object::Reference(link);
        structure.set_element(document, key, link)?;
    }
    element.set("K", Object::Array(kids));
    document.set(element_number, Object::Dictionary(element));
    Ok(())
}

fn link_element<'a>(parent: ObjectNumber, page: ObjectNumber, annotation: ObjectNumber) -> Dictionary<'a> {
    let reference = Dictionary::new([
        ("Type", Object::name("OBJR")),
        ("Pg", Object::Reference(page)),
        ("Obj", Object::Reference(annotation)),
    ]);
    Dictionary::new([
        ("Type", Object::name("StructElem")),
        ("S", Object::name("Link")),
        ("P", Object::Reference(parent)),
        ("Pg", Object::Reference(page)),
        ("K", Object::Dictionary(reference)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page_tree::list_pages;

    const LINKS: &[u8] = include_bytes!("../../tests/fixtures/links.pdf");
    const COUNT: usize = 20_000;

    fn annotation(document: &mut Document, key: Option<i64>) -> ObjectNumber {
        let mut annotation = Dictionary::new([("Subtype", Object::name("Link"))]);
        if let Some(key) = key {
            annotation.set("StructParent", Object::Integer(key));
        }
        document.add(Object::Dictionary(annotation))
    }

    /// Returns the annotations of an element's last kids, which are `Link` elements, and checks those and the parent
    /// tree.
    fn linked<'a>(
        document: &Document<'a>,
        structure: &mut StructureTree<'a>,
        parent: ObjectNumber,
    ) -> Vec<ObjectNumber> {
        let element = document.get_dictionary(parent, "an element").expect("an element");
        let kids = element.items("K");
        let links = kids[kids.len() - COUNT..].iter().map(|kid| {
            let number = kid.as_reference().expect("an element");
            let link = document.get_dictionary(number, "an element").expect("an element");
            assert!(link.get("S").is_some_and(|kind| kind.is_name("Link")));
            assert_eq!(link.reference("P"), Some(parent));
            let annotation = link.items("K")[0].as_dictionary().and_then(|kid| kid.reference("Obj"));
            let annotation = annotation.expect("an annotation");
            let object = document.get_dictionary(annotation, "one").expect("an annotation");
            let key = object.get("StructParent").and_then(Object::as_integer).expect("a key");
            assert_eq!(structure.element(document, key).expect("valid"), Some(number));
            annotation
        });
        links.collect()
    }

    #[test]
    fn any_number_of_links_is_added_in_order() {
        let mut document = Document::open(&[LINKS]).expect("valid");
        let mut structure = StructureTree::of(&document).expect("valid").expect("a tree");
        let page_number = list_pages(&document, document.root().expect("a catalog")).expect("pages")[0];
        let figure = document.add(Object::Null);
        let mut kids = Vec::new();
        let mut in_figure = Vec::new();
        let mut untagged = Vec::new();
        for _ in 0..COUNT {
            let key = structure.add_key(&document, Object::Reference(figure)).expect("valid");
            let number = annotation(&mut document, Some(key));
            let reference = [("Type", Object::name("OBJR")), ("Obj", Object::Reference(number))];
            kids.push(Object::Dictionary(Dictionary::new(reference)));
            in_figure.push(number);
            untagged.push(annotation(&mut document, None));
        }
        let element = Dictionary::new([("S", Object::name("Figure")), ("K", Object::Array(kids))]);
        document.set(figure, Object::Dictionary(element));
        let mut page = document.get_dictionary(page_number, "a page").expect("a page");
        let annotations = in_figure.iter().chain(&untagged).copied().map(Object::Reference);
        page.set("Annots", annotations.collect());
        document.set(page_number, Object::Dictionary(page));

        add_link_elements(&mut document, &mut structure, &[page_number]).expect("valid");
        assert_eq!(linked(&document, &mut structure, figure), in_figure);
        let outermost = structure.outermost(&document).expect("valid").expect("an element");
        assert_eq!(linked(&document, &mut structure, outermost), untagged);
    }
}
