//! The option `pages`, which selects the pages of the document to retain.

use platen_pdf::PageSelection;

/// Parses a page selection; an empty text selects all pages. Fails with a message.
pub(super) fn selection(pages: &str) -> Result<Option<PageSelection>, String> {
    if pages.is_empty() {
        return Ok(None);
    }
    let selection = PageSelection::parse(pages).map_err(|error| format!("Must be pages such as 1, 3-5: {error}"))?;
    Ok(Some(selection))
}
