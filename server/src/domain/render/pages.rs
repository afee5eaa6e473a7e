//! `pages`: which pages of the document to keep.

use platen_pdf::PageSelection;

/// The pages that a text selects; the empty one selects all. Fails with what is wrong.
pub(super) fn selection(pages: &str) -> Result<Option<PageSelection>, String> {
    if pages.is_empty() {
        return Ok(None);
    }
    let selection = PageSelection::parse(pages).map_err(|error| format!("Must be pages such as 1, 3-5: {error}"))?;
    Ok(Some(selection))
}
