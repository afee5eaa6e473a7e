//! Selects some pages of a document and removes what only the others use.

mod outline;
mod structure;
mod tables;

use std::collections::BTreeSet;

use crate::annotations::remove_annotations;
use crate::destinations::{Destinations, page_of};
use crate::document::Document;
use crate::object::{Object, ObjectNumber};
use crate::page_tree::write_page_tree;
use crate::reach::Reach;
use crate::{PageSelection, PdfError};

/// Reduces the document to the selected ones of `pages`, which are all of its pages, and returns them. Links to removed
/// pages become plain text. Unreachable objects are not removed.
pub(crate) fn select_pages(
    document: &mut Document,
    pages: &[ObjectNumber],
    selection: &PageSelection,
) -> Result<Vec<ObjectNumber>, PdfError> {
    if selection.last() > pages.len() {
        return Err(PdfError::PageBeyondEnd {
            page: selection.last(),
            page_count: pages.len(),
        });
    }
    let kept = pages
        .iter()
        .enumerate()
        .filter(|(index, _)| selection.contains(index + 1));
    let kept: Vec<ObjectNumber> = kept.map(|(_, number)| *number).collect();
    let kept_set: BTreeSet<ObjectNumber> = kept.iter().copied().collect();
    write_page_tree(document, &kept)?;
    let destinations = Destinations::read(document)?;
    drop_destinations(document, &kept_set)?;
    remove_annotations(document, &kept, |_, _, annotation| {
        let page = destinations.page(annotation);
        Ok(annotation.get("Dest").is_some() && page.is_none_or(|page| !kept_set.contains(&page)))
    })?;
    let reach = Reach::of(document, kept.iter().copied())?;
    let elements = structure::keep_structure(document, &kept_set, &reach)?;
    outline::keep_outline(document, &kept_set, &elements, &destinations)?;
    Ok(kept)
}

/// Removes named destinations on removed pages.
fn drop_destinations(document: &mut Document, kept: &BTreeSet<ObjectNumber>) -> Result<(), PdfError> {
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    let mut named = document.resolve_dictionary(&catalog, "Dests")?;
    named
        .entries
        .retain(|(_, destination)| page_of(destination).is_some_and(|page| kept.contains(&page)));
    if named.entries.is_empty() {
        return document.change_catalog(|catalog| drop(catalog.remove("Dests")));
    }
    let named = document.add(Object::Dictionary(named));
    document.change_catalog(|catalog| catalog.set("Dests", Object::Reference(named)))
}
