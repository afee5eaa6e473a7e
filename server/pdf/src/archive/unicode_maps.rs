//! Repairs maps from codes to text (ISO 32000-1, 9.10.3) that contain values other than text: zero and the byte-order
//! marks, which levels A and U of PDF/A forbid (ISO 19005-2, 6.2.11.7), and private use, which has no meaning for a
//! reader.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::PdfError;
use crate::check::unicode::parse_unicode_map;
use crate::content::{StreamReader, replace_data};
use crate::document::Document;
use crate::lexer::{Lexer, Token, decode_hex_string};
use crate::object::{Object, ObjectNumber};
use crate::write::write_hex_string;

/// Zero width space, for glyphs whose text belongs to another glyph of the cluster. Chromium maps them to zero.
const NO_TEXT: u16 = 0x200B;
/// Replacement character, for glyphs whose text is unknown.
const UNKNOWN_TEXT: u16 = 0xFFFD;
/// UTF-16 units of private use, and high surrogates of pairs of private use.
const PRIVATE_USE: RangeInclusive<u16> = 0xE000..=0xF8FF;
const PRIVATE_USE_PAIR: RangeInclusive<u16> = 0xDB80..=0xDBFF;
/// Code of a Type 3 font's `g0`, as written in maps.
const GLYPH_ZERO: &[u8] = b"00";

/// Codes that show characters of private use, by the map that says so, before its repair.
pub(super) type PrivateCodes = BTreeMap<ObjectNumber, BTreeSet<u16>>;

/// Repairs the maps of these fonts, and returns which codes showed characters of private use. Code 00 of a Type 3 font is
/// its `g0`, for which Chromium writes no text.
pub(super) fn repair_unicode_maps(document: &mut Document, fonts: &[ObjectNumber]) -> Result<PrivateCodes, PdfError> {
    let mut seen = BTreeSet::new();
    let mut private_codes = PrivateCodes::new();
    let (mut reader, mut content) = (StreamReader::default(), Vec::new());
    for font in fonts {
        let font = document.get_dictionary(*font, "expected a font")?;
        let Some(number) = font.reference("ToUnicode").filter(|number| seen.insert(*number)) else {
            continue;
        };
        let Object::Stream(mut stream) = document.get(number)? else {
            return Err(document.damaged(number, "expected a Unicode map"));
        };
        reader
            .read(&stream, &mut content)
            .map_err(|what| document.damaged(number, what))?;
        let is_type_3 = font.get("Subtype").is_some_and(|kind| kind.is_name("Type3"));
        let needed = (is_type_3 && font.get("FirstChar").and_then(Object::as_integer) == Some(0)).then_some(GLYPH_ZERO);
        let repaired = repair(&content, needed).map_err(|_| document.damaged(number, "expected a Unicode map"))?;
        if let Some(repaired) = repaired {
            let codes = codes_of_private_use(&content, if is_type_3 { 1 } else { 2 })?;
            if !codes.is_empty() {
                private_codes.insert(number, codes);
            }
            replace_data(&mut stream, &repaired);
            document.set(number, Object::Stream(stream));
        }
    }
    Ok(private_codes)
}

/// Returns the codes whose whole text is of private use.
fn codes_of_private_use(map: &[u8], code_length: usize) -> Result<BTreeSet<u16>, PdfError> {
    let map = parse_unicode_map(map, code_length)?.into_iter();
    let of_private_use = map.filter(|(_, text)| {
        let mut characters = char::decode_utf16(text.iter().copied());
        !text.is_empty() && characters.all(|character| character.is_ok_and(is_private_use))
    });
    Ok(of_private_use.map(|(code, _)| code).collect())
}

fn is_private_use(character: char) -> bool {
    matches!(character, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..)
}

/// Repairs a map, and maps the code `needed` to the replacement character if it has no text. Returns `None` if nothing
/// changes.
fn repair(map: &[u8], needed: Option<&[u8]>) -> Result<Option<Vec<u8>>, PdfError> {
    let mut repaired = Vec::new();
    let mut copied = 0;
    let mut lexer = Lexer::new(map, 0);
    let mut section = Section::Other;
    // The codes of the current entry.
    let mut codes: Vec<&[u8]> = Vec::new();
    let mut is_in_array = false;
    let mut missing = needed;
    while let Some((start, token)) = lexer.next_token()? {
        match token {
            Token::Keyword(keyword) => {
                if keyword == b"endcmap"
                    && let Some(code) = missing.take()
                {
                    repaired.extend_from_slice(&map[copied..start]);
                    repaired.extend_from_slice(&[b"1 beginbfchar\n<", code, b"> <FFFD>\nendbfchar\n"].concat());
                    copied = start;
                }
                section = Section::after(keyword);
                codes.clear();
            }
            Token::ArrayStart => is_in_array = true,
            Token::ArrayEnd => {
                is_in_array = false;
                codes.clear();
            }
            Token::HexString(code) if codes.len() < section.code_count() => codes.push(code),
            Token::HexString(text) if section != Section::Other => {
                missing = missing.filter(|code| codes.first() != Some(code));
                let is_range = section == Section::Ranges && !is_in_array;
                let count = if is_range { range_length(&codes) } else { Some(1) };
                let texts = count.and_then(|count| repaired_texts(&decode_hex_string(text), count));
                if let Some(texts) = texts {
                    repaired.extend_from_slice(&map[copied..start]);
                    repaired.extend_from_slice(if is_range { b"[" } else { b"" });
                    for text in &texts {
                        write_hex_string(&mut repaired, text);
                    }
                    repaired.extend_from_slice(if is_range { b"]" } else { b"" });
                    copied = lexer.position();
                }
                if !is_in_array {
                    codes.clear();
                }
            }
            _ => {}
        }
    }
    if copied == 0 {
        return Ok(None);
    }
    repaired.extend_from_slice(&map[copied..]);
    Ok(Some(repaired))
}

/// Section of a map that contains a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Other,
    /// Entries of a code and its text.
    Characters,
    /// Entries of two codes and the text of the first, or the texts of all.
    Ranges,
}

impl Section {
    fn after(keyword: &[u8]) -> Self {
        match keyword {
            b"beginbfchar" => Self::Characters,
            b"beginbfrange" => Self::Ranges,
            _ => Self::Other,
        }
    }

    fn code_count(self) -> usize {
        match self {
            Self::Other => 0,
            Self::Characters => 1,
            Self::Ranges => 2,
        }
    }
}

/// Returns the number of codes from the first to the second, which must differ only in the last byte; `None` for a
/// range that Chromium doesn't write.
fn range_length(codes: &[&[u8]]) -> Option<usize> {
    let [first, last] = codes else { return None };
    let (first, last) = (decode_hex_string(first), decode_hex_string(last));
    let ((first, front), (last, last_front)) = (first.split_last()?, last.split_last()?);
    let length = usize::from(*last).checked_sub(usize::from(*first))? + 1;
    (front == last_front).then_some(length)
}

/// Returns the repaired texts of `count` consecutive codes, the first of which has the given text; `None` if all may
/// stay.
fn repaired_texts(text: &[u8], count: usize) -> Option<Vec<Vec<u8>>> {
    let units: Vec<u16> = text
        .as_chunks()
        .0
        .iter()
        .map(|unit| u16::from_be_bytes(*unit))
        .collect();
    let (last, front) = units.split_last()?;
    let lasts = (0..count).map(|index| last.wrapping_add(index as u16));
    let is_text = |unit: u16| replacement(unit).is_none();
    if front.iter().copied().all(is_text) && lasts.clone().all(is_text) {
        return None;
    }
    let text = |last| {
        let mut text = Vec::with_capacity(text.len());
        let mut units = front.iter().copied().chain([last]);
        while let Some(unit) = units.next() {
            text.extend_from_slice(&replacement(unit).unwrap_or(unit).to_be_bytes());
            if PRIVATE_USE_PAIR.contains(&unit) {
                units.next();
            }
        }
        text
    };
    Some(lasts.map(text).collect())
}

/// Returns the replacement for a unit that is not text; `None` if it is.
fn replacement(unit: u16) -> Option<u16> {
    match unit {
        0 | 0xFEFF | 0xFFFE => Some(NO_TEXT),
        _ if PRIVATE_USE.contains(&unit) || PRIVATE_USE_PAIR.contains(&unit) => Some(UNKNOWN_TEXT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(map: &str, needed: Option<&[u8]>) -> Option<String> {
        let repaired = repair(map.as_bytes(), needed).expect("valid")?;
        Some(String::from_utf8(repaired).expect("ASCII"))
    }

    #[test]
    fn replaces_what_is_no_text() {
        for (map, expected) in [
            (
                "1 beginbfchar <0022> <0000> endbfchar",
                "1 beginbfchar <0022> <200B> endbfchar",
            ),
            (
                "1 beginbfchar <E007> <E007> endbfchar",
                "1 beginbfchar <E007> <FFFD> endbfchar",
            ),
            (
                "1 beginbfchar <01> <0041FEFF> endbfchar",
                "1 beginbfchar <01> <0041200B> endbfchar",
            ),
            (
                "1 beginbfchar <01> <DB80DC01> endbfchar",
                "1 beginbfchar <01> <FFFD> endbfchar",
            ),
            (
                "1 beginbfrange <01> <02> <F8FF> endbfrange",
                "1 beginbfrange <01> <02> [<FFFD><F900>] endbfrange",
            ),
            (
                "1 beginbfrange <01> <02> [<0000> <0041>] <03> <03> <E000> endbfrange",
                "1 beginbfrange <01> <02> [<200B> <0041>] <03> <03> [<FFFD>] endbfrange",
            ),
        ] {
            assert_eq!(repaired(map, None).as_deref(), Some(expected));
        }
    }

    #[test]
    fn leaves_what_is_text() {
        for map in [
            "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfchar <0000> <0041> endbfchar endcmap",
            "1 beginbfrange <E000> <E001> <0041> endbfrange 1 beginbfchar <F000> <D83DDC4D> endbfchar",
            "1 beginbfrange <0000> <FFFF> <0000> endbfrange",
            "<E000> <E000>",
        ] {
            assert_eq!(repaired(map, None), None);
        }
    }

    #[test]
    fn private_use_is_told_from_other_text() {
        let map = b"4 beginbfchar <0001> <F015> <0002> <DBBADC2E> <0003> <F0150041> <0004> <FFFD> endbfchar \
            1 beginbfrange <0010> <0012> <F8FE> endbfrange 1 beginbfchar <0005> <> endbfchar";
        let codes = codes_of_private_use(map, 2).expect("a map");
        assert_eq!(codes, [1, 2, 0x10, 0x11].into());
    }

    #[test]
    fn gives_a_needed_code_a_text_once() {
        let map = "1 beginbfchar\n<02> <6F22>\nendbfchar\nendcmap\n";
        let once = repaired(map, Some(GLYPH_ZERO)).expect("something to repair");
        assert_eq!(
            once,
            "1 beginbfchar\n<02> <6F22>\nendbfchar\n1 beginbfchar\n<00> <FFFD>\nendbfchar\nendcmap\n"
        );
        assert_eq!(repaired(&once, Some(GLYPH_ZERO)), None);
    }
}
