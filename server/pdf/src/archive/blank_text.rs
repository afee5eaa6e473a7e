//! Recognizes text that consists of spaces. Chromium leaves white space between images or fields without an element;
//! as an artifact, it hides nothing from a reader.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::PdfError;
use crate::check::unicode::read_unicode_map;
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name};
use crate::object::{Dictionary, Object, ObjectNumber};

/// Recognizes blank texts, according to the maps of their fonts (ISO 32000-1, 9.10.3). The map of each font is read once
/// for the whole document.
#[derive(Debug, Default)]
pub(super) struct BlankTexts {
    known: BTreeMap<ObjectNumber, SpaceCodes>,
    reader: StreamReader,
    buffer: Vec<u8>,
}

/// The codes of a font that show a space.
#[derive(Debug)]
struct SpaceCodes {
    codes: BTreeSet<u16>,
    /// Bytes of a code.
    length: usize,
}

impl BlankTexts {
    /// Returns whether the text object at offset `start`, with which the content ends, shows nothing but spaces. `fonts`
    /// are those of the stream's resources.
    pub(super) fn is_blank(
        &mut self,
        document: &Document,
        fonts: &Dictionary,
        content: &[u8],
        start: usize,
    ) -> Result<bool, PdfError> {
        let mut lexer = Lexer::new(content, start);
        let mut name = Cow::Borrowed(b"".as_slice());
        while let Some((_, token)) = lexer.next_token()? {
            let shown = match token {
                Token::Name(raw) => {
                    name = decode_name(raw);
                    continue;
                }
                Token::LiteralString(raw) => decode_literal_string(raw),
                Token::HexString(raw) => decode_hex_string(raw).into(),
                _ => continue,
            };
            let font = fonts.get_bytes(&name).and_then(Object::as_reference);
            if !font.is_some_and(|font| self.space_codes(document, font).are_all(&shown)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn space_codes(&mut self, document: &Document, font: ObjectNumber) -> &SpaceCodes {
        let Self { known, reader, buffer } = self;
        known.entry(font).or_insert_with(|| {
            let dictionary = document.get_dictionary(font, "expected a font").unwrap_or_default();
            let is_composite = dictionary.get("Subtype").is_some_and(|kind| kind.is_name("Type0"));
            let length = if is_composite { 2 } else { 1 };
            // Text whose map can't be read isn't known to be blank.
            let map = read_unicode_map(document, font, length, reader, buffer).unwrap_or_default();
            let spaces = map.into_iter().filter(|(_, text)| text[..] == [u16::from(b' ')]);
            SpaceCodes {
                codes: spaces.map(|(code, _)| code).collect(),
                length,
            }
        })
    }
}

impl SpaceCodes {
    fn are_all(&self, shown: &[u8]) -> bool {
        shown.chunks(self.length).all(|bytes| {
            let code = bytes.iter().fold(0, |code, byte| code << 8 | u16::from(*byte));
            bytes.len() == self.length && self.codes.contains(&code)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Stream;

    const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");

    fn add_font(document: &mut Document, kind: &str, map: &'static str) -> Object<'static> {
        let map = document.add(Object::Stream(Stream::plain(Dictionary::default(), map.as_bytes())));
        Object::Reference(document.add(Object::Dictionary(Dictionary::new([
            ("Subtype", Object::Name(kind.as_bytes().to_vec().into())),
            ("ToUnicode", Object::Reference(map)),
        ]))))
    }

    #[test]
    fn text_is_blank_if_all_of_its_codes_are_spaces() {
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let map = "1 beginbfrange <0003> <0004> <001F> endbfrange 1 beginbfchar <0009> <0020> endbfchar";
        let composite = add_font(&mut document, "Type0", map);
        let simple = add_font(&mut document, "Type3", "1 beginbfchar <03> <0020> endbfchar");
        let damaged = add_font(&mut document, "Type0", "1 beginbfchar <0003> <0020");
        let fonts = Dictionary::new([("F1", composite), ("F2", simple), ("F3", damaged)]);
        let mut blank = BlankTexts::default();
        for (content, expected) in [
            ("BT /F1 9 Tf <00040009> Tj ET", true),
            ("BT /F1 9 Tf <0004> Tj <0003> Tj ET", false),
            ("BT /F1 9 Tf <000904> Tj ET", false),
            ("BT /F2 9 Tf [(\\003) -20 <0303>] TJ ET", true),
            ("BT /F2 9 Tf <0004> Tj ET", false),
            ("BT /F1 9 Tf <0004> Tj /F3 9 Tf <0003> Tj ET", false),
            ("BT /F4 9 Tf <0003> Tj ET", false),
        ] {
            let found = blank.is_blank(&document, &fonts, content.as_bytes(), 0);
            assert_eq!(found, Ok(expected), "{content}");
        }
    }
}
