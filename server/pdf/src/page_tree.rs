//! The page tree (ISO 32000-1, 7.7.3).

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Greatest depth of a page tree. Chromium puts eight kids into a node, so 20,000 pages are five levels deep.
const MAX_DEPTH: usize = 32;
/// Most kids of a node that Platen writes. A reader scans the kids of each node on its way to a page.
const MAX_KIDS: usize = 64;
/// Allowed length of a page side, in points (ISO 19005-2, 6.1.13).
pub(crate) const ALLOWED_SIDE: std::ops::RangeInclusive<f64> = 3.0..=14_400.0;

/// Returns the object numbers of the pages under a catalog, in page order. Fails if there are none.
pub(crate) fn list_pages(document: &Document, root: ObjectNumber) -> Result<Vec<ObjectNumber>, PdfError> {
    let catalog = document.get_dictionary(root, "expected a catalog")?;
    let tree = catalog.get("Pages").and_then(Object::as_reference);
    let tree = tree.ok_or_else(|| document.damaged(root, "expected a page tree in the catalog"))?;

    let mut pages = Vec::new();
    let mut waiting = vec![(tree, 0)];
    // Each number is visited once at most, so that a cycle ends.
    let mut seen = vec![false; document.size() as usize];
    while let Some((number, depth)) = waiting.pop() {
        let is_new = seen
            .get_mut(number as usize)
            .is_some_and(|seen| !std::mem::replace(seen, true));
        if !is_new || depth > MAX_DEPTH {
            return Err(document.damaged(number, "a page tree that is not a tree"));
        }
        let node = document.get_dictionary(number, "expected a page or a page tree node")?;
        match node.get("Kids").map(|kids| document.resolve(kids)).transpose()? {
            Some(Object::Array(kids)) => {
                for kid in kids.iter().rev() {
                    let kid = kid.as_reference();
                    let kid =
                        kid.ok_or_else(|| document.damaged(number, "expected a page tree node with references"))?;
                    waiting.push((kid, depth + 1));
                }
            }
            Some(_) => return Err(document.damaged(number, "expected a page tree node with kids")),
            None if node.get("Type").is_some_and(|kind| kind.is_name("Page")) => pages.push(number),
            None => return Err(document.damaged(number, "expected a page")),
        }
    }
    if pages.is_empty() {
        Err(document.damaged(tree, "expected a page tree with pages"))
    } else {
        Ok(pages)
    }
}

/// Returns the objects that the resources of pages refer to, in page order. Those of several pages are repeated.
pub(crate) fn list_resources(document: &Document, pages: &[ObjectNumber]) -> Result<Vec<ObjectNumber>, PdfError> {
    let mut resources = Vec::new();
    for page in pages {
        let page = document.get_dictionary(*page, "expected a page")?;
        if let Some(of_page) = page.get("Resources") {
            of_page.for_each_reference(&mut |number| resources.push(number));
        }
    }
    Ok(resources)
}

/// Puts the pages, at least one, into a new tree under the catalog.
pub(crate) fn write_page_tree(document: &mut Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    let tree = add_page_tree(document, pages)?;
    document.change_catalog(|catalog| catalog.set("Pages", Object::Reference(tree)))
}

/// Puts the pages, at least one, into a new tree, and returns the number of its root. Pages inherit nothing from it:
/// Chromium writes all attributes of a page on the page.
pub(crate) fn add_page_tree(document: &mut Document, pages: &[ObjectNumber]) -> Result<ObjectNumber, PdfError> {
    let mut level: Vec<(ObjectNumber, usize)> = pages.iter().map(|page| (*page, 1)).collect();
    while level.len() > 1 || level.first().is_some_and(|(number, _)| pages.first() == Some(number)) {
        let mut parents = Vec::with_capacity(level.len().div_ceil(MAX_KIDS));
        for kids in level.chunks(MAX_KIDS) {
            let parent = document.add(Object::Null);
            for (number, _) in kids {
                let mut kid = document.get_dictionary(*number, "expected a page")?;
                kid.set("Parent", Object::Reference(parent));
                document.set(*number, Object::Dictionary(kid));
            }
            let count = kids.iter().map(|(_, count)| count).sum();
            let node = Dictionary::new([
                ("Type", Object::name("Pages")),
                ("Count", Object::count(count)),
                (
                    "Kids",
                    kids.iter().map(|(number, _)| Object::Reference(*number)).collect(),
                ),
            ]);
            document.set(parent, Object::Dictionary(node));
            parents.push((parent, count));
        }
        level = parents;
    }
    let tree = level.first().map(|(tree, _)| *tree);
    tree.ok_or(PdfError::damaged(0, "expected pages"))
}

/// Returns left, bottom, right and top of a page, in points from the origin of user space. Chromium writes a
/// `/MediaBox` on every page; none is inherited.
pub(crate) fn media_box(page: &Dictionary) -> Option<[f64; 4]> {
    let corners: Vec<f64> = page.items("MediaBox").iter().filter_map(Object::as_number).collect();
    let [x, y, opposite_x, opposite_y] = corners.try_into().ok()?;
    Some([
        x.min(opposite_x),
        y.min(opposite_y),
        x.max(opposite_x),
        y.max(opposite_y),
    ])
}

/// Returns width and height of a page, in points.
pub(crate) fn page_size(document: &Document, number: ObjectNumber) -> Result<(f64, f64), PdfError> {
    let page = document.get_dictionary(number, "expected a page")?;
    let [left, bottom, right, top] =
        media_box(&page).ok_or_else(|| document.damaged(number, "expected a /MediaBox"))?;
    Ok((right - left, top - bottom))
}
