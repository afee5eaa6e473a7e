//! Completes the PDFs that Chromium prints: bytes in, bytes out. No tokio, no browser, no HTTP.

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
    /// Stable name, for instance `missing_glyph`.
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

/// Completes a tagged PDF printed by Chromium. `instant` becomes the creation and modification date.
pub fn complete(
    printed: &[u8],
    facts: &PageFacts,
    format: OutputFormat,
    instant: OffsetDateTime,
) -> Result<Completed, PdfError> {
    archive::complete(printed, facts, format, instant)
}
