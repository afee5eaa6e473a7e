//! Fonts as far as they determine the place and the text of what is shown.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::check::fonts::{array, widths};
use crate::check::unicode::{UnicodeMap, read_unicode_map};
use crate::content::StreamReader;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Height and depth of a line around its baseline, in ems, for fonts that don't say.
const ASCENT: f64 = 0.8;
const DESCENT: f64 = -0.2;

/// Fonts that were needed, by object number.
#[derive(Default)]
pub(crate) struct Fonts {
    fonts: BTreeMap<ObjectNumber, Font>,
}

/// A font in which text is shown. Lengths are in ems.
#[derive(Default)]
pub(super) struct Font {
    /// Bytes of a character code.
    code_length: usize,
    /// By code.
    widths: Vec<Option<f64>>,
    default_width: f64,
    pub(super) ascent: f64,
    pub(super) descent: f64,
    number: ObjectNumber,
    /// Read when a text is needed.
    texts: OnceCell<UnicodeMap>,
}

impl Fonts {
    /// Returns a font. What can't be read of it is left out.
    pub(super) fn get(&mut self, document: &Document, number: ObjectNumber) -> &Font {
        self.fonts.entry(number).or_insert_with(|| Font::read(document, number))
    }
}

impl Font {
    fn read(document: &Document, number: ObjectNumber) -> Self {
        let dictionary = document.get_dictionary(number, "expected a font").unwrap_or_default();
        let mut font = match document.descendant_font(&dictionary) {
            Ok(Some(descendant)) => Self::composite(document, &descendant),
            _ => Self::type_3(document, &dictionary),
        };
        font.number = number;
        font
    }

    fn composite(document: &Document, descendant: &Dictionary) -> Self {
        let descriptor = document
            .resolve_dictionary(descendant, "FontDescriptor")
            .unwrap_or_default();
        let ems = |owner: &Dictionary, key| owner.get(key).and_then(Object::as_number).map(|length| length / 1000.0);
        let widths = array(document, descendant, "W").and_then(|entries| widths(&entries));
        let widths = widths.unwrap_or_default().into_iter();
        Self {
            code_length: 2,
            widths: widths.map(|width| width.map(|width| width / 1000.0)).collect(),
            default_width: ems(descendant, "DW").unwrap_or(1.0),
            ascent: ems(&descriptor, "Ascent").unwrap_or(ASCENT),
            descent: ems(&descriptor, "Descent").unwrap_or(DESCENT),
            ..Self::default()
        }
    }

    /// Reads a font whose glyphs have coordinates of their own.
    fn type_3(document: &Document, font: &Dictionary) -> Self {
        let scale = font
            .items("FontMatrix")
            .first()
            .and_then(Object::as_number)
            .unwrap_or(0.001);
        let first = font.get("FirstChar").and_then(Object::as_integer);
        let first = first.and_then(|first| usize::try_from(first).ok()).unwrap_or_default();
        let widths = array(document, font, "Widths").unwrap_or_default();
        let widths = widths.iter().map(|width| width.as_number().map(|width| width * scale));
        Self {
            code_length: 1,
            widths: std::iter::repeat_n(None, first.min(256)).chain(widths).collect(),
            default_width: 0.0,
            ascent: ASCENT,
            descent: DESCENT,
            ..Self::default()
        }
    }

    /// Returns whether glyphs are painted in the current colour. Those of Type 3 fonts may have their own.
    pub(super) fn has_outlines(&self) -> bool {
        self.code_length == 2
    }

    /// Returns the sum of the widths of characters, given by their codes.
    pub(super) fn width(&self, codes: &[u8]) -> f64 {
        let widths = self.codes(codes).map(|code| {
            let width = self.widths.get(usize::from(code)).copied().flatten();
            width.unwrap_or(self.default_width)
        });
        widths.sum()
    }

    /// Returns the text of characters in UTF-16.
    pub(super) fn characters(&self, document: &Document, codes: &[u8]) -> Vec<u16> {
        let known = self.texts.get_or_init(|| {
            let (mut reader, mut content) = (StreamReader::default(), Vec::new());
            let texts = read_unicode_map(document, self.number, self.code_length, &mut reader, &mut content);
            texts.unwrap_or_default()
        });
        let texts = self.codes(codes).filter_map(|code| known.get(&code));
        texts.flatten().copied().collect()
    }

    fn codes(&self, codes: &[u8]) -> impl Iterator<Item = u16> {
        let codes = codes.chunks_exact(self.code_length.max(1));
        codes.map(|code| code.iter().fold(0_u16, |value, byte| value << 8 | u16::from(*byte)))
    }
}
