//! Limits on the size of pages.

use crate::PdfError;
use crate::document::Document;
use crate::object::ObjectNumber;
use crate::page_tree::{ALLOWED_SIDE, page_size};

/// Checks that PDF/A allows the size of each page. Fails with [`PdfError::PageSize`] for the first that it doesn't.
pub(super) fn check_sizes(document: &Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    for (index, number) in pages.iter().enumerate() {
        let (width, height) = page_size(document, *number)?;
        if !ALLOWED_SIDE.contains(&width) || !ALLOWED_SIDE.contains(&height) {
            let readable = |side: f64| (side * 100.0).round() / 100.0;
            let (width, height) = (readable(width), readable(height));
            return Err(PdfError::PageSize {
                part: document.part_index(*number).unwrap_or_default(),
                page: index + 1,
                width,
                height,
            });
        }
    }
    Ok(())
}
