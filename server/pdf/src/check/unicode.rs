//! Unicode values of shown characters (ISO 19005-2, 6.2.11.7; ISO 14289-1, 7.21.7).

use std::collections::BTreeMap;

use super::levels::LevelFindings;
use super::rules::{self, Rule};
use super::shown::{Codes, Shown};
use crate::PdfError;
use crate::content::StreamReader;
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_hex_string};
use crate::object::{Object, ObjectNumber};

/// Texts of character codes, in UTF-16.
pub(crate) type UnicodeMap = BTreeMap<u16, Vec<u16>>;

/// Checks that every shown code has a text. A character of the private use area would need replacement text where it
/// is shown; completion maps it to U+FFFD instead, so that none is expected here.
pub(super) fn check_unicode(shown: &Shown, findings: &mut LevelFindings) -> Result<(), PdfError> {
    for (number, font) in shown.composite.iter().chain(&shown.type_3) {
        // Nothing may be shown in a font, whether or not it is selected.
        if font.codes.iter().next().is_none() {
            continue;
        }
        match &font.texts {
            Some(Ok(texts)) => {
                for rule in font.codes.iter().filter_map(|code| texts.violated(code)) {
                    findings.object(rule, *number, None);
                }
            }
            Some(Err(error)) => return Err(error.clone()),
            None => {}
        }
    }
    Ok(())
}

/// The codes of a font, by the rules that their texts violate. A map of their texts would take a hundred times as much memory, and
/// there may be many fonts.
#[derive(Default)]
pub(super) struct CheckedCodes {
    /// Those that have a text.
    with_text: Codes,
    with_null: Codes,
    without_character: Codes,
    private_use: Codes,
}

impl CheckedCodes {
    pub(super) fn new(map: &UnicodeMap) -> Self {
        let mut checked = Self::default();
        for (code, text) in map.iter().filter(|(_, text)| !text.is_empty()) {
            let has = |is_sought: fn(&u16) -> bool| text.iter().any(is_sought);
            checked.with_text.insert(*code);
            if has(|unit| *unit == 0) {
                checked.with_null.insert(*code);
            } else if has(|unit| matches!(unit, 0xFEFF | 0xFFFE)) {
                checked.without_character.insert(*code);
            } else if has(|unit| matches!(unit, 0xE000..=0xF8FF | 0xDB80..=0xDBFF)) {
                checked.private_use.insert(*code);
            }
        }
        checked
    }

    /// Returns the rule that the text of a code violates, or that it has none.
    fn violated(&self, code: u16) -> Option<&'static Rule> {
        if !self.with_text.contains(code) {
            return Some(&rules::NO_UNICODE);
        }
        let violations: [(_, &'static Rule); 3] = [
            (&self.with_null, &rules::NULL_CHARACTER),
            (&self.without_character, &rules::NO_CHARACTER),
            (&self.private_use, &rules::PRIVATE_USE),
        ];
        let violated = violations.into_iter().find(|(codes, _)| codes.contains(code));
        violated.map(|(_, rule)| rule)
    }
}

/// Reads the `/ToUnicode` of a font, whose codes have `code_length` bytes; empty if there is none. `content` is a
/// buffer.
pub(crate) fn read_unicode_map(
    document: &Document,
    font: ObjectNumber,
    code_length: usize,
    reader: &mut StreamReader,
    content: &mut Vec<u8>,
) -> Result<UnicodeMap, PdfError> {
    let font = document.get_dictionary(font, "expected a font")?;
    let Some(number) = font.reference("ToUnicode") else {
        return Ok(UnicodeMap::new());
    };
    let Object::Stream(stream) = document.get(number)? else {
        return Err(document.damaged(number, "expected a Unicode map"));
    };
    reader
        .read(&stream, content)
        .map_err(|what| document.damaged(number, what))?;
    parse_unicode_map(content, code_length)
}

/// Parses entries of `bfchar` and `bfrange` (ISO 32000-1, 9.10.3). Codes of another length have no meaning.
pub(crate) fn parse_unicode_map(map: &[u8], code_length: usize) -> Result<UnicodeMap, PdfError> {
    let code = |raw: &[u8]| match decode_hex_string(raw)[..] {
        [low] if code_length == 1 => Some(u16::from(low)),
        [high, low] if code_length == 2 => Some(u16::from_be_bytes([high, low])),
        _ => None,
    };
    let mut texts = UnicodeMap::new();
    let mut lexer = Lexer::new(map, 0);
    // Codes before the text of an entry.
    let mut code_count = 0;
    let mut codes: Vec<&[u8]> = Vec::new();
    let mut is_in_array = false;
    let mut offset = 0_u16;
    while let Some((_, token)) = lexer.next_token()? {
        match token {
            // The map would have to be merged with another.
            Token::Keyword(b"usecmap") => return Ok(UnicodeMap::new()),
            Token::Keyword(keyword) => {
                code_count = match keyword {
                    b"beginbfchar" => 1,
                    b"beginbfrange" => 2,
                    _ => 0,
                };
                codes.clear();
            }
            Token::ArrayStart => (is_in_array, offset) = (true, 0),
            Token::ArrayEnd => {
                is_in_array = false;
                codes.clear();
            }
            Token::HexString(raw) if codes.len() < code_count => codes.push(raw),
            Token::HexString(raw) if code_count > 0 => {
                let text = units(raw);
                let first = codes.first().and_then(|raw| code(raw));
                let last = codes.last().and_then(|raw| code(raw));
                if let (Some(first), Some(last)) = (first, last) {
                    if is_in_array {
                        if let Some(code) = first.checked_add(offset).filter(|code| *code <= last) {
                            texts.insert(code, text);
                        }
                        offset = offset.saturating_add(1);
                    } else {
                        for code in first..=last {
                            texts.insert(code, advanced(&text, code - first));
                        }
                    }
                }
                if !is_in_array {
                    codes.clear();
                }
            }
            _ => {}
        }
    }
    Ok(texts)
}

fn units(raw: &[u8]) -> Vec<u16> {
    let bytes = decode_hex_string(raw);
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|unit| u16::from_be_bytes(*unit))
        .collect()
}

/// Returns the text of the code `offset` codes after the one whose text is given.
fn advanced(text: &[u16], offset: u16) -> Vec<u16> {
    let mut text = text.to_vec();
    if let Some(last) = text.last_mut() {
        *last = last.wrapping_add(offset);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(map: &str, code: u16) -> Option<String> {
        let map = parse_unicode_map(map.as_bytes(), 2).expect("a map");
        map.get(&code).map(|text| String::from_utf16_lossy(text))
    }

    #[test]
    fn texts_are_those_of_characters_and_ranges() {
        let map = "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfchar <0003> <00660069> endbfchar \
            2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0058> <D83DDC4D>] endbfrange <0001> <0041>";
        for (code, expected) in [
            (3, Some("fi")),
            (0x10, Some("A")),
            (0x12, Some("C")),
            (0x13, None),
            (0x20, Some("X")),
            (0x21, Some("👍")),
            (1, None),
            (0, None),
        ] {
            assert_eq!(text(map, code).as_deref(), expected, "{code}");
        }
        assert_eq!(text("1 beginbfchar <03> <0041> endbfchar", 3), None);
        assert_eq!(text("/Other usecmap 1 beginbfchar <0003> <0041> endbfchar", 3), None);
    }

    #[test]
    fn codes_need_a_text_that_can_be_written() {
        for (entry, expected) in [
            ("<0001> <0041>", None),
            ("<0001> <FFFD>", None),
            ("<0002> <0041>", Some("6.2.11.7.2-1")),
            ("<0001> <>", Some("6.2.11.7.2-1")),
            ("<0001> <00410000>", Some("6.2.11.7.2-2")),
            ("<0001> <FEFF>", Some("6.2.11.7.2-2")),
            ("<0001> <FFFE>", Some("6.2.11.7.2-2")),
            ("<0001> <E123>", Some("6.2.11.7.3-1")),
            ("<0001> <DB80DC01>", Some("6.2.11.7.3-1")),
        ] {
            let map = parse_unicode_map(format!("1 beginbfchar {entry} endbfchar").as_bytes(), 2).expect("a map");
            let violated = CheckedCodes::new(&map).violated(1);
            assert_eq!(violated.map(|rule| rule.prevents[0].1), expected, "{entry}");
        }
    }
}
