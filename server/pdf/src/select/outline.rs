//! Keeps the entries of the outline that lead to kept pages, and those above them.

use std::collections::BTreeSet;

use crate::PdfError;
use crate::destinations::Destinations;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::outline::chain_entries;

/// How deep entries may stand in each other: headings go to six, and parts come on top.
const MAX_DEPTH: usize = 64;

/// Drops entries. One whose page goes, but with an entry under it that stays, leads to where that leads. `elements` are
/// the structure elements that stay.
pub(super) fn keep_outline(
    document: &mut Document,
    pages: &BTreeSet<ObjectNumber>,
    elements: &BTreeSet<ObjectNumber>,
    destinations: &Destinations,
) -> Result<(), PdfError> {
    let catalog = document.get_dictionary(document.root()?, "a catalog expected")?;
    let Some(number) = catalog.reference("Outlines") else {
        return Ok(());
    };
    let mut outline = document.get_dictionary(number, "an outline expected")?;
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
    /// Keeps what stays of the entries under one, or under the root. Gives where the first of them leads.
    fn keep_entries(
        &mut self,
        owner_number: ObjectNumber,
        owner: &mut Dictionary<'a>,
        depth: usize,
    ) -> Result<Option<Object<'a>>, PdfError> {
        if depth > MAX_DEPTH {
            return Err(self
                .document
                .damaged(owner_number, "an outline of fewer levels expected"));
        }
        let mut kept = Vec::new();
        let mut next = owner.reference("First");
        while let Some(number) = next {
            if !self.seen.insert(number) {
                return Err(self.document.damaged(number, "an outline that is not a tree"));
            }
            let mut entry = self
                .document
                .get_dictionary(number, "an entry of the outline expected")?;
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
