//! Joins the outlines: each part is an entry, with its own outline below it.

use crate::PdfError;
use crate::document::Document;
use crate::join::PartFacts;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::outline::{chain_entries, top_of_page};
use crate::page_tree::page_size;
use crate::text::encode;

pub(super) fn join_outlines(
    document: &mut Document,
    parts: &[PartFacts],
    pages: &[Vec<ObjectNumber>],
) -> Result<(), PdfError> {
    let mut outline = Dictionary::new([("Type", Object::name("Outlines"))]);
    let number = document.add(Object::Null);
    let mut entries = Vec::with_capacity(parts.len());
    for (index, (facts, pages)) in parts.iter().zip(pages).enumerate() {
        let Some(first_page) = pages.first() else { continue };
        let catalog = document.catalog_of(&document.parts()[index])?;
        let (entry_number, former) = match catalog.reference("Outlines") {
            Some(former) => (former, document.get_dictionary(former, "expected an outline")?),
            None => (document.add(Object::Null), Dictionary::default()),
        };
        let title = facts.title.clone().unwrap_or_else(|| format!("Part {}", index + 1));
        let (_, height) = page_size(document, *first_page)?;
        let mut entry = Dictionary::new([
            ("Title", Object::String(encode(&title).into())),
            ("Dest", top_of_page(*first_page, height)),
        ]);
        // The root of the part's outline becomes the entry, so that the entries below need no change.
        for key in ["First", "Last", "Count"] {
            if let Some(value) = former.get(key) {
                entry.set(key, value.clone());
            }
        }
        entries.push((entry_number, entry));
    }
    chain_entries(document, (number, &mut outline), entries);
    document.set(number, Object::Dictionary(outline));
    document.change_catalog(|catalog| catalog.set("Outlines", Object::Reference(number)))
}
