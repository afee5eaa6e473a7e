//! Completes a printed document: the passes and their order.

mod ancestry;
mod artifacts;
mod content_marks;
mod content_streams;
mod declaration;
mod decoration;
mod drawings;
mod external_objects;
mod figures;
mod generated_text;
mod language;
mod limits;
mod link_descriptions;
mod link_elements;
mod links;
mod list_items;
mod loose_text;
mod metadata;
mod missing_glyphs;
mod output_intent;
mod pages;
mod pictures;
mod read_ahead;
mod repeated_forms;
mod role_map;
mod silent_text;
mod structure_tree;
mod table_cells;
mod unicode_maps;
mod untagged;
mod warnings;

use std::sync::Mutex;

use time::OffsetDateTime;

use crate::check::standards::Conformance;
use crate::check::{Examination, examine_after};
use crate::concurrency::concurrently;
use crate::document::Document;
use crate::merged_elements::MergedElement;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::object_streams::pack;
use crate::written_file::{WrittenFile, write_document};
use crate::{Completed, OutputFormat, PageFacts, PdfError};
use content_marks::Marker;
use declaration::Declaration;
pub(crate) use language::valid_language;
pub(crate) use metadata::{Metadata, metadata_stream};
pub(crate) use output_intent::{output_intents, profile};
use structure_tree::StructureTree;
pub(crate) use warnings::Warnings;

/// Parameters of completion.
#[derive(Debug)]
pub(crate) struct Completion<'f> {
    pub(crate) facts: &'f PageFacts,
    /// See [`PageFacts::has_running_text`]; of all pages.
    pub(crate) has_running_text: bool,
    /// A valid language tag.
    pub(crate) language: Option<String>,
    pub(crate) format: OutputFormat,
    pub(crate) instant: OffsetDateTime,
    /// File identifier (ISO 32000-1, 14.4).
    pub(crate) identifier: [u8; 16],
    /// See [`Completed::pages_by_part`].
    pub(crate) pages_by_part: Vec<usize>,
}

/// A completed document that is not examined yet. It borrows nothing from its source files, so those can be dropped.
pub(crate) struct Draft {
    file: WrittenFile<'static>,
    /// The declaration of standards in the metadata; `None` for plain PDF.
    declaration: Option<Declaration>,
    page_count: usize,
    pages_by_part: Vec<usize>,
    warnings: Warnings,
}

impl Draft {
    /// Examines and packs the document, and declares the standards that it has earned.
    pub(crate) fn finish(self) -> Result<Completed, PdfError> {
        let (packed, examination) = pack_and_examine(&self.file, &self.pages_by_part, self.declaration.is_some());
        let mut bytes = packed.unwrap_or(self.file.bytes);
        let examination = examination?;
        if let Some(declaration) = &self.declaration {
            declaration.fill_in(&mut bytes, &examination.earned)?;
        }
        Ok(Completed {
            conformance: examination.earned,
            findings: examination.findings,
            low_contrast: examination.low_contrast,
            bytes,
            page_count: self.page_count,
            pages_by_part: self.pages_by_part,
            warnings: self.warnings.finish(),
        })
    }
}

/// Completes a document. `pages` are all of its pages, and `warnings` those of earlier steps.
pub(crate) fn complete_document(
    mut document: Document,
    pages: &[ObjectNumber],
    completion: Completion,
    mut warnings: Warnings,
) -> Result<Draft, PdfError> {
    let Completion {
        facts,
        has_running_text,
        language,
        format,
        instant,
        identifier,
        pages_by_part,
    } = completion;
    remove_former_completion(&mut document)?;
    links::remove_unsafe_links(&mut document, pages, &mut warnings)?;
    language::set_language(&mut document, language.as_deref(), facts.language.as_deref())?;
    let mut wrappers = Vec::new();
    if format == OutputFormat::PdfA2b {
        pages::check_sizes(&document, pages)?;
        link_descriptions::describe_links(&mut document, pages)?;
        let noted = limits::enforce_limits(&mut document, &mut warnings)?;
        let private_codes = unicode_maps::repair_unicode_maps(&mut document, &noted.fonts)?;
        if noted.fonts.is_empty() {
            decoration::add_empty_structure(&mut document)?;
        }
        list_items::add_list_bodies(&mut document, &noted.list_items)?;
        table_cells::add_empty_cells(&mut document, &noted.tables)?;
        figures::group_figures(&mut document, &noted.figures)?;
        let mut structure = StructureTree::of(&document)?;
        let mut marker = Marker::new(structure.as_mut(), private_codes);
        marker.has_running_text = has_running_text;
        let loose = drawings::repair_drawings(&mut document, marker, pages, &noted.drawings, &mut warnings)?;
        if let Some(mut structure) = structure {
            loose_text::tag_loose_text(&mut document, &mut structure, pages, &loose)?;
            link_elements::add_link_elements(&mut document, &mut structure, pages, &pages_by_part)?;
            structure.finish(&mut document)?;
        }
        output_intent::add_output_intent(&mut document)?;
        role_map::add_role_map(&mut document)?;
        wrappers = noted.wrappers;
    }
    pictures::warn_of_coarse_pictures(&document, pages, &mut warnings);
    let metadata = Metadata::new(facts, language, instant, identifier, &mut warnings);
    let (packet, declaration) = match format {
        OutputFormat::Pdf => (metadata.packet(&[]), None),
        OutputFormat::PdfA2b => {
            let declaration = Declaration::new(metadata.clone());
            (declaration.packet(&[Conformance::PdfA2b]), Some(declaration))
        }
    };
    let information = metadata.write(&mut document, &packet)?;
    let trailer = trailer(&mut document, information, identifier)?;
    let merged = MergedElement::list(&document, &wrappers);
    Ok(Draft {
        file: write_document(document, &merged, trailer)?,
        declaration,
        page_count: pages.len(),
        pages_by_part,
        warnings,
    })
}

/// Packs the file while its objects and content are examined. Its structure is checked once it is packed, so that two threads work
/// at any time: on two cores, a third one would slow down the longest one.
fn pack_and_examine(
    file: &WrittenFile,
    pages_by_part: &[usize],
    is_archive: bool,
) -> (Option<Vec<u8>>, Result<Examination, PdfError>) {
    if !is_archive {
        return (pack(file), Ok(Examination::default()));
    }
    // Locked while the file is packed. If that hasn't begun, for lack of a thread, there is nothing to wait for.
    let packing = Mutex::new(());
    concurrently(
        || {
            let _guard = packing.lock();
            pack(file)
        },
        || examine_archive(&file.bytes, pages_by_part, || drop(packing.lock())),
    )
}

/// Examines the finished file. It is declared PDF/A only if it is known to be, so that neither a change here nor the
/// next version of Chromium can break conformance unnoticed.
fn examine_archive(
    bytes: &[u8],
    pages_by_part: &[usize],
    before_structure: impl FnOnce(),
) -> Result<Examination, PdfError> {
    examine_after(bytes, pages_by_part, before_structure).map_err(|violations| PdfError::NotConformant {
        clause: violations.first().map_or("6", |violation| violation.clause),
        message: violations.first().map_or_else(String::new, ToString::to_string),
    })
}

/// Removes everything that `complete` adds, so that completing a document again does not add it twice.
fn remove_former_completion(document: &mut Document) -> Result<(), PdfError> {
    let root = document.root()?;
    let mut catalog = document.get_dictionary(root, "expected a catalog")?;
    let metadata = catalog.remove("Metadata");
    let intents = catalog.remove("OutputIntents");
    let intents = intents.as_ref().and_then(Object::as_array).unwrap_or_default();
    let profiles = intents
        .iter()
        .filter_map(|intent| intent.as_dictionary()?.get("DestOutputProfile"));
    for number in metadata.iter().chain(profiles).filter_map(Object::as_reference) {
        document.remove(number);
    }
    document.set(root, Object::Dictionary(catalog));
    Ok(())
}

fn trailer<'a>(
    document: &mut Document<'a>,
    information: Dictionary<'a>,
    identifier: [u8; 16],
) -> Result<Dictionary<'static>, PdfError> {
    let root = document.root()?;
    let information = Object::Dictionary(information);
    let former = document.trailer().reference("Info");
    let information_number = match former.filter(|number| is_information(document, *number)) {
        Some(number) => {
            document.set(number, information);
            number
        }
        None => document.add(information),
    };
    Ok(trailer_of(root, information_number, identifier))
}

/// Returns a trailer without `/Size`.
pub(crate) fn trailer_of(root: ObjectNumber, information: ObjectNumber, identifier: [u8; 16]) -> Dictionary<'static> {
    let identifier = Object::String(identifier.to_vec().into());
    Dictionary::new([
        ("Root", Object::Reference(root)),
        ("Info", Object::Reference(information)),
        ("ID", Object::Array(vec![identifier.clone(), identifier])),
    ])
}

/// Returns whether an object is document information (ISO 32000-1, 14.3.3) and nothing else, so that it can be
/// replaced.
fn is_information(document: &Document, number: ObjectNumber) -> bool {
    match document.get(number) {
        Ok(Object::Dictionary(information)) => {
            let is_text = |value: &Object| matches!(value, Object::String(_) | Object::Name(_));
            information
                .entries
                .iter()
                .all(|(key, value)| key.as_ref() != b"Type" && is_text(value))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
