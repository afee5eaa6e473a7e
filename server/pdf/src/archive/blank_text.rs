//! Recognizes text that consists of spaces. Chromium leaves white space between images or fields without an element;
//! as an artifact, it hides nothing from a reader.

use crate::PdfError;
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name};
use crate::object::{Dictionary, Object};
use crate::write::write_hex_string;

/// Returns whether the text object at offset `start`, with which the content ends, shows nothing but spaces, according
/// to the maps of its fonts (ISO 32000-1, 9.10.3) in the form in which Chromium writes them.
pub(super) fn is_blank<'a>(
    document: &Document<'a>,
    resources: &Dictionary<'a>,
    content: &[u8],
    start: usize,
) -> Result<bool, PdfError> {
    let fonts = document.resolve_dictionary(resources, "Font")?;
    let mut lexer = Lexer::new(content, start);
    let mut name = None;
    let mut font = None;
    while let Some((_, token)) = lexer.next_token()? {
        let shown = match token {
            Token::Name(raw) => {
                name = Some(decode_name(raw));
                continue;
            }
            Token::Keyword(b"Tf") => {
                font = match name.as_ref().and_then(|name| fonts.get_bytes(name)) {
                    Some(found) => Font::read(document, found)?,
                    None => None,
                };
                continue;
            }
            Token::LiteralString(raw) => decode_literal_string(raw),
            Token::HexString(raw) => decode_hex_string(raw).into(),
            _ => continue,
        };
        if !font.as_ref().is_some_and(|font| font.shows_spaces(&shown)) {
            return Ok(false);
        }
    }
    Ok(true)
}

struct Font {
    unicode_map: Vec<u8>,
    /// Bytes of a code.
    code_length: usize,
}

impl Font {
    /// Returns `None` if the font has no map.
    fn read(document: &Document, font: &Object) -> Result<Option<Self>, PdfError> {
        let font = document.resolve(&font.clone())?;
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
