//! Number and depth of the entries of an outline (ISO 32000-1, 12.3.3).

use super::Outline;
use crate::PdfError;
use crate::document::Document;
use crate::object::Dictionary;

pub(super) fn measure_outline(document: &Document, catalog: &Dictionary) -> Result<Outline, PdfError> {
    let mut outline = Outline::default();
    let root = catalog
        .reference("Outlines")
        .map(|number| document.get_dictionary(number, "expected an outline"));
    let first = root.transpose()?.and_then(|root| root.reference("First"));
    let mut waiting: Vec<_> = first.map(|first| (first, 1)).into_iter().collect();
    // Each number is visited once, so that a cycle ends.
    let mut seen = vec![false; document.size() as usize];
    while let Some((number, depth)) = waiting.pop() {
        let is_new = seen
            .get_mut(number as usize)
            .is_some_and(|seen| !std::mem::replace(seen, true));
        if is_new {
            let entry = document.get_dictionary(number, "expected an entry of the outline")?;
            outline.count += 1;
            outline.depth = outline.depth.max(depth);
            waiting.extend(entry.reference("Next").map(|next| (next, depth)));
            waiting.extend(entry.reference("First").map(|first| (first, depth + 1)));
        }
    }
    Ok(outline)
}
