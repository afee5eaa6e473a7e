//! The page tree (ISO 32000-1, 7.7.3).

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// How deep page tree nodes may stand in each other. Chromium puts eight in one: 20,000 pages are five deep.
const MAX_DEPTH: usize = 32;
/// Kids of a node that we write. A reader goes through the kids of each node on its way to a page.
const MAX_KIDS: usize = 64;

/// The numbers of the pages' objects under a catalog, first page first.
pub(crate) fn list_pages(document: &Document, root: ObjectNumber) -> Result<Vec<ObjectNumber>, PdfError> {
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

/// Puts the pages, which are at least one, into a new tree under the catalog. Nothing is inherited in it: Chromium
/// writes all that a page has on the page.
pub(crate) fn write_page_tree(document: &mut Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    let mut level: Vec<(ObjectNumber, usize)> = pages.iter().map(|page| (*page, 1)).collect();
    while level.len() > 1 || level.first().is_some_and(|(number, _)| pages.first() == Some(number)) {
        let mut parents = Vec::with_capacity(level.len().div_ceil(MAX_KIDS));
        for kids in level.chunks(MAX_KIDS) {
            let parent = document.add(Object::Null);
            for (number, _) in kids {
                let mut kid = document.get_dictionary(*number, "a page expected")?;
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
    let root = document.root()?;
    let mut catalog = document.get_dictionary(root, "a catalog expected")?;
    if let Some((tree, _)) = level.first() {
        catalog.set("Pages", Object::Reference(*tree));
    }
    document.set(root, Object::Dictionary(catalog));
    Ok(())
}

/// Left, bottom, right and top of a page in points. Chromium writes a `/MediaBox` on every page; none is inherited.
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

/// Width and height of a page in points.
pub(crate) fn page_size(document: &Document, number: ObjectNumber) -> Result<(f64, f64), PdfError> {
    let page = document.get_dictionary(number, "a page expected")?;
    let [left, bottom, right, top] =
        media_box(&page).ok_or_else(|| document.damaged(number, "a /MediaBox expected"))?;
    Ok((right - left, top - bottom))
}
