//! What content streams show: characters of fonts, and marked content.

use std::collections::{BTreeMap, BTreeSet};

use super::colours::Colours;
use super::marks::StreamMarks;
use crate::object::ObjectNumber;

/// Codes that are shown, by font.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) composite: BTreeMap<ObjectNumber, Codes>,
    pub(super) type_3: BTreeMap<ObjectNumber, Codes>,
    /// Widths that glyph procedures set with `d0` or `d1`, by the procedure's object number.
    pub(super) glyph_widths: BTreeMap<ObjectNumber, f64>,
    /// Marks of each stream, by the number of its page, form, pattern or Type 3 font.
    pub(super) marks: BTreeMap<ObjectNumber, StreamMarks>,
    /// Colours of each page and form, by its number.
    pub(super) colours: BTreeMap<ObjectNumber, Colours>,
    /// Forms, and patterns, which are never drawn by name.
    pub(super) drawings: BTreeSet<ObjectNumber>,
}

/// A set of character codes.
#[derive(Default)]
pub(super) struct Codes {
    words: Vec<u64>,
}

impl Codes {
    /// Returns the codes in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        let bits = |word: u64| (0..64_usize).filter(move |bit| word >> bit & 1 == 1);
        let codes = self
            .words
            .iter()
            .enumerate()
            .flat_map(move |(index, word)| bits(*word).map(move |bit| index * 64 + bit));
        codes.filter_map(|code| u16::try_from(code).ok())
    }

    pub(super) fn insert(&mut self, code: u16) {
        let index = usize::from(code / 64);
        if self.words.len() <= index {
            self.words.resize(index + 1, 0);
        }
        self.words[index] |= 1 << (code % 64);
    }
}
