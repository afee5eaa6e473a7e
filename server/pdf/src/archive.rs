//! Completes a printed document: what each pass does, and in which order.

mod content_streams;
mod drawings;
mod language;
mod limits;
mod links;
mod metadata;
mod missing_glyphs;
mod output_intent;
pub(crate) mod pages;
mod warnings;

use md5::{Digest as _, Md5};
use time::OffsetDateTime;

use crate::document::Document;
use crate::object::{Dictionary, Object};
use crate::write::write_document;
use crate::{Completed, OutputFormat, PageFacts, PdfError};
use metadata::Metadata;
use warnings::Warnings;

/// Bytes at either end of a file that its identifier is made of.
const DIGESTED_LENGTH: usize = 64 * 1024;

pub(crate) fn complete(
    printed: &[u8],
    facts: &PageFacts,
    format: OutputFormat,
    instant: OffsetDateTime,
) -> Result<Completed, PdfError> {
    let mut document = Document::open(printed)?;
    let mut warnings = Warnings::default();
    let pages = pages::list_pages(&document)?;
    remove_former_completion(&mut document)?;
    links::remove_unsafe_links(&mut document, &pages, &mut warnings)?;
    let language = language::valid_language(facts.language.as_deref(), &mut warnings);
    language::set_language(&mut document, language.as_deref())?;
    if format == OutputFormat::PdfA2b {
        pages::check_sizes(&document, &pages)?;
        let drawings = limits::enforce_limits(&mut document, &mut warnings)?;
        drawings::mend_drawings(&mut document, &pages, &drawings, &mut warnings)?;
        output_intent::add_output_intent(&mut document)?;
    }
    let identifier = identifier(&document, printed, instant);
    let metadata = Metadata::new(facts, language, instant, identifier, &mut warnings);
    let information = metadata.write(&mut document, format)?;
    let trailer = trailer(&mut document, information, identifier)?;
    Ok(Completed {
        bytes: write_document(&document, &trailer),
        page_count: pages.len(),
        warnings: warnings.finish(),
    })
}

/// Frees what `complete` adds, so that a document that was completed before gets it once.
fn remove_former_completion(document: &mut Document) -> Result<(), PdfError> {
    let root = document.root()?;
    let mut catalog = document.get_dictionary(root, "a catalog expected")?;
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

/// The identifier that the document has, or a new one (ISO 32000-1, 14.4) from what tells documents of one moment apart:
/// the beginning holds the first page, the end the place of every object. To digest all would take a fifth of the time.
fn identifier(document: &Document, printed: &[u8], instant: OffsetDateTime) -> [u8; 16] {
    let identifiers = document.file.trailer.get("ID").and_then(Object::as_array);
    let first = identifiers.and_then(<[Object]>::first).and_then(Object::as_string);
    first.and_then(|first| first.try_into().ok()).unwrap_or_else(|| {
        let mut digest = Md5::new();
        digest.update(instant.unix_timestamp_nanos().to_be_bytes());
        digest.update(&printed[..printed.len().min(DIGESTED_LENGTH)]);
        digest.update(&printed[printed.len().saturating_sub(DIGESTED_LENGTH)..]);
        digest.finalize().into()
    })
}

fn trailer<'a>(
    document: &mut Document<'a>,
    information: Dictionary<'a>,
    identifier: [u8; 16],
) -> Result<Dictionary<'a>, PdfError> {
    let root = document.root()?;
    let information = Object::Dictionary(information);
    let former = document.file.trailer.get("Info").and_then(Object::as_reference);
    let information_number = match former.filter(|number| *number != root && (1..document.size()).contains(number)) {
        Some(number) => {
            document.set(number, information);
            number
        }
        None => document.add(information),
    };
    let identifier = Object::String(identifier.to_vec().into());
    Ok(Dictionary::new([
        ("Size", Object::Integer(i64::from(document.size()))),
        ("Root", Object::Reference(root)),
        ("Info", Object::Reference(information_number)),
        ("ID", Object::Array(vec![identifier.clone(), identifier])),
    ]))
}

#[cfg(test)]
mod tests;
