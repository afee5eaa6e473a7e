//! Assembles printed parts into one document: joins them, draws headers and footers, selects pages, draws the
//! watermark, and completes the document.

use std::borrow::Cow;
use std::mem::take;

use sha2::{Digest as _, Sha256};

use crate::archive::{Completion, Draft, Warnings, complete_document, valid_language};
use crate::digest::first_half;
use crate::document::Document;
use crate::identifiers::number_identifiers;
use crate::join::{PartFacts, join_files};
use crate::object::{MAX_OBJECTS, Object, ObjectNumber};
use crate::object_streams::unpack;
use crate::overlay::Overlay;
use crate::page_tree::{list_pages, page_size};
use crate::part::Part;
use crate::reach::remove_unreachable;
use crate::select::select_pages;
use crate::stamp::draw_stamps;
use crate::text::{clean, fit};
use crate::watermark::draw_watermark;
use crate::{Assembly, Completed, PageFacts, PageSelection, PdfError};

/// Largest number of bytes that can be joined. Joining takes several times as much memory.
const MAX_BYTES: usize = 1024 * 1024 * 1024;
/// Bytes at each end of a file from which the identifier is derived.
const DIGESTED_LENGTH: usize = 64 * 1024;

pub(crate) fn assemble(assembly: Assembly) -> Result<Completed, PdfError> {
    // The printed files are dropped before the document is packed. At most three copies are in memory, while the document is written.
    draft(assembly)?.finish()
}

fn draft(mut assembly: Assembly) -> Result<Draft, PdfError> {
    let printed = assembly.parts.iter_mut().map(|part| take(&mut part.bytes));
    let stamps = assembly.stamps.iter().map(|stamps| stamps.bytes.into());
    let mut files = unpack_all(printed.chain(stamps))?;
    files.iter_mut().for_each(number_identifiers);
    let files: Vec<&[u8]> = files.iter().map(AsRef::as_ref).collect();
    let mut document = Document::open(&files)?;
    check_limit("objects", document.size() as usize, MAX_OBJECTS)?;

    let mut warnings = Warnings::default();
    let facts = assembly.parts.iter().map(|part| part_facts(&part.facts, &mut warnings));
    let facts: Vec<PartFacts> = facts.collect();
    let pages_by_file = list_pages_by_file(&document)?;
    let (pages_by_part, drawn) = pages_by_file.split_at(assembly.parts.len());
    check_page_count(pages_by_part, assembly.page_limit)?;
    let mut pages = pages_by_part.concat();
    let selected_by_part = count_selected(pages_by_part, assembly.selection.as_ref());
    if files.len() > 1 {
        join_files(&mut document, &facts, &pages_by_file)?;
    }
    let mut overlay = Overlay::default();
    draw_stamps(&mut document, &mut overlay, &pages, &assembly.stamps, drawn)?;
    if let Some(selection) = &assembly.selection {
        pages = select_pages(&mut document, &pages, selection)?;
    }
    if let Some(watermark) = assembly.watermark {
        draw_watermark(&mut document, &mut overlay, &pages, watermark)?;
    }
    if files.len() > 1 || assembly.selection.is_some() {
        remove_unreachable(&mut document)?;
    }
    let no_facts = PageFacts::default();
    let completion = Completion {
        facts: assembly.parts.first().map_or(&no_facts, |part| &part.facts),
        has_running_text: assembly.parts.iter().all(|part| part.facts.has_running_text),
        language: common_language(&facts, &selected_by_part),
        format: assembly.format,
        instant: assembly.instant,
        identifier: identifier(&document, &assembly),
        pages_by_part: selected_by_part,
    };
    complete_document(document, &pages, completion, warnings)
}

pub(crate) fn page_sizes(parts: &[&[u8]], page_limit: usize) -> Result<Vec<Vec<(f64, f64)>>, PdfError> {
    let files = unpack_all(parts.iter().map(|part| Cow::Borrowed(*part)))?;
    let files: Vec<&[u8]> = files.iter().map(AsRef::as_ref).collect();
    let document = Document::open(&files)?;
    let pages_by_part = list_pages_by_file(&document)?;
    check_page_count(&pages_by_part, page_limit)?;
    let sizes = |pages: &Vec<ObjectNumber>| pages.iter().map(|page| page_size(&document, *page)).collect();
    pages_by_part.iter().map(sizes).collect()
}

/// Unpacks all files. Fails if they have more than [`MAX_BYTES`] together.
fn unpack_all<'a>(files: impl Iterator<Item = Cow<'a, [u8]>>) -> Result<Vec<Cow<'a, [u8]>>, PdfError> {
    let mut unpacked = Vec::new();
    let mut length = 0;
    for file in files {
        let file = match unpack(&file)? {
            Cow::Owned(unpacked) => Cow::Owned(unpacked),
            Cow::Borrowed(_) => file,
        };
        length += file.len();
        check_limit("bytes", length, MAX_BYTES)?;
        unpacked.push(file);
    }
    Ok(unpacked)
}

fn list_pages_by_file(document: &Document) -> Result<Vec<Vec<ObjectNumber>>, PdfError> {
    let pages = document
        .parts()
        .iter()
        .map(|part| list_pages(document, Document::root_of(part)?));
    pages.collect()
}

fn check_limit(what: &'static str, found: usize, limit: usize) -> Result<(), PdfError> {
    if found > limit {
        return Err(PdfError::TooLarge { what, found, limit });
    }
    Ok(())
}

fn check_page_count(pages_by_part: &[Vec<ObjectNumber>], limit: usize) -> Result<(), PdfError> {
    let mut pages = 0;
    let mut first_beyond = None;
    for (part, own) in pages_by_part.iter().enumerate() {
        pages += own.len();
        if pages > limit {
            first_beyond.get_or_insert(part);
        }
    }
    first_beyond.map_or(Ok(()), |part| Err(PdfError::TooManyPages { part, pages, limit }))
}

/// Counts the selected pages of each part.
fn count_selected(pages_by_part: &[Vec<ObjectNumber>], selection: Option<&PageSelection>) -> Vec<usize> {
    let mut number = 0;
    let counts = pages_by_part.iter().map(|pages| {
        let numbers = number + 1..=number + pages.len();
        number += pages.len();
        match selection {
            Some(selection) => numbers.filter(|number| selection.contains(*number)).count(),
            None => pages.len(),
        }
    });
    counts.collect()
}

fn part_facts(facts: &PageFacts, warnings: &mut Warnings) -> PartFacts {
    let title = facts.title.as_deref().and_then(clean);
    let language = valid_language(facts.language.as_deref(), warnings);
    PartFacts {
        title: title.map(|title| fit(&title).to_owned()),
        language: language.or_else(|| facts.fallback_language.clone()),
    }
}

/// Returns the language of the document: that of the first part. `None` if any part has no language, because that part would
/// inherit it. Only parts with selected pages count.
fn common_language(facts: &[PartFacts], selected_by_part: &[usize]) -> Option<String> {
    let selected = facts.iter().zip(selected_by_part).filter(|(_, pages)| **pages > 0);
    let languages: Option<Vec<&String>> = selected.map(|(facts, _)| facts.language.as_ref()).collect();
    languages?.first().copied().cloned()
}

/// Returns the identifier (ISO 32000-1, 14.4): that of an unchanged document of one part, or a new one derived from
/// everything in which documents of the same instant differ. The beginning of a file contains its first page, the end
/// the offset of every object; a digest of the whole file would take a fifth of the total time.
fn identifier(document: &Document, assembly: &Assembly) -> [u8; 16] {
    let trailer = document.trailer();
    let identifiers = trailer.get("ID").and_then(Object::as_array);
    let first = identifiers.and_then(<[Object]>::first).and_then(Object::as_string);
    let is_untouched = document.parts().len() == 1 && assembly.selection.is_none() && assembly.watermark.is_none();
    let former = first.filter(|_| is_untouched).and_then(|first| first.try_into().ok());
    former.unwrap_or_else(|| {
        let mut digest = Sha256::new();
        digest.update(assembly.instant.unix_timestamp_nanos().to_be_bytes());
        for end in document
            .parts()
            .iter()
            .flat_map(|part: &Part| part.ends(DIGESTED_LENGTH))
        {
            digest.update(end);
        }
        for page in assembly.stamps.iter().flat_map(|stamps| &stamps.pages) {
            digest.update(page.to_be_bytes());
        }
        if let Some(selection) = &assembly.selection {
            digest.update(selection.to_string());
        }
        if let Some(watermark) = assembly.watermark {
            digest.update(watermark.word());
        }
        first_half(digest)
    })
}

#[cfg(test)]
pub(crate) mod tests;
