//! Recognizes text without a meaning: spaces and icons. As an artifact, it hides nothing from a reader.
//!
//! Chromium leaves white space between images or fields without an element, and so it does with icons of icon fonts that
//! are generated (`::before { content: "\f015" }`) or hidden (`aria-hidden`). Their characters are of private use: no
//! standard and no assistive technology knows what they stand for, so that nothing is there to be read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::unicode_maps::PrivateCodes;
use crate::PdfError;
use crate::check::unicode::read_unicode_map;
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name};
use crate::object::{Dictionary, Object, ObjectNumber};

/// Recognizes texts by the maps of their fonts (ISO 32000-1, 9.10.3). The map of each font is read once for the whole
/// document.
#[derive(Debug, Default)]
pub(super) struct SilentTexts {
    private_codes: PrivateCodes,
    known: BTreeMap<ObjectNumber, SilentCodes>,
    reader: StreamReader,
    buffer: Vec<u8>,
}

/// Text that has no meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SilentText {
    Spaces,
    /// Characters of private use, perhaps with spaces.
    Icons,
}

/// The codes of a font that show something without a meaning.
#[derive(Debug)]
struct SilentCodes {
    codes: BTreeMap<u16, SilentText>,
    /// Bytes of a code.
    length: usize,
}

impl SilentTexts {
    pub(super) fn new(private_codes: PrivateCodes) -> Self {
        Self {
            private_codes,
            ..Self::default()
        }
    }

    /// Returns whether the document may contain icons.
    pub(super) fn may_find_icons(&self) -> bool {
        !self.private_codes.is_empty()
    }

    /// Returns what the text object at offset `start`, with which the content ends, shows; `None` if any of it has a
    /// meaning, or a replacement text. `fonts` are those of the stream's resources.
    pub(super) fn find(
        &mut self,
        document: &Document,
        fonts: &Dictionary,
        content: &[u8],
        start: usize,
    ) -> Result<Option<SilentText>, PdfError> {
        let mut lexer = Lexer::new(content, start);
        let mut name = Cow::Borrowed(b"".as_slice());
        let mut found = SilentText::Spaces;
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
            // The name before a replacement text is its key, and no font.
            let font = fonts.get_bytes(&name).and_then(Object::as_reference);
            match font.and_then(|font| self.silent_codes(document, font).find(&shown)) {
                Some(SilentText::Icons) => found = SilentText::Icons,
                Some(SilentText::Spaces) => {}
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    fn silent_codes(&mut self, document: &Document, font: ObjectNumber) -> &SilentCodes {
        let Self {
            private_codes,
            known,
            reader,
            buffer,
        } = self;
        known.entry(font).or_insert_with(|| {
            let dictionary = document.get_dictionary(font, "expected a font").unwrap_or_default();
            let is_composite = dictionary.get("Subtype").is_some_and(|kind| kind.is_name("Type0"));
            let length = if is_composite { 2 } else { 1 };
            // Text whose map can't be read isn't known to have no meaning.
            let map = read_unicode_map(document, font, length, reader, buffer).unwrap_or_default();
            let spaces = map.into_iter().filter(|(_, text)| text[..] == [u16::from(b' ')]);
            let map_number = dictionary.reference("ToUnicode");
            let icons = map_number.and_then(|number| private_codes.get(&number));
            let icons = icons.into_iter().flatten().map(|code| (*code, SilentText::Icons));
            SilentCodes {
                codes: spaces
                    .map(|(code, _)| (code, SilentText::Spaces))
                    .chain(icons)
                    .collect(),
                length,
            }
        })
    }
}

impl SilentCodes {
    /// Returns what a string shows; `None` if any of it has a meaning.
    fn find(&self, shown: &[u8]) -> Option<SilentText> {
        let mut found = SilentText::Spaces;
        for bytes in shown.chunks(self.length) {
            let code = bytes.iter().fold(0, |code, byte| code << 8 | u16::from(*byte));
            let silent = self.codes.get(&code).filter(|_| bytes.len() == self.length)?;
            if *silent == SilentText::Icons {
                found = SilentText::Icons;
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Stream;

    const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");

    fn add_font(document: &mut Document, kind: &str, map: &'static str) -> (Object<'static>, ObjectNumber) {
        let map = document.add(Object::Stream(Stream::plain(Dictionary::default(), map.as_bytes())));
        let font = document.add(Object::Dictionary(Dictionary::new([
            ("Subtype", Object::Name(kind.as_bytes().to_vec().into())),
            ("ToUnicode", Object::Reference(map)),
        ])));
        (Object::Reference(font), map)
    }

    #[test]
    fn text_has_no_meaning_if_all_of_its_codes_are_spaces_or_icons() {
        use SilentText::{Icons, Spaces};
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let map = "1 beginbfrange <0003> <0004> <001F> endbfrange 2 beginbfchar <0009> <0020> <0010> <FFFD> endbfchar";
        let (composite, map) = add_font(&mut document, "Type0", map);
        let (simple, _) = add_font(&mut document, "Type3", "1 beginbfchar <03> <0020> endbfchar");
        let (damaged, _) = add_font(&mut document, "Type0", "1 beginbfchar <0003> <0020");
        // Whatever else is shown in the second font, its text is unknown.
        let (unknown, _) = add_font(&mut document, "Type0", "1 beginbfchar <0010> <FFFD> endbfchar");
        let fonts = [("F1", composite), ("F2", simple), ("F3", damaged), ("F5", unknown)];
        let fonts = Dictionary::new(fonts);
        let mut silent = SilentTexts::new([(map, [0x10].into())].into());
        for (content, expected) in [
            ("BT /F1 9 Tf <00040009> Tj ET", Some(Spaces)),
            ("BT /F1 9 Tf <0004> Tj <0003> Tj ET", None),
            ("BT /F1 9 Tf <000904> Tj ET", None),
            ("BT /F2 9 Tf [(\\003) -20 <0303>] TJ ET", Some(Spaces)),
            ("BT /F2 9 Tf <0004> Tj ET", None),
            ("BT /F1 9 Tf <0004> Tj /F3 9 Tf <0003> Tj ET", None),
            ("BT /F4 9 Tf <0003> Tj ET", None),
            ("BT /F1 9 Tf <0010> Tj ET", Some(Icons)),
            ("BT /F1 9 Tf <0010> Tj <0004> Tj /F2 9 Tf (\\003) Tj ET", Some(Icons)),
            ("BT /F1 9 Tf <00100003> Tj ET", None),
            ("BT /F5 9 Tf <0010> Tj ET", None),
            (
                "BT /Span <</ActualText <FEFF0031> >> BDC /F1 9 Tf <0010> Tj EMC ET",
                None,
            ),
        ] {
            let found = silent.find(&document, &fonts, content.as_bytes(), 0);
            assert_eq!(found, Ok(expected), "{content}");
        }
    }
}
