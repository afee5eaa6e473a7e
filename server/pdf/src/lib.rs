//! Joins, completes, validates and rasterizes the PDFs that Chromium prints: bytes in, bytes out. Uses no tokio,
//! browser or HTTP.

#![warn(missing_docs)]

pub mod check;
pub mod collection;
pub mod inspect;
pub mod raster;

mod annotations;
mod archive;
mod assemble;
mod concurrency;
mod content;
mod destinations;
mod digest;
mod document;
mod file;
mod identifiers;
mod join;
mod lexer;
mod matrix;
mod mentions;
mod merged_elements;
mod object;
mod object_streams;
mod outline;
mod overlay;
mod page_tree;
mod parse;
mod part;
mod reach;
mod select;
mod selection;
mod stamp;
mod structure_elements;
mod text;
mod trees;
mod watermark;
mod write;
mod written_file;
mod xmp;

use std::borrow::Cow;

use time::OffsetDateTime;

pub use selection::{PageSelection, PageSelectionError};

/// Metadata of a page, read from its DOM, because Chromium writes `en-US` for a page without a language and never
/// writes an author. Texts are as in the page; they are cleaned here. A property that is `None` or blank is left out of
/// the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// `<title>`.
    pub title: Option<String>,
    /// `<html lang>`. Left out, with a warning, if it does not have the form of a BCP 47 tag.
    pub language: Option<String>,
    /// Language if the page names none, or one that is left out. Not from the DOM.
    pub fallback_language: Option<String>,
    /// `<meta name="author">`.
    pub author: Option<String>,
    /// `<meta name="description">`; the PDF's subject.
    pub description: Option<String>,
    /// `<meta name="keywords">`.
    pub keywords: Option<String>,
    /// Whether the browser drew a header or footer with text over each page. Not from the DOM.
    pub has_running_text: bool,
}

/// Kind of PDF to produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFormat {
    /// PDF/A, ISO 19005-2: level B at least. The file declares level U or A, and PDF/UA-1, if it conforms to them.
    #[default]
    PdfA2b,
    /// Plain PDF with metadata, without validation.
    Pdf,
}

/// A printed part and the metadata of its page.
#[derive(Debug, Clone)]
pub struct PrintedPart<'a> {
    /// The PDF as Chromium printed it, tagged or not. An owned value saves a copy.
    pub bytes: Cow<'a, [u8]>,
    /// Title and language apply to the part. The first part's facts, apart from its language, also apply to the document.
    pub facts: PageFacts,
}

/// Running headers and footers, printed separately and drawn over pages of the document.
#[derive(Debug, Clone)]
pub struct Stamps<'a> {
    /// The PDF that contains the stamps, printed without tags.
    pub bytes: &'a [u8],
    /// Arrangement of the stamps in the PDF.
    pub layout: StampLayout,
    /// Numbers, from 1, of the pages of the joined document, before selection, over which the stamps are drawn: one for
    /// each stamp, in their order.
    pub pages: Vec<usize>,
}

/// Arrangement of stamps in the file that they were printed to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StampLayout {
    /// Each stamp on a page of its own, which has the size of the page that the stamp is drawn over.
    Pages,
    /// All stamps on one page, in boxes below each other at its left edge. Each stamp is clipped to its box, which has
    /// the size of the page that the stamp is drawn over. Boxes are at least half an inch apart.
    Column {
        /// Distance from the top of a box to the top of the next, in points.
        pitch: f64,
    },
}

/// A word across every page, large and translucent, so that the content below stays legible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watermark {
    /// `TEST`, for documents made in test mode.
    Test,
    /// `PREVIEW`, for previews of a document.
    Preview,
}

/// Printed parts, and the document to make of them.
#[derive(Debug, Clone)]
pub struct Assembly<'a> {
    /// Parts in the order of their pages; at least one.
    pub parts: Vec<PrintedPart<'a>>,
    /// Headers and footers, drawn in this order.
    pub stamps: Vec<Stamps<'a>>,
    /// Most pages that the parts may have together, regardless of the selection; more are [`PdfError::TooManyPages`].
    pub page_limit: usize,
    /// Pages of the joined document to select; all if `None`.
    pub selection: Option<PageSelection>,
    /// Watermark to draw over each selected page.
    pub watermark: Option<Watermark>,
    /// Kind of PDF to produce.
    pub format: OutputFormat,
    /// Creation and modification date, written in UTC and whole seconds.
    pub instant: OffsetDateTime,
}

/// A finished document.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// The PDF file.
    pub bytes: Vec<u8>,
    /// Standards that the file declares, which are all that it was found to conform to: the highest level of PDF/A, then
    /// PDF/UA-1. Empty for plain PDF.
    pub conformance: Vec<check::standards::Conformance>,
    /// What prevents the file from conforming to more. Empty for plain PDF, which isn't examined.
    pub findings: Vec<check::levels::Finding>,
    /// See [`check::Examination::low_contrast`]. Empty for plain PDF.
    pub low_contrast: Vec<check::contrast::LowContrast>,
    /// Number of pages, at least 1.
    pub page_count: usize,
    /// Number of these pages that come from each part, in the order of the parts.
    pub pages_by_part: Vec<usize>,
    /// Visible changes and omissions, for the author of the page.
    pub warnings: Vec<Warning>,
}

/// A change or problem that the author of the page should know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable code: `link_removed`, `missing_glyph`, `language_invalid`, `text_shortened`, `name_shortened`,
    /// `number_limited` or `image_low_resolution`.
    pub code: &'static str,
    /// A sentence for display, with page and value where they are known.
    pub message: String,
}

/// Why a document can't be assembled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PdfError {
    /// The bytes are not a PDF as Chromium writes it.
    #[error("damaged PDF at byte {offset}: {what}")]
    Damaged {
        /// Offset in bytes from the start of the file, or of its form returned by [`unpack`].
        offset: usize,
        /// What was expected, or what is wrong.
        what: &'static str,
    },
    /// The parts together have more pages than allowed.
    #[error("the document has {pages} pages; {limit} are allowed")]
    TooManyPages {
        /// Index of the part with the first page beyond the limit.
        part: usize,
        /// Number of pages of all parts.
        pages: usize,
        /// See [`Assembly::page_limit`].
        limit: usize,
    },
    /// ISO 19005-2, 6.1.13: a page side must be between 3 and 14,400 points.
    #[error("page {page} measures {width} × {height} pt; PDF/A allows 3 to 14,400 pt a side")]
    PageSize {
        /// Index of the part that the page belongs to.
        part: usize,
        /// Page number in the resulting document, from 1.
        page: usize,
        /// Width in points.
        width: f64,
        /// Height in points.
        height: f64,
    },
    /// The selection or a stamp names a page that the document doesn't have.
    #[error("page {page} is beyond the end; the document has {page_count} pages")]
    PageBeyondEnd {
        /// Page number, from 1.
        page: usize,
        /// Number of pages of the whole document, before selection.
        page_count: usize,
    },
    /// The number of stamps differs from the number of pages that they are drawn over.
    #[error("{stamps} headers and footers for {pages} pages")]
    StampCount {
        /// Number of pages of the stamps' PDF.
        stamps: usize,
        /// Number of pages that the stamps are drawn over.
        pages: usize,
    },
    /// The parts together are too large to be joined: more than 1 GiB, or more than 8,388,607 objects. See also
    /// [`collection::Collection`].
    #[error("the parts have {found} {what} together; at most {limit} can be joined")]
    TooLarge {
        /// `bytes`, `objects` or `pages`.
        what: &'static str,
        /// Number found.
        found: usize,
        /// Largest number allowed.
        limit: usize,
    },
    /// The finished file is not PDF/A-2b, or is not known to be.
    #[error("not known to conform to PDF/A-2b: {message}")]
    NotConformant {
        /// Clause of ISO 19005-2; see [`check::Violation::clause`].
        clause: &'static str,
        /// The first violation, for readers who know PDF.
        message: String,
    },
}

impl PdfError {
    pub(crate) const fn damaged(offset: usize, what: &'static str) -> Self {
        Self::Damaged { offset, what }
    }
}

/// Assembles printed parts into one document and completes it.
///
/// Parts follow each other in one page tree. Their outlines are placed under one entry per part, named by its title, or
/// `Part 3`. Their structure trees are joined under one `Document`, as `Part`s with title and language. Names of
/// destinations are made unique, and equal objects, mainly fonts and images, are written once. Stamps are drawn over
/// the pages as artifacts. Then pages that are not selected are removed, with everything that only they use: links to
/// them become plain text, and outline entries remain if an entry below them does. The watermark is drawn last, also as
/// an artifact. Warnings refer to page numbers of the resulting document.
///
/// The document's language is that of the first part with selected pages, if all of these parts have one. Otherwise, it has
/// none, and each part has its own.
///
/// Tags, outline, images and fonts remain as they are, byte for byte unless something has to change. Title, author,
/// subject and keywords are those of the first part's facts, regardless of what the browser wrote. Links
/// remain if they lead into the document or to an `http`, `https`, `mailto`, `tel`, `sms` or `ftp` address of at most
/// 32,767 bytes. For PDF/A-2b, the limits and conditions of ISO 19005-2 are enforced as well: output intent, long names
/// and texts, numbers out of range, characters that no font has. So are those of higher levels that don't depend on the
/// author: roles of newer tags, text of glyphs (U+FFFD for private use), descriptions and elements of links, bodies of
/// list items, tags of generated text, and artifacts for what is painted outside of tags, unless it is text. The file is
/// then checked; if it does not pass, the result is [`PdfError::NotConformant`].
///
/// Every change that the author of the page might notice is reported as a warning: at most twenty per code, then their
/// number. Completing a completed document again changes nothing but the dates.
///
/// Objects are written in object streams (ISO 32000-1, 7.5.7) where that is allowed, except in documents over 256 MiB.
///
/// The output is deterministic: the same assembly gives the same bytes. So do two prints of the same page with the same
/// facts, `instant`, fonts and browser, regardless of when they were printed and what the browser printed before.
pub fn assemble(assembly: Assembly) -> Result<Completed, PdfError> {
    assemble::assemble(assembly)
}

/// Returns width and height, in points, of each page of each printed part, from its `/MediaBox`. Fails with
/// [`PdfError::TooManyPages`] if the parts together have more than `page_limit` pages, and with [`PdfError::TooLarge`]
/// if they have more bytes than can be joined.
pub fn page_sizes(parts: &[&[u8]], page_limit: usize) -> Result<Vec<Vec<(f64, f64)>>, PdfError> {
    assemble::page_sizes(parts, page_limit)
}

/// Returns the index of the part with a page of a document, counted from 1. `pages_by_part` are the numbers of pages of all parts.
pub fn part_of_page(page: usize, pages_by_part: &[usize]) -> Option<usize> {
    let mut last = 0;
    pages_by_part.iter().position(|pages| {
        last += pages;
        page <= last
    })
}

/// Returns the same document without object streams and with a classic cross-reference table (ISO 32000-1, 7.5.4), for
/// programs that search a file for words. A file without object streams is returned unchanged. Fails with
/// [`PdfError::Damaged`] if object streams are not as [`assemble()`] writes them, or contain more than 256 MiB.
pub fn unpack(pdf: &[u8]) -> Result<Cow<'_, [u8]>, PdfError> {
    object_streams::unpack(pdf)
}

/// Completes one printed part: [`assemble()`] without stamps, selection, watermark or page limit.
pub fn complete<'a>(
    printed: impl Into<Cow<'a, [u8]>>,
    facts: &PageFacts,
    format: OutputFormat,
    instant: OffsetDateTime,
) -> Result<Completed, PdfError> {
    assemble(Assembly {
        parts: vec![PrintedPart {
            bytes: printed.into(),
            facts: facts.clone(),
        }],
        stamps: Vec::new(),
        page_limit: usize::MAX,
        selection: None,
        watermark: None,
        format,
        instant,
    })
}
