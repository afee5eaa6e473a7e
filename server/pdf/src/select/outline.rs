//! Retains the outline entries that lead to selected pages, and those above them.

use std::collections::BTreeSet;

use crate::PdfError;
use crate::destinations::Destinations;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::outline::chain_entries;

/// Greatest nesting of entries. Headings have six levels, and parts add more.
const MAX_DEPTH: usize = 64;

/// Removes the entries of removed pages. An entry whose page is removed but that has a retained entry below it leads to
/// the target of that entry. `elements` are the retained structure elements.
pub(super) fn keep_outline(
    document: &mut Document,
    pages: &BTreeSet<ObjectNumber>,
    elements: &BTreeSet<ObjectNumber>,
    destinations: &Destinations,
) -> Result<(), PdfError> {
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    let Some(number) = catalog.reference("Outlines") else {
        return Ok(());
    };
    let mut outline = document.get_dictionary(number, "expected an outline")?;
    let mut pruning = Pruning {
        document,
        pages,
        elements,
        destinations,
        seen: BTreeSet::new(),
    };
    let first = pruning.keep_entries(number, &mut outline, 0)?;
    if first.is_none() {
        return document.change_catalog(|catalog| drop(catalog.remove("Outlines")));
    }
    document.set(number, Object::Dictionary(outline));
    Ok(())
}

struct Pruning<'d, 'a> {
    document: &'d mut Document<'a>,
    pages: &'d BTreeSet<ObjectNumber>,
    elements: &'d BTreeSet<ObjectNumber>,
    destinations: &'d Destinations,
    seen: BTreeSet<ObjectNumber>,
}

impl<'a> Pruning<'_, 'a> {
    /// Prunes the entries below an entry or the root. Returns the target of the first retained one.
    fn keep_entries(
        &mut self,
        owner_number: ObjectNumber,
        owner: &mut Dictionary<'a>,
        depth: usize,
    ) -> Result<Option<Object<'a>>, PdfError> {
        if depth > MAX_DEPTH {
            return Err(self
                .document
                .damaged(owner_number, "expected an outline with fewer levels"));
        }
        let mut kept = Vec::new();
        let mut next = owner.reference("First");
        while let Some(number) = next {
            if !self.seen.insert(number) {
                return Err(self.document.damaged(number, "an outline that is not a tree"));
            }
            let mut entry = self
                .document
                .get_dictionary(number, "expected an entry of the outline")?;
            next = entry.reference("Next");
            let below = self.keep_entries(number, &mut entry, depth + 1)?;
            let page = self.destinations.page(&entry);
            let leads_to_kept = page.is_some_and(|page| self.pages.contains(&page));
            match below {
                _ if leads_to_kept => {}
                Some(below) => entry.set("Dest", below),
                None => continue,
            }
            if entry
                .reference("SE")
                .is_some_and(|element| !self.elements.contains(&element))
            {
                entry.remove("SE");
            }
            kept.push((number, entry));
        }
        let first = kept.first().and_then(|(_, entry)| entry.get("Dest").cloned());
        chain_entries(self.document, (owner_number, owner), kept);
        Ok(first)
    }
}
