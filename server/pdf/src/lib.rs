//! Joins and completes the PDFs that Chromium prints, and draws their pages: bytes in, bytes out. No tokio, no browser,
//! no HTTP.

pub mod check;
pub mod inspect;
pub mod raster;

mod annotations;
mod archive;
mod assemble;
mod content;
mod destinations;
mod document;
mod file;
mod identifiers;
mod join;
mod lexer;
mod mentions;
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
mod text;
mod trees;
mod watermark;
mod write;
mod xmp;

use std::borrow::Cow;

use time::OffsetDateTime;

pub use selection::{PageSelection, PageSelectionError};

/// What the page says about itself, read from its DOM, because Chromium writes `en-US` where a page has no language and
/// never writes an author. Text as the page has it; it is cleaned here. `None` or blank: the document does not say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// `<title>`.
    pub title: Option<String>,
    /// `<html lang>`, a BCP 47 tag if the author got it right.
    pub language: Option<String>,
    /// `<meta name="author">`.
    pub author: Option<String>,
    /// `<meta name="description">`; the PDF's subject.
    pub description: Option<String>,
    /// `<meta name="keywords">`.
    pub keywords: Option<String>,
}

/// Which kind of PDF is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputFormat {
    /// PDF/A-2b, ISO 19005-2.
    #[default]
    PdfA2b,
    /// Plain PDF with metadata.
    Pdf,
}

/// One printed part and what its page says about itself.
#[derive(Debug, Clone)]
pub struct PrintedPart<'a> {
    /// The PDF as Chromium printed it, tagged or not. It spares a copy to give it away.
    pub bytes: Cow<'a, [u8]>,
    /// Title and language stay with the part. The first part's facts are those of the document as well.
    pub facts: PageFacts,
}

/// What is printed apart and drawn over pages of the document: running headers and footers.
#[derive(Debug, Clone)]
pub struct Stamps<'a> {
    /// Printed without tags.
    pub bytes: &'a [u8],
    /// How they lie there.
    pub layout: StampLayout,
    /// Numbers, from 1, of pages of the joined document before selection, one for each stamp.
    pub pages: Vec<usize>,
}

/// How stamps lie in the file that they were printed to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StampLayout {
    /// Each on a page, of the size of the page that it is for.
    Pages,
    /// All on one page, in boxes below each other at its left edge. Each is clipped to its box, which has the size of
    /// the page that it is for, and lies at least half an inch from the next.
    Column {
        /// Points from the top of a box to that of the next.
        pitch: f64,
    },
}

/// A word across every page, large and pale: what is below can still be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watermark {
    /// `TEST`: nothing that counts.
    Test,
    /// `PREVIEW`: not the document yet.
    Preview,
}

/// What to make of printed parts.
#[derive(Debug, Clone)]
pub struct Assembly<'a> {
    /// In the order of their pages; at least one.
    pub parts: Vec<PrintedPart<'a>>,
    /// Drawn in this order.
    pub stamps: Vec<Stamps<'a>>,
    /// More pages of all parts are an error, whatever is selected.
    pub page_limit: usize,
    /// All pages if there is none.
    pub selection: Option<PageSelection>,
    /// Drawn over each page that is selected.
    pub watermark: Option<Watermark>,
    /// The kind of PDF.
    pub format: OutputFormat,
    /// Becomes the creation and modification date.
    pub instant: OffsetDateTime,
}

/// A finished document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// The file.
    pub bytes: Vec<u8>,
    /// What the file was checked to conform to; nothing for plain PDF.
    pub conformance: Option<check::Conformance>,
    /// Number of pages, at least 1.
    pub page_count: usize,
    /// What was changed visibly or dropped, for the author of the page.
    pub warnings: Vec<Warning>,
}

/// Something the author of the page should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable name: `link_removed`, `missing_glyph`, `language_invalid`, `text_shortened`, `name_shortened`,
    /// `number_limited` or `image_low_resolution`.
    pub code: &'static str,
    /// A sentence for people, with page and value.
    pub message: String,
}

/// Why a document can't be completed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PdfError {
    /// The bytes are not a PDF as Chromium writes it.
    #[error("damaged PDF at byte {offset}: {what}")]
    Damaged {
        /// Where, in bytes from the start of the file, or of what [`unpack`] makes of it.
        offset: usize,
        /// What was expected.
        what: &'static str,
    },
    /// The parts have more pages together than they may.
    #[error("the document has {pages} pages; {limit} are allowed")]
    TooManyPages {
        /// Index of the part with the first page that is too much.
        part: usize,
        /// Of all parts.
        pages: usize,
        /// See [`Assembly::page_limit`].
        limit: usize,
    },
    /// ISO 19005-2, 6.1.13: a page side must be between 3 and 14,400 points.
    #[error("page {page} measures {width} × {height} pt; PDF/A allows 3 to 14,400 pt a side")]
    PageSize {
        /// Index of the part that has it.
        part: usize,
        /// One-based, in the document that comes out.
        page: usize,
        /// Points.
        width: f64,
        /// Points.
        height: f64,
    },
    /// A page is selected, or to be stamped, that the document doesn't have.
    #[error("page {page} is beyond the end; the document has {page_count} pages")]
    PageBeyondEnd {
        /// From 1.
        page: usize,
        /// Of the whole document.
        page_count: usize,
    },
    /// Stamps are one for each page that they are for.
    #[error("{stamps} headers and footers for {pages} pages")]
    StampCount {
        /// Pages of the stamps' PDF.
        stamps: usize,
        /// Pages that they are for.
        pages: usize,
    },
    /// The parts are more than can be joined.
    #[error("the parts have {found} {what} together; {limit} can be joined")]
    TooLarge {
        /// `bytes` or `objects`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The finished file is not PDF/A-2b, or not known to be.
    #[error("not known to conform to PDF/A-2b: {message}")]
    NotConformant {
        /// Of ISO 19005-2; see [`check::Violation::clause`].
        clause: &'static str,
        /// The first violation, for people who know PDF.
        message: String,
    },
}

/// Makes one document of printed parts, and completes it.
///
/// Parts follow each other in one page tree. Their outlines stand under one entry for each part, which is named by its
/// title, or `Part 3`. Their structure trees are joined under one `Document` as `Part`s with title and language. Names
/// of destinations are made unique, and what is equal, fonts and pictures above all, is there once. Stamps are drawn
/// over the pages as artifacts. Then all that is not selected goes, with all that only it uses: links to it become
/// plain text, entries of the outline stay if one under them does. Over what is left the watermark is drawn, as an
/// artifact too. Warnings number the pages of the document that comes out.
///
/// Tags, outline, pictures and fonts stay as they are, byte for byte where nothing has to change. Title, author,
/// subject, keywords and language are those of the first part's facts, whatever the browser wrote. Links stay if they
/// lead into the document or to an `http`, `https`, `mailto`, `tel`, `sms` or `ftp` address of at most 32,767 bytes.
/// For PDF/A-2b the limits and conditions of ISO 19005-2 are met as well: output intent, long names and texts, numbers
/// out of range, characters that no font has. So are those of higher levels that depend on no author: roles of newer
/// tags, text of glyphs (U+FFFD for private use), descriptions of links, and tags that say of a document
/// without text and pictures that it is decoration. The file is checked then; one that does not pass is
/// [`PdfError::NotConformant`].
///
/// Every change that the author of the page might notice is a warning: at most twenty of a kind, then their number. A
/// completed document that is completed again changes nothing but the dates.
///
/// Objects stand in object streams (ISO 32000-1, 7.5.7) wherever they may, but in documents over 256 MiB.
///
/// The same assembly gives the same bytes. So do two prints of the same page, whatever the moments at which they were
/// printed and what the browser printed before, with the same facts, `instant`, fonts and browser.
pub fn assemble(assembly: Assembly) -> Result<Completed, PdfError> {
    assemble::assemble(assembly)
}

/// Width and height in points of each page of each printed part: its `/MediaBox`. More pages together than the limit are
/// [`PdfError::TooManyPages`], more bytes than can be joined [`PdfError::TooLarge`].
pub fn page_sizes(parts: &[&[u8]], page_limit: usize) -> Result<Vec<Vec<(f64, f64)>>, PdfError> {
    assemble::page_sizes(parts, page_limit)
}

/// The same document with every object in the open and a classic cross-reference table (ISO 32000-1, 7.5.4), for
/// programs that search a file for words. A file without object streams is given back as it is. Object streams that are
/// not as [`assemble`] writes them, or hold more than 256 MiB, are [`PdfError::Damaged`].
pub fn unpack(pdf: &[u8]) -> Result<Cow<'_, [u8]>, PdfError> {
    object_streams::unpack(pdf)
}

/// Completes one printed part: `assemble` without anything else.
pub fn complete(
    printed: &[u8],
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
