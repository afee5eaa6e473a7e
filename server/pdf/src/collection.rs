//! Collects completed documents into one file, which is written while it grows.
//!
//! As in a document of several parts, each document has an entry in the outline, with its own outline below it, and is a
//! `Part` of the structure tree with its title and language. Only one document is in memory at a time: its objects are
//! written at once, with numbers that follow those of the former documents, and what refers to all documents is written at
//! the end, under numbers that were reserved at the beginning.

mod links;
mod numbering;
mod outline;
mod pages;
mod sharing;
mod source;
mod structure;

use std::collections::BTreeMap;

use memchr::memmem;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;

use crate::archive::{Metadata, Warnings, metadata_stream, output_intents, profile, trailer_of};
use crate::check::standards::Conformance;
use crate::digest::first_half;
use crate::document::Document;
use crate::join::structure::declare_structure;
use crate::lexer::is_regular;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::object_streams::{self, SectionWriter, unpack};
use crate::page_tree::list_pages;
use crate::reach::Reach;
use crate::write::write_indirect_object;
use crate::{PageFacts, PdfError};
use numbering::Numbering;
use outline::CollectedOutline;
use pages::CollectedPages;
use sharing::SharedObjects;
use source::Source;
use structure::CollectedStructure;

/// Maximum number of pages of a collection.
pub const MAX_PAGES: u16 = 10_000;
/// Maximum size of a collection in bytes, as far as an entry of its cross-reference stream reaches.
pub const MAX_BYTES: u32 = u32::MAX;

/// Memory for an object that was written, in bytes: its entry while it waits in a growing list, and again in the
/// cross-reference stream at the end.
const OBJECT_MEMORY: usize = 40;
/// Memory for a document that was added, in bytes: its nodes of all trees.
const DOCUMENT_MEMORY: usize = 1024;

/// Documents that become one file. Each function returns the bytes to be sent on. After an error the collection can't be
/// continued.
///
/// The file declares the lowest level of PDF/A that all documents declare, and PDF/UA-1 if all do. If one of them is plain
/// PDF, so is the file. Equal fonts, pictures and other objects that pages draw with are written once, as long as the
/// collection remembers them. Links to places in a document stay within it, but places have no names.
pub struct Collection {
    title: String,
    instant: OffsetDateTime,
    file: SectionWriter,
    catalog: ObjectNumber,
    pages: CollectedPages,
    outline: CollectedOutline,
    structure: CollectedStructure,
    shared: SharedObjects,
    /// Number of documents.
    document_count: usize,
    /// Language of the first document; `None` once a document has none, because it would inherit it.
    language: Option<String>,
    /// Whether a document has headings without a level, of which a file has only one kind (ISO 14289-1, 7.4.4).
    has_unnumbered_headings: bool,
    /// Standards that all documents declare.
    declared: Declared,
    /// Of the documents' identifiers.
    digest: Sha256,
}

/// Standards that several documents declare.
#[derive(Debug, Clone, Copy)]
struct Declared {
    level: Option<Conformance>,
    is_accessible: bool,
}

impl Collection {
    /// Begins a collection with a title, which is left out if it is blank, and a creation date.
    pub fn new(title: &str, instant: OffsetDateTime) -> Self {
        let mut file = SectionWriter::default();
        let mut digest = Sha256::new();
        digest.update(instant.unix_timestamp_nanos().to_be_bytes());
        digest.update(title);
        Self {
            title: title.to_owned(),
            instant,
            catalog: file.reserve(),
            pages: CollectedPages::new(&mut file),
            outline: CollectedOutline::new(&mut file),
            structure: CollectedStructure::default(),
            shared: SharedObjects::default(),
            document_count: 0,
            language: None,
            has_unnumbered_headings: false,
            declared: Declared {
                level: Some(Conformance::PdfA2a),
                is_accessible: true,
            },
            digest,
            file,
        }
    }

    /// Adds a completed document. Its entry in the outline has its title, or `fallback_title` if it has none.
    ///
    /// # Errors
    /// [`PdfError::Damaged`] if the file is not as [`complete`](crate::complete()) writes it, and [`PdfError::TooLarge`] if
    /// the collection would have more than [`MAX_PAGES`] pages, more than [`MAX_BYTES`] bytes or more than 8,388,607
    /// objects.
    pub fn add(&mut self, document: &[u8], fallback_title: &str) -> Result<Vec<u8>, PdfError> {
        let bytes = unpack(document)?;
        let mut document = Document::open(&[&bytes])?;
        self.document_count += 1;
        self.structure.separate_keys(&mut document, self.document_count)?;
        let source = Source::read(&document)?;
        let pages = list_pages(&document, source.root)?;
        self.note(&source);
        self.has_unnumbered_headings |= has_unnumbered_headings(&bytes);

        links::name_no_places(&mut document, &source.catalog)?;
        let mut numbering = Numbering::default();
        let tree = self.pages.add(&mut document, &mut numbering, &mut self.file, &pages)?;
        let leaves = self
            .structure
            .add(&mut document, &mut numbering, &mut self.file, &source)?;
        let outline = outline::adopt_outline(&mut document, &source.catalog)?;
        let entry = self.file.reserve();
        numbering.set(outline.number, entry);

        let roots = leaves.numbers().chain([tree, outline.number]);
        let reach = Reach::of(&document, roots)?;
        self.shared.number(&document, &mut numbering, &mut self.file, &pages)?;
        numbering.number_reachable(&document, &reach, &mut self.file);
        self.pages.note(&numbering, tree, pages.len());
        self.structure.note(&numbering, leaves);
        let title = source.facts.title.as_deref().unwrap_or(fallback_title);
        let entry = outline.entry(&document, &numbering, title, pages[0])?;
        if let Some((number, former)) = self.outline.push(numbering.number_of(outline.number), entry) {
            self.write(number, &Object::Dictionary(former))?;
        }
        numbering.write(&mut document, &mut self.file)?;
        self.file.end_section()
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`PdfError::Damaged`] if there is no document, and [`PdfError::TooLarge`] as for [`add`](Self::add).
    pub fn finish(mut self) -> Result<Vec<u8>, PdfError> {
        if self.document_count == 0 {
            return Err(PdfError::damaged(0, "expected a document"));
        }
        let metadata = self.metadata();
        let declared = self.declared(&metadata);
        let mut last = LastObjects {
            file: &mut self.file,
            objects: BTreeMap::new(),
        };
        let packet = last.add(metadata_stream(&metadata.packet(&declared)));
        let preferences = Dictionary::new([("DisplayDocTitle", Object::Boolean(true))]);
        let mut catalog = Dictionary::new([
            ("Type", Object::name("Catalog")),
            ("Pages", Object::Reference(self.pages.finish(&mut last))),
            ("Outlines", Object::Reference(self.outline.finish(&mut last))),
            ("ViewerPreferences", Object::Dictionary(preferences)),
            ("Metadata", Object::Reference(packet)),
        ]);
        if let Some(language) = self.language {
            catalog.set("Lang", Object::String(language.into_bytes().into()));
        }
        if !declared.is_empty() {
            let profile = last.add(profile());
            catalog.set("OutputIntents", output_intents(profile));
        }
        if let Some(tree) = self.structure.finish(&mut last) {
            declare_structure(&mut catalog, tree);
        }
        last.objects.insert(self.catalog, Object::Dictionary(catalog));
        let information = last.add(Object::Dictionary(metadata.information()));
        let objects = last.objects;
        for (number, object) in &objects {
            write(&mut self.file, *number, object)?;
        }
        self.file
            .end(trailer_of(self.catalog, information, metadata.identifier))
    }

    /// Returns the memory in bytes that the collection takes between documents, and at most for its end. It grows with the
    /// number of objects.
    pub fn memory(&self) -> usize {
        OBJECT_MEMORY * self.file.object_count() + DOCUMENT_MEMORY * self.document_count + self.shared.memory()
    }

    fn note(&mut self, source: &Source) {
        if self.document_count == 1 {
            self.language.clone_from(&source.facts.language);
        } else if source.facts.language.is_none() {
            self.language = None;
        }
        self.declared.level = self.declared.level.min(source.declared.level);
        self.declared.is_accessible &= source.declared.is_accessible;
        self.digest.update(&source.identifier);
    }

    fn metadata(&self) -> Metadata {
        let facts = PageFacts {
            title: Some(self.title.clone()),
            ..PageFacts::default()
        };
        let identifier = first_half(self.digest.clone());
        // A title that is too long is truncated without a warning.
        let mut warnings = Warnings::default();
        Metadata::new(&facts, self.language.clone(), self.instant, identifier, &mut warnings)
    }

    /// Returns the standards that the file declares. PDF/UA-1 also requires a title.
    fn declared(&self, metadata: &Metadata) -> Vec<Conformance> {
        let Declared { level, is_accessible } = self.declared;
        let may_mix_headings = self.document_count > 1 && self.has_unnumbered_headings;
        let is_accessible = is_accessible && level.is_some() && metadata.title.is_some() && !may_mix_headings;
        level
            .into_iter()
            .chain(is_accessible.then_some(Conformance::PdfUa1))
            .collect()
    }

    fn write(&mut self, number: ObjectNumber, object: &Object) -> Result<(), PdfError> {
        write(&mut self.file, number, object)
    }
}

/// Returns whether an unpacked document may have elements of the type `H`.
fn has_unnumbered_headings(document: &[u8]) -> bool {
    memmem::find_iter(document, b"/H").any(|start| {
        let (before, after) = (document[..start].trim_ascii_end(), document.get(start + 2));
        before.ends_with(b"/S") && after.is_none_or(|next| !is_regular(*next))
    })
}

/// Returns the memory in bytes that a document takes while it is added to a collection, besides its own bytes.
///
/// # Errors
/// [`PdfError::Damaged`] as [`Collection::add`].
pub fn memory_of(document: &[u8]) -> Result<usize, PdfError> {
    // The unpacked document, the objects as they are written, and the bytes that are returned.
    Ok(2 * object_streams::unpacked_length(document)? + document.len())
}

/// The objects that are written at the end, in the order of their numbers.
struct LastObjects<'f> {
    file: &'f mut SectionWriter,
    objects: BTreeMap<ObjectNumber, Object<'static>>,
}

impl LastObjects<'_> {
    fn add(&mut self, object: Object<'static>) -> ObjectNumber {
        let number = self.file.reserve();
        self.objects.insert(number, object);
        number
    }

    /// Sets the object of a number that was reserved before.
    fn set(&mut self, number: ObjectNumber, object: Object<'static>) {
        self.objects.insert(number, object);
    }
}

fn write(file: &mut SectionWriter, number: ObjectNumber, object: &Object) -> Result<(), PdfError> {
    let mut text = Vec::new();
    write_indirect_object(&mut text, number, object);
    text.push(b'\n');
    file.write(number, &text)
}

#[cfg(test)]
mod tests;
