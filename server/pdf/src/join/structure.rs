//! Joins the structure trees (ISO 32000-1, 14.7): a `Document` element whose kids are the parts.

use std::collections::BTreeMap;

use crate::PdfError;
use crate::document::Document;
use crate::join::PartFacts;
use crate::object::{Dictionary, Object};
use crate::text::encode;
use crate::trees::{TreeKind, read_tree, write_tree};

/// Makes keys of the parent tree and identifiers of elements unique across files.
pub(super) fn separate_keys(document: &mut Document) -> Result<(), PdfError> {
    let mut counts = Vec::new();
    for part in document.parts() {
        let catalog = document.catalog_of(part)?;
        let structure = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
        let next = structure.get("ParentTreeNextKey").and_then(Object::as_integer);
        let entries = read_tree(document, &structure, "ParentTree", TreeKind::Numbers)?;
        let highest = entries.iter().filter_map(|(key, _)| key.as_integer()).max();
        counts.push(
            next.unwrap_or_default()
                .max(highest.map_or(0, |key| key.saturating_add(1))),
        );
    }
    let mut first_key = 0_i64;
    for (index, (part, count)) in document.parts_mut().iter_mut().zip(counts).enumerate() {
        part.first_key = first_key;
        part.identifier_prefix = format!("{}-", index + 1);
        first_key = first_key.saturating_add(count);
    }
    Ok(())
}

pub(super) fn join_structure(document: &mut Document, parts: &[PartFacts]) -> Result<(), PdfError> {
    let tree_number = document.add(Object::Null);
    let document_number = document.add(Object::Null);
    let mut kids = Vec::new();
    let mut keys = BTreeMap::new();
    let mut identifiers = BTreeMap::new();
    let mut roles = BTreeMap::new();
    for (index, facts) in parts.iter().enumerate() {
        let part = &document.parts()[index];
        let catalog = document.catalog_of(part)?;
        let structure = document.resolve_dictionary(&catalog, "StructTreeRoot")?;
        for (key, value) in read_tree(document, &structure, "ParentTree", TreeKind::Numbers)? {
            if let Some(key) = key.as_integer() {
                keys.insert(key.saturating_add(part.first_key), value);
            }
        }
        for (identifier, value) in read_tree(document, &structure, "IDTree", TreeKind::Names)? {
            if let Object::String(identifier) = identifier {
                identifiers.insert(part.identifier(identifier), value);
            }
        }
        for (role, standard) in document.resolve_dictionary(&structure, "RoleMap")?.entries {
            roles.entry(role).or_insert(standard);
        }
        for kid in structure.items("K") {
            let Some(number) = kid.as_reference() else { continue };
            let mut element = document.get_dictionary(number, "expected a structure element")?;
            element.set("P", Object::Reference(document_number));
            if element.get("S").is_some_and(|kind| kind.is_name("Document")) {
                element.set("S", Object::name("Part"));
            }
            set_language(&mut element, facts.language.as_deref(), catalog.get("Lang"));
            if let Some(title) = &facts.title {
                element.set("T", Object::String(encode(title).into()));
            }
            document.set(number, Object::Dictionary(element));
            kids.push(kid.clone());
        }
    }
    if kids.is_empty() {
        return document.change_catalog(|catalog| {
            catalog.remove("StructTreeRoot");
        });
    }
    let element = Dictionary::new([
        ("Type", Object::name("StructElem")),
        ("S", Object::name("Document")),
        ("P", Object::Reference(tree_number)),
        ("K", Object::Array(kids)),
    ]);
    document.set(document_number, Object::Dictionary(element));
    let next_key = keys.last_key_value().map_or(0, |(key, _)| key.saturating_add(1));
    let keys = keys.into_iter().map(|(key, value)| (Object::Integer(key), value));
    let parent_tree = write_tree(document, TreeKind::Numbers, keys);
    let mut tree = Dictionary::new([
        ("Type", Object::name("StructTreeRoot")),
        ("K", Object::Reference(document_number)),
        ("ParentTree", Object::Reference(parent_tree)),
        ("ParentTreeNextKey", Object::Integer(next_key)),
    ]);
    if !identifiers.is_empty() {
        let identifiers = identifiers
            .into_iter()
            .map(|(identifier, value)| (Object::String(identifier), value));
        let identifier_tree = write_tree(document, TreeKind::Names, identifiers);
        tree.set("IDTree", Object::Reference(identifier_tree));
    }
    if !roles.is_empty() {
        let entries = roles.into_iter().collect();
        tree.set("RoleMap", Object::Dictionary(Dictionary { entries }));
    }
    document.set(tree_number, Object::Dictionary(tree));
    document.change_catalog(|catalog| {
        catalog.set("StructTreeRoot", Object::Reference(tree_number));
        let is_marked = Dictionary::new([("Marked", Object::Boolean(true))]);
        catalog.set("MarkInfo", Object::Dictionary(is_marked));
    })
}

/// Sets the part's language, or removes that of the browser if the part has none.
fn set_language(element: &mut Dictionary, language: Option<&str>, of_browser: Option<&Object>) {
    match language {
        Some(language) => element.set("Lang", Object::String(language.as_bytes().to_vec().into())),
        None if element.get("Lang") == of_browser => drop(element.remove("Lang")),
        None => {}
    }
}
