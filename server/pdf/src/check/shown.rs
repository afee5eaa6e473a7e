//! What content streams show: characters of fonts, and marked content.

use std::collections::{BTreeMap, BTreeSet};

use super::colours::Colours;
use super::marks::StreamMarks;
use super::unicode::{CheckedCodes, read_unicode_map};
use crate::PdfError;
use crate::content::StreamReader;
use crate::document::Document;
use crate::object::ObjectNumber;

/// Replacement character, to which completion maps characters of private use, such as those of icon fonts.
const UNKNOWN_TEXT: u16 = 0xFFFD;

/// What all streams show.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) composite: BTreeMap<ObjectNumber, ShownFont>,
    pub(super) type_3: BTreeMap<ObjectNumber, ShownFont>,
    /// Widths that glyph procedures set with `d0` or `d1`, by the procedure's object number.
    pub(super) glyph_widths: BTreeMap<ObjectNumber, f64>,
    /// Marks of each stream, by the number of its page, form, pattern or Type 3 font.
    pub(super) marks: BTreeMap<ObjectNumber, StreamMarks>,
    /// Colours of each page and form, by its number.
    pub(super) colours: BTreeMap<ObjectNumber, Colours>,
    /// Forms, and patterns, which are never drawn by name.
    pub(super) drawings: BTreeSet<ObjectNumber>,
}

/// What is shown in one font.
pub(super) struct ShownFont {
    /// Bytes of a code.
    code_length: usize,
    pub(super) codes: Codes,
    /// What its codes mean; `None` until the font is selected.
    pub(super) texts: Option<Result<CheckedCodes, PdfError>>,
    /// Codes whose text is unknown.
    icons: Codes,
}

impl ShownFont {
    pub(super) fn composite() -> Self {
        Self::new(2)
    }

    pub(super) fn type_3() -> Self {
        Self::new(1)
    }

    fn new(code_length: usize) -> Self {
        Self {
            code_length,
            codes: Codes::default(),
            texts: None,
            icons: Codes::default(),
        }
    }

    /// Reads the texts, unless they are known.
    pub(super) fn select(&mut self, document: &Document, number: ObjectNumber) {
        let Self { code_length, icons, .. } = self;
        self.texts.get_or_insert_with(|| {
            let (mut reader, mut content) = (StreamReader::default(), Vec::new());
            let texts = read_unicode_map(document, number, *code_length, &mut reader, &mut content)?;
            let unknown = texts.iter().filter(|(_, text)| text.contains(&UNKNOWN_TEXT));
            // Code 0 shows that a glyph is missing, of which completion warns.
            for (code, _) in unknown.filter(|(code, _)| **code != 0) {
                icons.insert(*code);
            }
            Ok(CheckedCodes::new(&texts))
        });
    }

    /// Adds a code. Returns whether its text is unknown.
    pub(super) fn show(&mut self, code: u16) -> bool {
        self.codes.insert(code);
        self.icons.contains(code)
    }
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

    pub(super) fn contains(&self, code: u16) -> bool {
        let word = self.words.get(usize::from(code / 64));
        word.is_some_and(|word| word >> (code % 64) & 1 == 1)
    }

    pub(super) fn insert(&mut self, code: u16) {
        let index = usize::from(code / 64);
        if self.words.len() <= index {
            self.words.resize(index + 1, 0);
        }
        self.words[index] |= 1 << (code % 64);
    }
}
