//! Completes the PDFs that Chromium prints, and draws their pages: bytes in, bytes out. No tokio, no browser, no HTTP.

pub mod raster;

mod archive;
mod content;
mod document;
mod file;
mod lexer;
mod object;
mod parse;
mod text;
mod write;

use time::OffsetDateTime;

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

/// A finished document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// The file.
    pub bytes: Vec<u8>,
    /// Number of pages, at least 1.
    pub page_count: usize,
    /// What was changed visibly or dropped, for the author of the page.
    pub warnings: Vec<Warning>,
}

/// Something the author of the page should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable name: `link_removed`, `missing_glyph`, `language_invalid`, `text_shortened`, `name_shortened` or
    /// `number_limited`.
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
        /// Where, in bytes from the start.
        offset: usize,
        /// What was expected.
        what: &'static str,
    },
    /// ISO 19005-2, 6.1.13: a page side must be between 3 and 14,400 points.
    #[error("page {page} measures {width} × {height} pt; PDF/A allows 3 to 14,400 pt a side")]
    PageSize {
        /// One-based.
        page: usize,
        /// Points.
        width: f64,
        /// Points.
        height: f64,
    },
}

/// Completes a PDF printed by Chromium, tagged or not. `instant` becomes the creation and modification date.
///
/// Tags, outline, pictures and fonts stay as they are, byte for byte where nothing has to change. Title, author, subject,
/// keywords and language are those of `facts`, whatever the browser wrote. Links stay if they lead into the document or
/// to an `http`, `https`, `mailto`, `tel`, `sms` or `ftp` address of at most 32,767 bytes. For PDF/A-2b the limits and
/// conditions of ISO 19005-2 are met as well: output intent, long names and texts, numbers out of range, characters that
/// no font has.
///
/// Every change that the author of the page might notice is a warning: at most twenty of a kind, then their number.
/// Completing a completed document again changes nothing but the dates.
pub fn complete(
    printed: &[u8],
    facts: &PageFacts,
    format: OutputFormat,
    instant: OffsetDateTime,
) -> Result<Completed, PdfError> {
    archive::complete(printed, facts, format, instant)
}
