//! Puts all links into `Link` elements (ISO 14289-1, 7.18.5). Chromium writes no element for links in frames, headers
//! and footers, makes links in SVG content of the figure, and gives links with an ARIA role another type.

use std::collections::BTreeMap;

use super::structure_tree::StructureTree;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::structure_elements::is_kind;
use crate::{PdfError, part_of_page};

/// Most elements and references that are visited to find the page of a part, and most kids of one.
const MAX_STEPS: usize = 1_000;
const MAX_KIDS: usize = 16;

/// Adds a `Link` for each annotation: in its element if that is another one, or else after all other content of its part and
/// in the order of pages. `pages_by_part` are the numbers of pages of each part. Sets the order in which a reader steps
/// through the annotations of a page to that of the structure (ISO 14289-1, 7.18.3).
pub(super) fn add_link_elements<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    pages: &[ObjectNumber],
    pages_by_part: &[usize],
) -> Result<(), PdfError> {
    let outermost = structure.outermost(document)?;
    let parts = match outermost {
        Some(outermost) if pages_by_part.len() > 1 => parts(document, outermost, pages, pages_by_part)?,
        _ => BTreeMap::new(),
    };
    let mut added: BTreeMap<ObjectNumber, Vec<Object>> = BTreeMap::new();
    // The keys of annotations by element: there may be many in one, whose kids are replaced at once.
    let mut tagged: BTreeMap<ObjectNumber, BTreeMap<ObjectNumber, i64>> = BTreeMap::new();
    for (page_number, number) in pages.iter().zip(1..) {
        let owner = part_of_page(number, pages_by_part).and_then(|part| parts.get(&part).copied());
        let owner = owner.or(outermost);
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
            } else if let Some(owner) = owner {
                let element = document.add(Object::Dictionary(link_element(owner, *page_number, number)));
                added.entry(owner).or_default().push(Object::Reference(element));
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
    for (owner, added) in added {
        let mut element = document.get_dictionary(owner, "expected a structure element")?;
        let kids = element.items("K").iter().cloned().chain(added).collect();
        element.set("K", kids);
        document.set(owner, Object::Dictionary(element));
    }
    Ok(())
}

/// Returns the last element of each part among the kids of the document's element, by the index of the part. Parts without
/// tags have none.
fn parts(
    document: &Document,
    outermost: ObjectNumber,
    pages: &[ObjectNumber],
    pages_by_part: &[usize],
) -> Result<BTreeMap<usize, ObjectNumber>, PdfError> {
    let numbers: BTreeMap<ObjectNumber, usize> = pages.iter().copied().zip(1..).collect();
    let document_element = document.get_dictionary(outermost, "expected a structure element")?;
    let mut parts = BTreeMap::new();
    for kid in document_element.items("K").iter().filter_map(Object::as_reference) {
        let page = first_page(document, kid)?.and_then(|page| numbers.get(&page).copied());
        if let Some(part) = page.and_then(|page| part_of_page(page, pages_by_part)) {
            parts.insert(part, kid);
        }
    }
    Ok(parts)
}

/// Returns the page of the first content of an element, as far as it is found within a bounded number of steps.
fn first_page(document: &Document, element: ObjectNumber) -> Result<Option<ObjectNumber>, PdfError> {
    let mut waiting = vec![Object::Reference(element)];
    for _ in 0..MAX_STEPS {
        let Some(next) = waiting.pop() else { break };
        let next = document.resolve(&next)?;
        let Some(element) = next.as_dictionary() else { continue };
        if let Some(page) = element.reference("Pg") {
            return Ok(Some(page));
        }
        waiting.extend(element.items("K").iter().take(MAX_KIDS).rev().cloned());
    }
    Ok(None)
}

/// Puts the annotations that are content of an element into a `Link` each, at the same place; the element of a link with a role, such
/// as `doc-noteref` or `button`, becomes a `Link` itself. `keys` are those of the annotations in the parent tree.
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
    if is_kind(&element, &["NonStruct", "Form"]) {
        element.set("S", Object::name("Link"));
        // Attributes of a form field, one of which can be the name that the author gave.
        let mut attributes = element.items("A").iter().filter_map(Object::as_dictionary);
        let name = attributes.find_map(|attributes| attributes.get("Desc")).cloned();
        if let Some(name) = name.filter(|_| element.get("Alt").is_none()) {
            element.set("Alt", name);
        }
        element.remove("A");
        document.set(element_number, Object::Dictionary(element));
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

        add_link_elements(&mut document, &mut structure, &[page_number], &[1]).expect("valid");
        assert_eq!(linked(&document, &mut structure, figure), in_figure);
        let outermost = structure.outermost(&document).expect("valid").expect("an element");
        assert_eq!(linked(&document, &mut structure, outermost), untagged);
    }

    #[test]
    fn elements_of_links_with_a_role_become_links() {
        let mut document = Document::open(&[LINKS]).expect("valid");
        let mut structure = StructureTree::of(&document).expect("valid").expect("a tree");
        let page_number = list_pages(&document, document.root().expect("a catalog")).expect("pages")[0];
        let mut annotations = Vec::new();
        let elements = ["NonStruct", "Form"].map(|kind| {
            let number = document.add(Object::Null);
            let mut kids = vec![Object::Integer(0)];
            // A link has an annotation in each line.
            for _ in 0..2 {
                let key = structure.add_key(&document, Object::Reference(number)).expect("valid");
                let annotation = annotation(&mut document, Some(key));
                let reference = [("Type", Object::name("OBJR")), ("Obj", Object::Reference(annotation))];
                kids.push(Object::Dictionary(Dictionary::new(reference)));
                annotations.push(Object::Reference(annotation));
            }
            let name = Object::String(b"Close".to_vec().into());
            let attributes = Dictionary::new([("O", Object::name("PrintField")), ("Desc", name)]);
            let element = Dictionary::new([
                ("S", Object::name(kind)),
                ("K", Object::Array(kids)),
                ("A", Object::Dictionary(attributes)),
            ]);
            document.set(number, Object::Dictionary(element));
            number
        });
        let mut page = document.get_dictionary(page_number, "a page").expect("a page");
        page.set("Annots", Object::Array(annotations));
        document.set(page_number, Object::Dictionary(page));

        add_link_elements(&mut document, &mut structure, &[page_number], &[1]).expect("valid");
        for number in elements {
            let link = document.get_dictionary(number, "an element").expect("an element");
            assert!(is_kind(&link, &["Link"]) && link.get("A").is_none(), "{link:?}");
            assert_eq!(link.get("Alt").and_then(Object::as_string), Some(&b"Close"[..]));
            let kids = link.items("K");
            assert_eq!(kids.len(), 3);
            assert!(kids[1..].iter().all(|kid| kid.as_dictionary().is_some()), "{kids:?}");
        }
    }

    #[test]
    fn links_without_an_element_follow_the_content_of_their_part() {
        const LETTER: &[u8] = include_bytes!("../../tests/fixtures/letter.pdf");
        let mut document = Document::open(&[LETTER]).expect("valid");
        let mut structure = StructureTree::of(&document).expect("valid").expect("a tree");
        let pages = list_pages(&document, document.root().expect("a catalog")).expect("pages");
        let outermost = structure.outermost(&document).expect("valid").expect("an element");
        let content = |page: ObjectNumber| {
            let reference = [("Type", Object::name("MCR")), ("Pg", Object::Reference(page))];
            Object::Dictionary(Dictionary::new(reference))
        };
        let mut parts = Vec::new();
        let mut annotations = Vec::new();
        for page_number in &pages {
            let paragraph = [("S", Object::name("P")), ("K", content(*page_number))];
            let paragraph = document.add(Object::Dictionary(Dictionary::new(paragraph)));
            let part = [("S", Object::name("Part")), ("K", Object::Reference(paragraph))];
            parts.push(document.add(Object::Dictionary(Dictionary::new(part))));
            annotations.push(annotation(&mut document, None));
            let mut page = document.get_dictionary(*page_number, "a page").expect("a page");
            page.set(
                "Annots",
                annotations.last().copied().map(Object::Reference).into_iter().collect(),
            );
            document.set(*page_number, Object::Dictionary(page));
        }
        let kids = parts.iter().copied().map(Object::Reference).collect();
        let element = [("S", Object::name("Document")), ("K", Object::Array(kids))];
        document.set(outermost, Object::Dictionary(Dictionary::new(element)));

        add_link_elements(&mut document, &mut structure, &pages, &[1, 1]).expect("valid");
        for (part, annotation) in parts.iter().zip(annotations) {
            let element = document.get_dictionary(*part, "a part").expect("a part");
            let link = element
                .items("K")
                .last()
                .and_then(Object::as_reference)
                .expect("a link");
            let link = document.get_dictionary(link, "a link").expect("a link");
            let reference = link.items("K")[0].as_dictionary().expect("a reference");
            assert_eq!(
                (link.reference("P"), reference.reference("Obj")),
                (Some(*part), Some(annotation))
            );
        }
    }
}
