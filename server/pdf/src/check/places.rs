//! Adds texts and rectangles to findings. Only pages with findings are read again, so that a document without any is
//! examined as fast as possible.

pub(crate) mod area;
pub(crate) mod fonts;
mod page_places;
pub(crate) mod painter;
pub(crate) mod path;

use std::collections::BTreeMap;

use super::levels::{Finding, LevelFindings, MAX_FINDINGS, MAX_TEXT};
use super::rules;
use super::structure::{PartRanks, Tree};
use crate::document::Document;
use crate::object::{Object, ObjectNumber};
use crate::page_tree::page_size;
use crate::text::decode;
use area::{Area, Spot};
use fonts::Fonts;
use page_places::PagePlaces;
use painter::Painter;

/// Most runs of untagged text, and of untagged graphics, that are noted on one page: the findings of a page leave room
/// for those of others.
pub(super) const MAX_RUNS: usize = 20;

/// Adds texts and rectangles to findings on pages, and returns at most [`MAX_FINDINGS`]. A finding for untagged content
/// is replaced by one for each run of such content on its page, up to a limit for each page. `pages_by_part` are the
/// numbers of pages of each part, if they are known.
pub(super) fn locate(
    document: &Document,
    pages: &[ObjectNumber],
    tree: Option<&Tree>,
    mut levels: LevelFindings,
    pages_by_part: &[usize],
) -> Vec<Finding> {
    let page_numbers = std::mem::take(&mut levels.page_numbers);
    let mut ranks = tree.map(|tree| PartRanks::new(tree, pages_by_part, &page_numbers));
    let findings = levels.listed();
    let mut places = Places::new(document, pages);
    let mut located = Vec::with_capacity(findings.len());
    // Room for runs beyond one for each finding.
    let mut room = MAX_FINDINGS - findings.len();
    for mut finding in findings {
        if let (Some(element), Some(ranks)) = (&mut finding.element, &mut ranks) {
            ranks.complete(element);
        }
        let contents = match (&finding.element, tree) {
            (Some(element), Some(tree)) => tree.contents_of(element.object),
            _ => Vec::new(),
        };
        let first_page = contents
            .iter()
            .find_map(|content| page_numbers.get(&content.page).copied());
        finding.page = first_page.or(finding.page);
        let Some(page) = finding.page else {
            located.push(finding);
            continue;
        };
        finding.page_size = pages.get(page - 1).and_then(|number| page_size(document, *number).ok());
        let on_page = places.of(page);
        let is_rule = |rule: &'static rules::Rule| std::ptr::eq(finding.rule, rule);
        let runs = if is_rule(&rules::UNTAGGED_TEXT) {
            &on_page.untagged_texts[..]
        } else if is_rule(&rules::UNTAGGED_GRAPHICS) {
            &on_page.untagged_graphics[..]
        } else {
            &[]
        };
        let located_runs = runs.iter().map(|spot| with_spot(finding.clone(), spot));
        located.extend(located_runs.take(1 + room));
        room -= runs.len().saturating_sub(1).min(room);
        if !runs.is_empty() {
            continue;
        }
        let mut spot = Spot::default();
        for content in &contents {
            if let Some(part) = on_page.contents.get(&(content.owner, content.identifier)) {
                spot.join(part);
            }
        }
        let finding = with_spot(finding, &spot);
        located.push(with_annotation(document, finding));
    }
    located
}

/// Places on pages, each page read when it is needed.
pub(crate) struct Places<'d, 'a> {
    document: &'d Document<'a>,
    pages: &'d [ObjectNumber],
    fonts: Fonts,
    by_page: BTreeMap<usize, PagePlaces>,
}

impl<'d, 'a> Places<'d, 'a> {
    /// `pages` are all pages of the document, in order.
    pub(crate) fn new(document: &'d Document<'a>, pages: &'d [ObjectNumber]) -> Self {
        Self {
            document,
            pages,
            fonts: Fonts::default(),
            by_page: BTreeMap::new(),
        }
    }

    /// Returns the beginning of the text of marked content on a page, by its number from 1. The content is given by the
    /// page or form that contains it, and its identifier.
    pub(crate) fn text(&mut self, page: usize, content: (ObjectNumber, i64)) -> Option<String> {
        self.of(page).contents.get(&content)?.text()
    }

    /// Returns the places on a page, by its number from 1. Those that can't be read are left out.
    fn of(&mut self, page: usize) -> &PagePlaces {
        let Self {
            document,
            pages,
            fonts,
            by_page,
        } = self;
        by_page.entry(page).or_insert_with(|| {
            let mut places = PagePlaces::default();
            if let Some(number) = pages.get(page - 1) {
                // The places that were found before an error are kept.
                let _ = Painter::new(document, fonts, &mut places).page(*number);
            }
            places
        })
    }
}

fn with_spot(finding: Finding, spot: &Spot) -> Finding {
    Finding {
        text: spot.text(),
        rectangle: spot.area.map(|Area(corners)| corners),
        ..finding
    }
}

/// Adds rectangle and description if the object is an annotation.
fn with_annotation(document: &Document, finding: Finding) -> Finding {
    let object = finding
        .object
        .and_then(|number| document.get_dictionary(number, "expected an object").ok());
    let Some(annotation) = object.filter(|object| object.get("Rect").is_some()) else {
        return finding;
    };
    let corners: Vec<f64> = annotation.items("Rect").iter().filter_map(Object::as_number).collect();
    let area = match corners[..] {
        [left, bottom, right, top] => Area::of([(left, bottom), (right, top)]),
        _ => None,
    };
    let text = annotation.get("Contents").and_then(Object::as_string).map(decode);
    Finding {
        text: text.map(|text| text.chars().take(MAX_TEXT).collect()),
        rectangle: area.map(|Area(corners)| corners),
        ..finding
    }
}
