//! The page tree (ISO 32000-1, 7.7.3).

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// How deep page tree nodes may stand in each other. Chromium puts eight in one: 20,000 pages are five deep.
const MAX_DEPTH: usize = 32;

/// A page side in points (ISO 19005-2, 6.1.13).
const ALLOWED_SIDE: std::ops::RangeInclusive<f64> = 3.0..=14_400.0;

/// The numbers of the pages' objects, first page first.
pub(crate) fn list_pages(document: &Document) -> Result<Vec<ObjectNumber>, PdfError> {
    let root = document.root()?;
    let catalog = document.get_dictionary(root, "a catalog expected")?;
    let tree = catalog.get("Pages").and_then(Object::as_reference);
    let tree = tree.ok_or_else(|| document.damaged(root, "a page tree expected in the catalog"))?;

    let mut pages = Vec::new();
    let mut waiting = vec![(tree, 0)];
    // Each number is seen once at most, so that a tree that bites its tail ends.
    let mut seen = vec![false; document.size() as usize];
    while let Some((number, depth)) = waiting.pop() {
        let is_new = seen
            .get_mut(number as usize)
            .is_some_and(|seen| !std::mem::replace(seen, true));
        if !is_new || depth > MAX_DEPTH {
            return Err(document.damaged(number, "a page tree that is not a tree"));
        }
        let node = document.get_dictionary(number, "a page or a page tree node expected")?;
        match node.get("Kids").map(|kids| document.resolve(kids)).transpose()? {
            Some(Object::Array(kids)) => {
                for kid in kids.iter().rev() {
                    let kid = kid.as_reference();
                    let kid =
                        kid.ok_or_else(|| document.damaged(number, "a page tree node with references expected"))?;
                    waiting.push((kid, depth + 1));
                }
            }
            Some(_) => return Err(document.damaged(number, "a page tree node with kids expected")),
            None if node.get("Type").is_some_and(|kind| kind.is_name("Page")) => pages.push(number),
            None => return Err(document.damaged(number, "a page expected")),
        }
    }
    if pages.is_empty() {
        Err(document.damaged(tree, "a page tree with pages expected"))
    } else {
        Ok(pages)
    }
}

/// Checks that PDF/A allows the size of each page.
pub(super) fn check_sizes(document: &Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    for (index, number) in pages.iter().enumerate() {
        let page = document.get_dictionary(*number, "a page expected")?;
        let (width, height) =
            size(document, &page)?.ok_or_else(|| document.damaged(*number, "a /MediaBox expected"))?;
        if !ALLOWED_SIDE.contains(&width) || !ALLOWED_SIDE.contains(&height) {
            let readable = |side: f64| (side * 100.0).round() / 100.0;
            let (width, height) = (readable(width), readable(height));
            return Err(PdfError::PageSize {
                page: index + 1,
                width,
                height,
            });
        }
    }
    Ok(())
}

/// Width and height in points. Chromium writes a `/MediaBox` on every page; none is inherited.
fn size(document: &Document, page: &Dictionary) -> Result<Option<(f64, f64)>, PdfError> {
    let Some(media_box) = page.get("MediaBox") else {
        return Ok(None);
    };
    let Object::Array(corners) = document.resolve(media_box)? else {
        return Ok(None);
    };
    let corners: Vec<f64> = corners.iter().filter_map(Object::as_number).collect();
    Ok(match corners[..] {
        [left, bottom, right, top] => Some(((right - left).abs(), (top - bottom).abs())),
        _ => None,
    })
}
