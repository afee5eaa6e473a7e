//! Joins printed parts: one page tree, one structure tree, one outline, one set of destinations.

mod destinations;
pub(crate) mod equal_objects;
mod outline;
pub(crate) mod structure;

use crate::PdfError;
use crate::document::Document;
use crate::object::ObjectNumber;
use crate::page_tree::write_page_tree;
use equal_objects::share_equal_objects;

/// Title and language of a part.
#[derive(Debug)]
pub(crate) struct PartFacts {
    /// Clean, and short enough for a string.
    pub(crate) title: Option<String>,
    /// A valid language tag.
    pub(crate) language: Option<String>,
}

/// Joins the files of the document: the first ones are the `parts`, the others are stamps, drawn over them later.
/// `pages_by_file` are the pages of each file. The document must be unchanged.
pub(crate) fn join_files(
    document: &mut Document,
    parts: &[PartFacts],
    pages_by_file: &[Vec<ObjectNumber>],
) -> Result<(), PdfError> {
    let has_several_parts = parts.len() > 1;
    // First everything that determines how the files are read.
    if has_several_parts {
        structure::separate_keys(document)?;
        destinations::join_destinations(document, parts.len())?;
    }
    share_equal_objects(document, &pages_by_file.concat())?;
    if has_several_parts {
        let pages_by_part = &pages_by_file[..parts.len()];
        write_page_tree(document, &pages_by_part.concat())?;
        structure::join_structure(document, parts)?;
        outline::join_outlines(document, parts, pages_by_part)?;
    }
    Ok(())
}
