//! The structure tree and everything that refers to it (ISO 19005-2, 6.7; ISO 14289-1, 7).

mod attributes;
mod contents;
mod kinds;
mod links;
mod part_ranks;
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
use contents::Parents;
pub(super) use part_ranks::PartRanks;
pub(super) use tree::Tree;

/// The structure tree, and what the parent tree has for content.
pub(super) struct Structure<'a> {
    pub(super) tree: Tree,
    parents: Parents<'a>,
}

/// Checks the catalog's entries for accessibility, and the structure tree except for the content that it refers to.
/// Returns the tree if there is one.
pub(super) fn check_structure<'a>(
    document: &Document<'a>,
    catalog: &Dictionary<'a>,
    pages: &[ObjectNumber],
    findings: &mut LevelFindings,
) -> Result<Option<Structure<'a>>, PdfError> {
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
    if let Some(language) = language {
        if let Err(rule) = check_language(language.as_string().unwrap_or(b"_")) {
            findings.document(rule);
        }
    } else {
        findings.document(&rules::NO_LANGUAGE);
        if catalog.get("Outlines").is_some() {
            findings.document(&rules::OUTLINE_LANGUAGE);
        }
    }
    let Some(root_number) = catalog.reference("StructTreeRoot") else {
        findings.document(&rules::NO_STRUCTURE);
        return Ok(None);
    };
    let root = document.get_dictionary(root_number, "expected a structure tree")?;
    let mut roles = roles::Roles::read(&document.resolve_dictionary(&root, "RoleMap")?, findings);
    let tree = Tree::read(document, &root, root_number, language.is_some(), &mut roles, findings)?;
    kinds::check_elements(&tree, findings);
    let mut parents = Parents::read(document, &root, findings)?;
    links::check_links(document, &tree, &mut parents, pages, language.is_some(), findings)?;
    Ok(Some(Structure { tree, parents }))
}

/// Checks the content that the structure tree refers to, and the language of replacement texts. `streams` are the marks
/// of all streams by the number of their page, form, pattern or font. Returns the tree if there is one.
pub(super) fn check_contents<'a>(
    document: &Document<'a>,
    catalog: &Dictionary,
    structure: Option<Structure<'a>>,
    streams: &BTreeMap<ObjectNumber, StreamMarks>,
    findings: &mut LevelFindings,
) -> Result<Option<Tree>, PdfError> {
    if catalog.get("Lang").is_none() {
        for (number, _) in streams.iter().filter(|(_, stream)| stream.has_replacement) {
            findings.object(&rules::SPAN_LANGUAGE, *number, None);
        }
    }
    let Some(Structure { tree, parents }) = structure else {
        return Ok(None);
    };
    parents.check_contents(document, &tree, streams, findings)?;
    Ok(Some(tree))
}
