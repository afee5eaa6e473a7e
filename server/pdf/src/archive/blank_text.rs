//! Recognizes text that consists of spaces. Chromium leaves white space between images or fields without an element;
//! as an artifact, it hides nothing from a reader.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::PdfError;
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name};
use crate::object::{Dictionary, Object};
use crate::write::write_hex_string;

/// Recognizes blank texts of one content stream, according to the maps of its fonts (ISO 32000-1, 9.10.3) in the form in
/// which Chromium writes them.
pub(super) struct BlankTexts<'d, 'a> {
    document: &'d Document<'a>,
    fonts: Dictionary<'a>,
    /// Fonts by their names; `None` for those without a map.
    known: BTreeMap<Vec<u8>, Option<Font>>,
}

struct Font {
    unicode_map: Vec<u8>,
    /// Bytes of a code.
    code_length: usize,
}

impl<'d, 'a> BlankTexts<'d, 'a> {
    pub(super) fn new(document: &'d Document<'a>, resources: &Dictionary<'a>) -> Result<Self, PdfError> {
        Ok(Self {
            document,
            fonts: document.resolve_dictionary(resources, "Font")?,
            known: BTreeMap::new(),
        })
    }

    /// Returns whether the text object at offset `start`, with which the content ends, shows nothing but spaces.
    pub(super) fn is_blank(&mut self, content: &[u8], start: usize) -> Result<bool, PdfError> {
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
            if !self.font(&name)?.is_some_and(|font| font.shows_spaces(&shown)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn font(&mut self, name: &[u8]) -> Result<Option<&Font>, PdfError> {
        if !self.known.contains_key(name) {
            let font = self.fonts.get_bytes(name).map(|font| Font::read(self.document, font));
            self.known.insert(name.to_vec(), font.transpose()?.flatten());
        }
        Ok(self.known.get(name).and_then(Option::as_ref))
    }
}

impl Font {
    /// Returns `None` if the font has no map.
    fn read<'a>(document: &Document<'a>, font: &Object<'a>) -> Result<Option<Self>, PdfError> {
        let font = document.resolve(font)?;
        let Some(font) = font.as_dictionary() else {
            return Ok(None);
        };
        let map = font.get("ToUnicode").map(|map| document.resolve(map)).transpose()?;
        let Some(Object::Stream(map)) = map else {
            return Ok(None);
        };
        let is_composite = font.get("Subtype").is_some_and(|kind| kind.is_name("Type0"));
        let mut unicode_map = Vec::new();
        let is_read = StreamReader::default().read(&map, &mut unicode_map).is_ok();
        Ok(is_read.then_some(Self {
            unicode_map,
            code_length: if is_composite { 2 } else { 1 },
        }))
    }

    fn shows_spaces(&self, codes: &[u8]) -> bool {
        codes.chunks(self.code_length).all(|code| {
            // `<0003> <0020>`, or `<0003> <0005> <0020>` for a range.
            let mut start = Vec::new();
            write_hex_string(&mut start, code);
            start.push(b' ');
            let mut entries = self.unicode_map.split(|byte| *byte == b'\n');
            entries.any(|entry| entry.starts_with(&start) && entry.ends_with(b" <0020>"))
        })
    }
}
