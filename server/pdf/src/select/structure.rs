//! Retains the structure elements (ISO 32000-1, 14.7.2) of selected pages, and those above them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::tables::TableRepairs;
use crate::PdfError;
use crate::annotations::unlink_element;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::reach::Reach;
use crate::structure_elements::is_kind;
use crate::trees::{TreeKind, read_tree, write_tree};

/// Removes elements without remaining content, and returns the numbers of the retained ones. `reach` contains the
/// objects reachable from the selected pages. All cells of a retained row are retained, if necessary empty, so that
/// columns don't shift, and cells that span rows are adjusted to the retained rows.
pub(super) fn keep_structure(
    document: &mut Document,
    pages: &BTreeSet<ObjectNumber>,
    reach: &Reach,
) -> Result<BTreeSet<ObjectNumber>, PdfError> {
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    let Some(tree_number) = catalog.reference("StructTreeRoot") else {
        return Ok(BTreeSet::new());
    };
    let mut tree = document.get_dictionary(tree_number, "expected a structure tree")?;
    let mut keys = BTreeMap::new();
    for (key, value) in read_tree(document, &tree, "ParentTree", TreeKind::Numbers)? {
        if let Some(key) = key.as_integer().filter(|key| reach.structure_keys.contains(key)) {
            keys.insert(key, value);
        }
    }
    let mut elements = elements_with_content(document, keys.values())?;
    let mut kids = tree.items("K").to_vec();
    kids.retain(|kid| kid.as_reference().is_some_and(|kid| elements.contains(&kid)));
    if kids.is_empty() {
        document.change_catalog(|catalog| drop(catalog.remove("StructTreeRoot")))?;
        return Ok(BTreeSet::new());
    }
    tree.set("K", Object::Array(kids));
    let kept = Retained {
        pages,
        elements: &elements,
        reach,
    };
    let mut empty_cells = BTreeMap::new();
    let mut tables = TableRepairs::default();
    let mut changed = Vec::new();
    for number in &elements {
        let mut element = document.get_dictionary(*number, "expected a structure element")?;
        if is_kind(&element, &["Table"]) {
            tables.note(document, &element, &elements)?;
        }
        if kept.keep_content(document, &mut element, &mut empty_cells)? {
            changed.push((*number, element));
        }
    }
    // Tables are noted as they were.
    for (number, element) in changed {
        document.set(number, Object::Dictionary(element));
    }
    for (number, cell) in empty_cells {
        if let Some(cell) = cell {
            document.set(number, Object::Dictionary(cell));
            elements.insert(number);
        }
    }
    tables.write(document, &mut elements)?;
    keep_identifiers(document, &mut tree, &elements)?;
    let keys = keys.into_iter().map(|(key, value)| (Object::Integer(key), value));
    let parent_tree = write_tree(document, TreeKind::Numbers, keys);
    tree.set("ParentTree", Object::Reference(parent_tree));
    document.set(tree_number, Object::Dictionary(tree));
    Ok(elements)
}

/// Returns the elements that the parent tree refers to, and all above them.
fn elements_with_content<'t, 'a: 't>(
    document: &Document<'a>,
    values: impl Iterator<Item = &'t Object<'a>>,
) -> Result<BTreeSet<ObjectNumber>, PdfError> {
    let mut elements = BTreeSet::new();
    // Each object is visited once, no matter how many refer to it.
    let (mut seen_values, mut seen_elements) = (BTreeSet::new(), BTreeSet::new());
    for value in values {
        let Some(number) = value.as_reference().filter(|number| seen_values.insert(*number)) else {
            continue;
        };
        // The elements of a page or form by marked-content identifier, or the element of an annotation.
        let owners = match document.get(number)? {
            Object::Array(owners) => owners,
            _ => vec![value.clone()],
        };
        for owner in owners {
            let mut above = owner.as_reference();
            while let Some(number) = above.filter(|number| seen_elements.insert(*number)) {
                let Object::Dictionary(element) = document.get(number)? else {
                    break;
                };
                // The root of the tree is not an element.
                if element.get("S").is_none() {
                    break;
                }
                elements.insert(number);
                above = element.reference("P");
            }
        }
    }
    Ok(elements)
}

/// Empty copies of cells by object number; `None` for elements that are no cells.
type EmptyCells<'a> = BTreeMap<ObjectNumber, Option<Dictionary<'a>>>;

/// Retained pages, elements and objects.
struct Retained<'k> {
    pages: &'k BTreeSet<ObjectNumber>,
    elements: &'k BTreeSet<ObjectNumber>,
    reach: &'k Reach,
}

impl Retained<'_> {
    /// Removes an element's kids on removed pages. Returns whether the element changed.
    fn keep_content<'a>(
        &self,
        document: &Document<'a>,
        element: &mut Dictionary<'a>,
        empty_cells: &mut EmptyCells<'a>,
    ) -> Result<bool, PdfError> {
        let page = element.reference("Pg");
        let is_page_kept = page.is_some_and(|page| self.pages.contains(&page));
        let is_row = element.get("S").is_some_and(|kind| kind.is_name("TR"));
        let all = element.items("K");
        let mut kids = Vec::with_capacity(all.len());
        for kid in all {
            let is_kept = match kid {
                Object::Integer(_) => is_page_kept,
                Object::Reference(number) => {
                    self.elements.contains(number) || (is_row && is_cell(document, *number, empty_cells)?)
                }
                Object::Dictionary(content) => {
                    let of_page = content
                        .reference("Pg")
                        .map_or(is_page_kept, |page| self.pages.contains(&page));
                    // An annotation, or a form, which is removed with the last page that draws it.
                    let other = content.reference("Obj").or(content.reference("Stm"));
                    other.map_or(of_page, |other| self.reach.contains(other))
                }
                _ => false,
            };
            if is_kept {
                kids.push(kid.clone());
            }
        }
        let loses_page = page.is_some() && !is_page_kept;
        if kids.len() == all.len() && !loses_page {
            return Ok(false);
        }
        if loses_page {
            element.remove("Pg");
        }
        unlink_element(element, &kids);
        element.set("K", Object::Array(kids));
        Ok(true)
    }
}

/// Returns whether an element is a table cell, and records it in `cells`.
fn is_cell<'a>(document: &Document<'a>, number: ObjectNumber, cells: &mut EmptyCells<'a>) -> Result<bool, PdfError> {
    let cell = match cells.entry(number) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(empty_cell(document, number)?),
    };
    Ok(cell.is_some())
}

/// Returns a table cell without its content; `None` for any other element.
fn empty_cell<'a>(document: &Document<'a>, number: ObjectNumber) -> Result<Option<Dictionary<'a>>, PdfError> {
    let Object::Dictionary(mut cell) = document.get(number)? else {
        return Ok(None);
    };
    if !cell
        .get("S")
        .is_some_and(|kind| kind.is_name("TD") || kind.is_name("TH"))
    {
        return Ok(None);
    }
    cell.remove("K");
    cell.remove("Pg");
    Ok(Some(cell))
}

/// Removes the identifiers of removed elements from their tree, and from the cells that name them as headers.
fn keep_identifiers<'a>(
    document: &mut Document<'a>,
    tree: &mut Dictionary<'a>,
    elements: &BTreeSet<ObjectNumber>,
) -> Result<(), PdfError> {
    let mut kept = BTreeMap::new();
    let mut has_dropped = false;
    for (identifier, element) in read_tree(document, tree, "IDTree", TreeKind::Names)? {
        match (identifier, element.as_reference()) {
            (Object::String(identifier), Some(number)) if elements.contains(&number) => {
                kept.insert(identifier, element);
            }
            _ => has_dropped = true,
        }
    }
    if !has_dropped {
        return Ok(());
    }
    for number in elements {
        let Object::Dictionary(mut element) = document.get(*number)? else {
            continue;
        };
        let mut attributes = element.items("A").to_vec();
        let mut is_changed = false;
        for attribute in &mut attributes {
            let headers = attribute
                .as_dictionary_mut()
                .and_then(|attribute| attribute.get_mut("Headers"));
            if let Some(Object::Array(headers)) = headers {
                let count = headers.len();
                headers.retain(|header| header.as_string().is_some_and(|header| kept.contains_key(header)));
                is_changed |= headers.len() < count;
            }
        }
        if is_changed {
            element.set("A", Object::Array(attributes));
            document.set(*number, Object::Dictionary(element));
        }
    }
    if kept.is_empty() {
        tree.remove("IDTree");
    } else {
        let kept = kept
            .into_iter()
            .map(|(identifier, element)| (Object::String(identifier), element));
        let identifier_tree = write_tree(document, TreeKind::Names, kept);
        tree.set("IDTree", Object::Reference(identifier_tree));
    }
    Ok(())
}
