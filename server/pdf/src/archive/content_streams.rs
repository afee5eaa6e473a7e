//! Repairs content streams: characters that no font has, numbers and strings beyond the limits of PDF/A. Everything
//! else stays the same, byte for byte.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::limits::{is_extreme, within_range};
use crate::PdfError;
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name};
use crate::object::ObjectNumber;
use crate::parse::parse_number;
use crate::text::{MAX_STRING, decode, fit_encoded};
use crate::write::{write_hex_string, write_name, write_object, write_string};

/// Limits on the operands of one operator, and on the nesting of `q` and of marked content. Far above what Chromium
/// writes; they bound the memory that a damaged stream can take.
const MAX_OPERANDS: usize = 65_536;
const MAX_NESTING: usize = 4_096;
/// Longest string that is written; even, so that no two-byte code is split.
const STRING_PART: usize = MAX_STRING / 2 * 2;

/// Bytes of a text that are recorded: a byte-order mark and nine characters of four bytes.
const NOTED_LENGTH: usize = 2 + 9 * 4;

/// Fonts of two-byte codes by their names in the stream's resources.
pub(super) type CompositeFonts = BTreeMap<Vec<u8>, ObjectNumber>;

/// Returns the name of a font's stand-in in the resources.
pub(super) fn stand_in_name(font: ObjectNumber) -> String {
    format!("PlatenMissing{font}")
}

/// A repaired stream.
#[derive(Debug, Default)]
pub(super) struct RepairedContent {
    pub(super) bytes: Vec<u8>,
    /// Characters that no font has: the current font, and the beginning of the text if the stream contains it.
    pub(super) missing: BTreeSet<(ObjectNumber, Option<String>)>,
    /// Number of clamped numbers.
    pub(super) limited: usize,
    /// Number of shortened replacement texts.
    pub(super) shortened: usize,
}

/// Repairs a content stream; returns `None` if there is nothing to repair.
pub(super) fn repair(content: &[u8], fonts: &CompositeFonts) -> Result<Option<RepairedContent>, PdfError> {
    let mut repairer = Repairer {
        content,
        fonts,
        copied: 0,
        repaired: RepairedContent::default(),
        font: None,
        saved_fonts: Vec::new(),
        replacement_texts: Vec::new(),
    };
    let mut lexer = Lexer::new(content, 0);
    let mut operands: Vec<Operand> = Vec::new();
    while let Some((start, token)) = lexer.next_token()? {
        match token {
            Token::Keyword(operator) if !matches!(operator, b"true" | b"false" | b"null") => {
                repairer.operator(operator, &operands, lexer.position())?;
                operands.clear();
                if operator == b"ID" {
                    lexer = Lexer::new(content, end_of_inline_image(content, lexer.position())?);
                }
            }
            _ if operands.len() == MAX_OPERANDS => {
                return Err(PdfError::damaged(start, "expected an operator in a content stream"));
            }
            token => operands.push(Operand {
                range: start..lexer.position(),
                token,
            }),
        }
    }
    if repairer.copied == 0 {
        return Ok(None);
    }
    repairer.repaired.bytes.extend_from_slice(&content[repairer.copied..]);
    Ok(Some(repairer.repaired))
}

struct Operand<'c> {
    range: Range<usize>,
    token: Token<'c>,
}

impl<'c> Operand<'c> {
    /// Returns the bytes of a string; `None` for anything else.
    fn string(&self) -> Option<Cow<'c, [u8]>> {
        match self.token {
            Token::LiteralString(raw) => Some(decode_literal_string(raw)),
            Token::HexString(raw) => Some(Cow::Owned(decode_hex_string(raw))),
            _ => None,
        }
    }
}

/// The current font.
#[derive(Clone, Copy)]
struct Font<'c> {
    /// Name as written, without the slash.
    name: &'c [u8],
    /// Size as written.
    size: &'c [u8],
    /// Object number if codes have two bytes.
    composite: Option<ObjectNumber>,
}

struct Repairer<'c, 'f> {
    content: &'c [u8],
    fonts: &'f CompositeFonts,
    /// Offset in `content` up to which `repaired` is complete.
    copied: usize,
    repaired: RepairedContent,
    font: Option<Font<'c>>,
    saved_fonts: Vec<Option<Font<'c>>>,
    /// Beginning of `/ActualText` for each open marked content.
    replacement_texts: Vec<Option<String>>,
}

impl<'c> Repairer<'c, '_> {
    fn operator(&mut self, operator: &[u8], operands: &[Operand<'c>], end: usize) -> Result<(), PdfError> {
        if matches!(operator, b"Tj" | b"TJ") && self.needs_other_text(operands) {
            let start = operands.first().map_or(end, |operand| operand.range.start);
            self.copy_to(start);
            self.show_text(operands);
            self.copied = end;
            return Ok(());
        }
        for operand in operands {
            if let Token::Number(raw) = operand.token
                && is_extreme(raw)
            {
                self.copy_to(operand.range.start);
                self.limited_number(raw);
                self.copied = operand.range.end;
            }
        }
        match operator {
            b"q" => self.saved_fonts.push(self.font),
            b"Q" => self.font = self.saved_fonts.pop().unwrap_or_default(),
            b"Tf" => {
                if let [
                    Operand {
                        token: Token::Name(name),
                        ..
                    },
                    Operand {
                        token: Token::Number(size),
                        ..
                    },
                ] = operands
                {
                    let composite = self.fonts.get(decode_name(name).as_ref()).copied();
                    self.font = Some(Font { name, size, composite });
                }
            }
            b"BMC" => self.replacement_texts.push(None),
            b"BDC" => self.begin_marked_content(operands),
            b"EMC" => {
                self.replacement_texts.pop();
            }
            _ => {}
        }
        if self.saved_fonts.len().max(self.replacement_texts.len()) > MAX_NESTING {
            return Err(PdfError::damaged(end, "a content stream nested too deeply"));
        }
        Ok(())
    }

    fn copy_to(&mut self, end: usize) {
        self.repaired.bytes.extend_from_slice(&self.content[self.copied..end]);
        self.copied = end;
    }

    fn limited_number(&mut self, raw: &[u8]) {
        if let Some(number) = parse_number(raw).as_ref().and_then(within_range) {
            write_object(&mut self.repaired.bytes, &number);
            self.repaired.limited += 1;
        }
    }

    fn begin_marked_content(&mut self, operands: &[Operand<'c>]) {
        let value = operands
            .windows(2)
            .find(|pair| pair[0].token == Token::Name(b"ActualText"))
            .map(|pair| &pair[1]);
        let text = value.and_then(Operand::string);
        if let (Some(value), Some(text)) = (value, &text)
            && text.len() > MAX_STRING
        {
            self.copy_to(value.range.start);
            write_string(&mut self.repaired.bytes, fit_encoded(text));
            self.copied = value.range.end;
            self.repaired.shortened += 1;
        }
        let beginning = text.map(|text| decode(&text[..text.len().min(NOTED_LENGTH)]));
        self.replacement_texts.push(beginning);
    }

    fn needs_other_text(&self, operands: &[Operand]) -> bool {
        let is_composite = self.font.is_some_and(|font| font.composite.is_some());
        operands.iter().any(|operand| match (operand.string(), operand.token) {
            (Some(text), _) => text.len() > MAX_STRING || (is_composite && text.chunks(2).any(is_missing)),
            (None, Token::Number(raw)) => is_extreme(raw),
            _ => false,
        })
    }

    /// Writes the text of a `Tj` or `TJ` in runs: code 0000 in the stand-in font, whose only code is 00, all others in
    /// the current font. Position and spacing stay the same, because both fonts have the same advance.
    fn show_text(&mut self, operands: &[Operand]) {
        let composite = self.font.and_then(|font| font.composite);
        let mut is_stand_in = false;
        self.repaired.bytes.push(b'[');
        for operand in operands {
            if let Token::Number(raw) = operand.token {
                if is_extreme(raw) {
                    self.limited_number(raw);
                } else {
                    self.repaired.bytes.extend_from_slice(raw);
                }
                self.repaired.bytes.push(b' ');
            }
            let Some(text) = operand.string() else { continue };
            let Some(number) = composite else {
                self.write_parts(&text);
                continue;
            };
            let codes: Vec<&[u8]> = text.chunks(2).collect();
            for run in codes.chunk_by(|left, right| is_missing(left) == is_missing(right)) {
                if is_missing(run[0]) != is_stand_in {
                    is_stand_in = !is_stand_in;
                    self.switch_font(is_stand_in);
                }
                if is_stand_in {
                    let text = self.replacement_texts.iter().rev().flatten().next();
                    self.repaired.missing.insert((number, text.cloned()));
                    self.write_parts(&vec![0; run.len()]);
                } else {
                    self.write_parts(&run.concat());
                }
            }
        }
        self.repaired.bytes.extend_from_slice(b"] TJ");
        if is_stand_in {
            self.write_font(false);
        }
    }

    fn switch_font(&mut self, to_stand_in: bool) {
        self.repaired.bytes.extend_from_slice(b"] TJ");
        self.write_font(to_stand_in);
        self.repaired.bytes.extend_from_slice(b" [");
    }

    fn write_font(&mut self, is_stand_in: bool) {
        let Some(font) = self.font else { return };
        let output = &mut self.repaired.bytes;
        output.push(b' ');
        if let Some(number) = font.composite.filter(|_| is_stand_in) {
            write_name(output, stand_in_name(number).as_bytes());
        } else {
            output.push(b'/');
            output.extend_from_slice(font.name);
        }
        output.push(b' ');
        output.extend_from_slice(font.size);
        output.extend_from_slice(b" Tf");
    }

    fn write_parts(&mut self, text: &[u8]) {
        for part in text.chunks(STRING_PART) {
            write_hex_string(&mut self.repaired.bytes, part);
        }
    }
}

fn is_missing(code: &[u8]) -> bool {
    code == [0, 0]
}

/// Returns the end of an inline image. Its data has no syntax and ends at an `EI` between white space (ISO 32000-1,
/// 8.9.7).
pub(super) fn end_of_inline_image(content: &[u8], start: usize) -> Result<usize, PdfError> {
    let is_end = |window: &[u8]| matches!(window, [before, b'E', b'I'] if before.is_ascii_whitespace());
    let mut ends = content[start..]
        .windows(3)
        .enumerate()
        .filter(|(_, window)| is_end(window))
        .map(|(at, _)| start + at + 3);
    ends.find(|end| content.get(*end).is_none_or(u8::is_ascii_whitespace))
        .ok_or(PdfError::damaged(start, "expected the end of an inline image"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(content: &str) -> Option<String> {
        let fonts = CompositeFonts::from([(b"F4".to_vec(), 7)]);
        let repaired = repair(content.as_bytes(), &fonts).expect("valid")?;
        Some(String::from_utf8(repaired.bytes).expect("ASCII"))
    }

    #[test]
    fn draws_missing_characters_in_the_stand_in() {
        assert_eq!(
            repaired("BT /F4 16 Tf <005700000058> Tj ET").as_deref(),
            Some("BT /F4 16 Tf [<0057>] TJ /PlatenMissing7 16 Tf [<00>] TJ /F4 16 Tf [<0058>] TJ ET")
        );
        assert_eq!(
            repaired("/F4 9 Tf [<0057> -20 <00000000> 5 (\\000\\000)] TJ").as_deref(),
            Some("/F4 9 Tf [<0057>-20 ] TJ /PlatenMissing7 9 Tf [<0000>5 <00>] TJ /F4 9 Tf")
        );
    }

    #[test]
    fn follows_the_font_in_use() {
        // A font of one-byte codes, one that `Q` restores, and no font.
        for untouched in [
            "/F5 9 Tf <0000> Tj",
            "/F5 9 Tf q /F4 9 Tf Q <0000> Tj",
            "<0000> Tj",
            "/F4 9 Tf <01000020> Tj",
        ] {
            assert_eq!(repaired(untouched), None, "{untouched}");
        }
        assert!(repaired("/F4 9 Tf q /F5 9 Tf Q <0000> Tj").is_some());
    }

    #[test]
    fn names_the_text_where_the_stream_gives_it() {
        let content = b"/F4 9 Tf /Span<</ActualText <feffe123> >> BDC <0000> Tj EMC <0000> Tj";
        let fonts = CompositeFonts::from([(b"F4".to_vec(), 7)]);
        let repaired = repair(content, &fonts).expect("valid").expect("something to repair");
        assert_eq!(
            repaired.missing,
            BTreeSet::from([(7, None), (7, Some("\u{E123}".into()))])
        );
    }

    #[test]
    fn splits_long_strings_and_cuts_long_texts() {
        let long = repaired(&format!("/F5 9 Tf <{}> Tj", "41".repeat(40_000))).expect("something to repair");
        let lengths: Vec<usize> = long.split(['<', '>']).skip(1).step_by(2).map(str::len).collect();
        assert_eq!(lengths, [2 * 32_766, 2 * 7_234]);
        let text = format!("/Span <</ActualText <feff{}>>> BDC EMC", "0301".repeat(20_000));
        let text = repaired(&text).expect("something to repair");
        assert_eq!(
            text,
            format!("/Span <</ActualText <FEFF{}>>> BDC EMC", "0301".repeat(16_382))
        );
    }

    #[test]
    fn limits_numbers_and_leaves_inline_images() {
        let image = "BI /W 1 /H 1 ID (99999999999 EI) <\nEI Q";
        assert_eq!(repaired(image), None);
        assert_eq!(
            repaired(&format!("q 99999999999 0 0 -1e5 0 cm {image}")).as_deref(),
            Some(format!("q 2147483647 0 0 -1e5 0 cm {image}").as_str())
        );
    }

    #[test]
    fn content_without_end_is_damage() {
        for content in [
            "1 ".repeat(100_000),
            "q ".repeat(100_000),
            "ID x".into(),
            "<0000".into(),
        ] {
            let result = repair(content.as_bytes(), &CompositeFonts::new());
            assert!(matches!(result, Err(PdfError::Damaged { .. })));
        }
    }
}
