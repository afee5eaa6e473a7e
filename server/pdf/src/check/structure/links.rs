//! Links of pages: tagged as links, described, in the order of the structure (ISO 14289-1, 7.18).

use std::collections::BTreeMap;

use super::contents::Parents;
use super::tree::Tree;
use crate::PdfError;
use crate::check::levels::LevelFindings;
use crate::check::rules;
use crate::document::Document;
use crate::object::{Object, ObjectNumber};

/// Checks the links of all pages, in the tree and by themselves.
pub(super) fn check_links(
    document: &Document,
    tree: &Tree,
    parents: &mut Parents,
    pages: &[ObjectNumber],
    has_language: bool,
    findings: &mut LevelFindings,
) -> Result<(), PdfError> {
    // The last element that contains each annotation, and whether a page has the annotation.
    let mut elements: BTreeMap<ObjectNumber, (u32, bool)> = BTreeMap::new();
    for (element, object) in &tree.objects {
        if elements.insert(*object, (*element, false)).is_some() {
            tree.note(&rules::KID_TWICE, *element, findings);
        }
    }
    for page_number in pages {
        let page = document.get_dictionary(*page_number, "expected a page")?;
        let Some(annotations) = page.get("Annots") else {
            continue;
        };
        let annotations = document.resolve(annotations)?;
        let annotations = annotations.as_array().unwrap_or_default();
        if !annotations.is_empty() && !page.get("Tabs").is_some_and(|order| order.is_name("S")) {
            findings.object(&rules::TAB_ORDER, *page_number, None);
        }
        for annotation in annotations {
            let number = annotation.as_reference().unwrap_or_default();
            let mut note = |rule| findings.object(rule, number, Some(*page_number));
            let link = document.resolve(annotation)?;
            let link = link.as_dictionary().cloned().unwrap_or_default();
            match link.get("Contents").and_then(Object::as_string) {
                None | Some([]) => note(&rules::LINK_DESCRIPTION),
                Some(_) if !has_language => note(&rules::CONTENTS_LANGUAGE),
                Some(_) => {}
            }
            let key = link.get("StructParent").and_then(Object::as_integer);
            let entry = key.and_then(|key| parents.take(key));
            let element = entry
                .as_ref()
                .and_then(Object::as_reference)
                .and_then(|entry| tree.find(entry));
            if element.and_then(|element| tree.elements[element as usize].kind) != Some("Link") {
                note(&rules::LINK_OUTSIDE);
            }
            let in_tree = elements.get_mut(&number).map(|(element, is_on_page)| {
                *is_on_page = true;
                *element
            });
            if element != in_tree {
                note(&rules::LINK_OF_ANOTHER);
            }
        }
    }
    for (element, is_on_page) in elements.values() {
        if !is_on_page {
            tree.note(&rules::OBJECT_WITHOUT_LINK, *element, findings);
        }
    }
    Ok(())
}
