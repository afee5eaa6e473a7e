//! Ranks of elements among those of their part, in a document that was joined from several parts.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Tree;
use super::tree::ROOT;
use crate::check::levels::Element as Place;
use crate::object::ObjectNumber;
use crate::part_of_page;

/// Completes the elements of findings. What takes a pass over the tree is done once for each part and type.
pub(in crate::check) struct PartRanks<'a> {
    tree: &'a Tree,
    pages_by_part: &'a [usize],
    page_numbers: &'a BTreeMap<ObjectNumber, usize>,
    /// Index of the part by its outermost element.
    parts: BTreeMap<u32, Option<usize>>,
    /// Number of elements before the part and within it, by its outermost element and a type.
    counts: BTreeMap<(u32, u16), (u32, u32)>,
}

impl<'a> PartRanks<'a> {
    /// `pages_by_part` are the numbers of pages of each part, empty if the parts are unknown. `page_numbers` are those of
    /// all pages, from 1.
    pub(in crate::check) fn new(
        tree: &'a Tree,
        pages_by_part: &'a [usize],
        page_numbers: &'a BTreeMap<ObjectNumber, usize>,
    ) -> Self {
        Self {
            tree,
            pages_by_part,
            page_numbers,
            parts: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Sets the part of an element, its rank among the elements of its type in the part, and their number.
    pub(in crate::check) fn complete(&mut self, place: &mut Place) {
        place.count = self.tree.count_like(place.object);
        if self.pages_by_part.len() < 2 {
            place.part = (self.pages_by_part.len() == 1).then_some(0);
            return;
        }
        let Some(index) = self.tree.find(place.object) else {
            return;
        };
        // The element that contains all parts belongs to none.
        let Some(outermost) = self.outermost(index) else {
            return;
        };
        let kind = self.tree.elements[index as usize].written_kind;
        let counts = self.counts.entry((outermost, kind));
        let (before, count) = *counts.or_insert_with(|| count_before_and_within(self.tree, outermost, kind));
        place.preceding = place.preceding.saturating_sub(before);
        place.count = count;
        place.part = self.part(outermost);
    }

    /// Returns the element around an element that is a kid of the document's element: that of a part.
    fn outermost(&self, index: u32) -> Option<u32> {
        let parent = |index: u32| {
            self.tree
                .elements
                .get(index as usize)
                .map_or(ROOT, |element| element.parent)
        };
        let mut inner = index;
        while parent(parent(inner)) != ROOT {
            inner = parent(inner);
        }
        (parent(inner) != ROOT).then_some(inner)
    }

    /// Returns the part whose pages show the content of its outermost element.
    fn part(&mut self, outermost: u32) -> Option<usize> {
        let Self {
            tree,
            pages_by_part,
            page_numbers,
            parts,
            ..
        } = self;
        *parts.entry(outermost).or_insert_with(|| {
            let elements = outermost..tree.elements[outermost as usize].end;
            let mut contents = tree
                .contents
                .iter()
                .filter(|content| elements.contains(&content.element));
            let page = contents.find_map(|content| page_numbers.get(&content.page))?;
            part_of_page(*page, pages_by_part)
        })
    }
}

fn count_before_and_within(tree: &Tree, outermost: u32, kind: u16) -> (u32, u32) {
    let (start, end) = (outermost as usize, tree.elements[outermost as usize].end as usize);
    let count = |range: Range<usize>| {
        let elements = tree.elements.get(range).unwrap_or_default();
        elements.iter().filter(|element| element.written_kind == kind).count() as u32
    };
    (count(0..start), count(start..end))
}
