//! The structure tree and everything that refers to it (ISO 19005-2, 6.7; ISO 14289-1, 7).

mod attributes;
mod contents;
mod kinds;
mod links;
mod roles;
mod tables;
mod tree;

use std::collections::BTreeMap;

use super::levels::LevelFindings;
use super::marks::{StreamMarks, check_language};
use super::rules;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
pub(super) use tree::Tree;

/// Checks the catalog's entries for accessibility, and the structure tree. Returns the tree if there is one. `streams`
/// are the marks of all streams by the number of their page, form, pattern or font.
pub(super) fn check_structure(
    document: &Document,
    catalog: &Dictionary,
    pages: &[ObjectNumber],
    streams: &BTreeMap<ObjectNumber, StreamMarks>,
    findings: &mut LevelFindings,
) -> Result<Option<Tree>, PdfError> {
    let is_true = |owner: &Dictionary, key| owner.get(key) == Some(&Object::Boolean(true));
    if !is_true(&document.resolve_dictionary(catalog, "MarkInfo")?, "Marked") {
        findings.document(&rules::NOT_MARKED);
    }
    if !is_true(
        &document.resolve_dictionary(catalog, "ViewerPreferences")?,
        "DisplayDocTitle",
    ) {
        findings.document(&rules::TITLE_NOT_SHOWN);
    }
    let language = catalog.get("Lang");
    match language {
        Some(language) => {
            if let Err(rule) = check_language(language.as_string().unwrap_or(b"_")) {
                findings.document(rule);
            }
        }
        None => note_missing_language(catalog, streams, findings),
    }
    let Some(root_number) = catalog.reference("StructTreeRoot") else {
        findings.document(&rules::NO_STRUCTURE);
        return Ok(None);
    };
    let root = document.get_dictionary(root_number, "expected a structure tree")?;
    let mut roles = roles::Roles::read(&document.resolve_dictionary(&root, "RoleMap")?, findings);
    let tree = Tree::read(document, &root, root_number, language.is_some(), &mut roles, findings)?;
    kinds::check_elements(&tree, findings);
    let mut parents = contents::Parents::read(document, &root, findings)?;
    links::check_links(document, &tree, &mut parents, pages, language.is_some(), findings)?;
    parents.check_contents(document, &tree, streams, findings)?;
    Ok(Some(tree))
}

/// Notes everything outside of the tree whose language can't be known without that of the document.
fn note_missing_language(
    catalog: &Dictionary,
    streams: &BTreeMap<ObjectNumber, StreamMarks>,
    findings: &mut LevelFindings,
) {
    findings.document(&rules::NO_LANGUAGE);
    if catalog.get("Outlines").is_some() {
        findings.document(&rules::OUTLINE_LANGUAGE);
    }
    for (number, stream) in streams {
        if stream.has_replacement {
            findings.object(&rules::SPAN_LANGUAGE, *number, None);
        }
    }
}
