//! Removes annotations from pages, together with their references in the structure tree. Chromium writes only links.

use std::collections::{BTreeMap, BTreeSet};

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::trees::{TreeKind, read_tree, write_tree};

/// Removes each annotation for which `must_go` returns `true`. `must_go` gets the index of the annotation's page in
/// `pages`. The text of a removed link remains as plain text.
pub(crate) fn remove_annotations<'a>(
    document: &mut Document<'a>,
    pages: &[ObjectNumber],
    mut must_go: impl FnMut(&Document<'a>, usize, &Dictionary<'a>) -> Result<bool, PdfError>,
) -> Result<(), PdfError> {
    let mut removed = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, page_number) in pages.iter().enumerate() {
        let mut page = document.get_dictionary(*page_number, "expected a page")?;
        let Some(annotations) = page.get("Annots") else {
            continue;
        };
        let Object::Array(annotations) = document.resolve(annotations)? else {
            return Err(document.damaged(*page_number, "expected an array of annotations"));
        };
        let mut kept = Vec::with_capacity(annotations.len());
        for annotation in &annotations {
            let number = annotation.as_reference();
            let number = number.filter(|number| seen.insert(*number));
            let number = number.ok_or_else(|| document.damaged(*page_number, "expected annotations of its own"))?;
            let dictionary = document.get_dictionary(number, "expected an annotation")?;
            if must_go(document, index, &dictionary)? {
                let key = dictionary.get("StructParent").and_then(Object::as_integer);
                removed.push(Removed { number, key });
            } else {
                kept.push(annotation.clone());
            }
        }
        if kept.len() < annotations.len() {
            if kept.is_empty() {
                page.remove("Annots");
            } else {
                page.set("Annots", Object::Array(kept));
            }
            document.set(*page_number, Object::Dictionary(page));
        }
    }
    if !removed.is_empty() {
        remove_from_structure(document, &removed)?;
    }
    for annotation in removed {
        document.remove(annotation.number);
    }
    Ok(())
}

/// Turns a link element without annotations into plain text.
pub(crate) fn unlink_element(element: &mut Dictionary, kids: &[Object]) {
    if !kids.iter().any(is_object_reference) && element.get("S").is_some_and(|kind| kind.is_name("Link")) {
        element.set("S", Object::name("Span"));
    }
}

struct Removed {
    number: ObjectNumber,
    /// Key in the parent tree.
    key: Option<i64>,
}

/// Removes the annotations from their elements, and their keys from the parent tree (ISO 32000-1, 14.7.4.4).
fn remove_from_structure(document: &mut Document, removed: &[Removed]) -> Result<(), PdfError> {
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    let mut structure = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
    let Some(structure_number) = catalog.reference("StructTreeRoot") else {
        return Ok(());
    };
    let numbers: BTreeMap<i64, ObjectNumber> = removed
        .iter()
        .filter_map(|annotation| Some((annotation.key?, annotation.number)))
        .collect();
    let mut kept = BTreeMap::new();
    let mut annotations_by_element: BTreeMap<ObjectNumber, BTreeSet<ObjectNumber>> = BTreeMap::new();
    for (key, value) in read_tree(document, &structure, "ParentTree", TreeKind::Numbers)? {
        let Some(key) = key.as_integer() else { continue };
        match (numbers.get(&key), value.as_reference()) {
            (Some(annotation), Some(element)) => {
                annotations_by_element.entry(element).or_default().insert(*annotation);
            }
            (Some(_), None) => {}
            (None, _) => drop(kept.insert(key, value)),
        }
    }
    for (number, annotations) in annotations_by_element {
        if let Object::Dictionary(mut element) = document.get(number)? {
            drop_annotations(&mut element, &annotations);
            document.set(number, Object::Dictionary(element));
        }
    }
    let kept = kept.into_iter().map(|(key, value)| (Object::Integer(key), value));
    let former = structure.reference("ParentTree");
    let parent_tree = write_tree(document, TreeKind::Numbers, kept);
    structure.set("ParentTree", Object::Reference(parent_tree));
    document.set(structure_number, Object::Dictionary(structure));
    if let Some(former) = former {
        document.remove(former);
    }
    Ok(())
}

/// Removes an element's references to annotations. A link element without any becomes plain text.
fn drop_annotations(element: &mut Dictionary, annotations: &BTreeSet<ObjectNumber>) {
    let leads_to_removed = |kid: &Object| {
        let target = kid.as_dictionary().and_then(|kid| kid.reference("Obj"));
        is_object_reference(kid) && target.is_some_and(|target| annotations.contains(&target))
    };
    let mut kids = element.items("K").to_vec();
    element.remove("K");
    kids.retain(|kid| !leads_to_removed(kid));
    unlink_element(element, &kids);
    if !kids.is_empty() {
        element.set("K", Object::Array(kids));
    }
}

/// Returns whether a kid of a structure element is an annotation (ISO 32000-1, 14.7.4.3).
fn is_object_reference(kid: &Object) -> bool {
    let found = kid.as_dictionary().and_then(|kid| kid.get("Type"));
    found.is_some_and(|found| found.is_name("OBJR"))
}
