//! Joins the dictionaries of named destinations. The first part's names stay; names of later parts change if they are
//! taken.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object};

pub(super) fn join_destinations(document: &mut Document, part_count: usize) -> Result<(), PdfError> {
    let mut joined = Dictionary::default();
    let mut taken: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut renamed_by_part = Vec::with_capacity(part_count);
    for (index, part) in document.parts().iter().take(part_count).enumerate() {
        let catalog = document.catalog_of(part)?;
        let destinations = document.resolve_dictionary(&catalog, "Dests")?;
        let mut renamed = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for (name, destination) in destinations.entries {
            // The first of duplicate names in a file applies.
            if !seen.insert(name.clone()) {
                continue;
            }
            let mut free = name.clone();
            let mut suffix = index + 1;
            while !taken.insert(free.to_vec()) {
                free = Cow::Owned([&name, format!("-{suffix}").as_bytes()].concat());
                suffix += 1;
            }
            if free != name {
                renamed.insert(name.into_owned(), free.to_vec());
            }
            joined.entries.push((free, destination));
        }
        renamed_by_part.push(renamed);
    }
    for (part, renamed) in document.parts_mut().iter_mut().zip(renamed_by_part) {
        part.renamed_destinations = renamed;
    }
    if joined.entries.is_empty() {
        return Ok(());
    }
    let joined = document.add(Object::Dictionary(joined));
    document.change_catalog(|catalog| catalog.set("Dests", Object::Reference(joined)))
}
