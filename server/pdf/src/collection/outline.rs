//! The outline of a collection: a closed entry for each document, with the document's own outline below it.

use super::LastObjects;
use super::numbering::Numbering;
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::object_streams::SectionWriter;
use crate::outline::top_of_page;
use crate::page_tree::page_size;
use crate::text::{encode, fit};

pub(super) struct CollectedOutline {
    root: ObjectNumber,
    first: Option<ObjectNumber>,
    /// The last entry, which is written when the number of the next one is known.
    last: Option<(ObjectNumber, Dictionary<'static>)>,
    entry_count: usize,
}

/// The outline of a document, whose root becomes an entry, so that the entries below need no change.
pub(super) struct AdoptedOutline<'a> {
    /// Number in the document.
    pub(super) number: ObjectNumber,
    former: Dictionary<'a>,
}

/// Finds the outline of a document, or adds a number for one.
pub(super) fn adopt_outline<'a>(
    document: &mut Document<'a>,
    catalog: &Dictionary<'a>,
) -> Result<AdoptedOutline<'a>, PdfError> {
    let (number, former) = match catalog.reference("Outlines") {
        Some(former) => (former, document.get_dictionary(former, "expected an outline")?),
        None => (document.add(Object::Null), Dictionary::default()),
    };
    Ok(AdoptedOutline { number, former })
}

impl AdoptedOutline<'_> {
    /// Returns the entry, with numbers of the collection.
    pub(super) fn entry(
        &self,
        document: &Document,
        numbering: &Numbering,
        title: &str,
        first_page: ObjectNumber,
    ) -> Result<Dictionary<'static>, PdfError> {
        let (_, height) = page_size(document, first_page)?;
        let mut entry = Dictionary::new([
            ("Title", Object::String(encode(fit(title)).into())),
            ("Dest", top_of_page(numbering.number_of(first_page), height)),
        ]);
        for key in ["First", "Last"] {
            if let Some(number) = self.former.reference(key) {
                entry.set(key, Object::Reference(numbering.number_of(number)));
            }
        }
        if let Some(count) = self.former.get("Count").and_then(Object::as_integer) {
            entry.set("Count", Object::Integer(count.saturating_abs().saturating_neg()));
        }
        Ok(entry)
    }
}

impl CollectedOutline {
    pub(super) fn new(file: &mut SectionWriter) -> Self {
        Self {
            root: file.reserve(),
            first: None,
            last: None,
            entry_count: 0,
        }
    }

    /// Adds an entry. Returns the one before it, which can be written now.
    pub(super) fn push(
        &mut self,
        number: ObjectNumber,
        mut entry: Dictionary<'static>,
    ) -> Option<(ObjectNumber, Dictionary<'static>)> {
        self.entry_count += 1;
        self.first.get_or_insert(number);
        entry.set("Parent", Object::Reference(self.root));
        let mut former = self.last.take();
        if let Some((former_number, former)) = &mut former {
            entry.set("Prev", Object::Reference(*former_number));
            former.set("Next", Object::Reference(number));
        }
        self.last = Some((number, entry));
        former
    }

    pub(super) fn finish(self, last: &mut LastObjects) -> ObjectNumber {
        let mut root = Dictionary::new([
            ("Type", Object::name("Outlines")),
            ("Count", Object::count(self.entry_count)),
        ]);
        if let (Some(first), Some((number, entry))) = (self.first, self.last) {
            root.set("First", Object::Reference(first));
            root.set("Last", Object::Reference(number));
            last.set(number, Object::Dictionary(entry));
        }
        last.set(self.root, Object::Dictionary(root));
        self.root
    }
}
