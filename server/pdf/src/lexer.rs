//! Splits PDF syntax (ISO 32000-1, 7.2) into tokens, for objects and content streams alike. Allocates nothing.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::PdfError;
use crate::file::parse_digits;
use crate::object::ObjectNumber;

/// The key of a marked-content identifier (ISO 32000-1, 14.7.4.2) before its value.
const CONTENT_IDENTIFIER_KEY: &[u8] = b"/MCID ";

/// A token, as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token<'a> {
    /// Digits, sign, point.
    Number(&'a [u8]),
    /// Without its slash, `#xx` not decoded.
    Name(&'a [u8]),
    /// Text between the parentheses, escapes not decoded.
    LiteralString(&'a [u8]),
    /// Text between the angle brackets.
    HexString(&'a [u8]),
    ArrayStart,
    ArrayEnd,
    DictionaryStart,
    DictionaryEnd,
    /// An operator, `obj`, `R`, `true` and the like.
    Keyword(&'a [u8]),
}

#[derive(Debug, Clone)]
pub(crate) struct Lexer<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position }
    }

    /// Returns the offset of the next token, or of the white space before it.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Returns the next token and its offset; `None` at the end.
    pub(crate) fn next_token(&mut self) -> Result<Option<(usize, Token<'a>)>, PdfError> {
        self.skip_white_space();
        let start = self.position;
        let Some(&first) = self.bytes.get(start) else {
            return Ok(None);
        };
        let token = match first {
            b'/' => {
                self.position += 1;
                Token::Name(self.regular_run())
            }
            b'(' => self.literal_string()?,
            b'<' if self.bytes.get(start + 1) == Some(&b'<') => self.delimiter(2, Token::DictionaryStart),
            b'<' => self.hex_string()?,
            b'>' if self.bytes.get(start + 1) == Some(&b'>') => self.delimiter(2, Token::DictionaryEnd),
            b'[' => self.delimiter(1, Token::ArrayStart),
            b']' => self.delimiter(1, Token::ArrayEnd),
            b')' | b'>' | b'{' | b'}' => {
                return Err(PdfError::damaged(start, "an unmatched or unknown delimiter"));
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => Token::Number(self.regular_run()),
            _ => Token::Keyword(self.regular_run()),
        };
        Ok(Some((start, token)))
    }

    /// Takes the rest of a reference of generation 0 as it is mostly written, one space between its parts. Returns whether it
    /// is there.
    #[inline]
    pub(crate) fn take_end_of_reference(&mut self) -> bool {
        const END: &[u8] = b" 0 R";
        let rest = &self.bytes[self.position..];
        let is_there = rest.starts_with(END) && rest.get(END.len()).is_none_or(|byte| !is_regular(*byte));
        if is_there {
            self.position += END.len();
        }
        is_there
    }

    /// Takes a reference of generation 0 if it is written as most are, one space between its parts.
    #[inline]
    pub(crate) fn take_reference(&mut self) -> Option<ObjectNumber> {
        const MOST_DIGITS: usize = 9;
        self.skip_white_space();
        let start = self.position;
        let digits = self.bytes[start..]
            .iter()
            .take(MOST_DIGITS)
            .take_while(|byte| byte.is_ascii_digit());
        let (length, number) = digits.fold((0, 0), |(length, number), digit| {
            (length + 1, number * 10 + ObjectNumber::from(digit - b'0'))
        });
        self.position += length;
        let is_there = length > 0 && self.take_end_of_reference();
        if !is_there {
            self.position = start;
        }
        is_there.then_some(number)
    }

    /// Skips white space, and returns whether a digit is next.
    #[inline]
    pub(crate) fn is_before_digit(&mut self) -> bool {
        self.skip_white_space();
        self.bytes.get(self.position).is_some_and(u8::is_ascii_digit)
    }

    /// Returns the next token if it is a plain number, without exponent and the like, with white space after it.
    /// Content consists mostly of numbers and keywords, and trying them first is much faster than `next_token`.
    #[inline]
    pub(crate) fn next_plain_number(&mut self) -> Option<&'a [u8]> {
        self.skip_white_space();
        let rest = &self.bytes[self.position..];
        let sign = usize::from(matches!(rest.first()?, b'-' | b'+'));
        let (mut length, mut points) = (sign, 0);
        loop {
            match rest.get(length)? {
                b'0'..=b'9' => {}
                b'.' => points += 1,
                _ => break,
            }
            length += 1;
        }
        (points < 2 && length > sign + points).then_some(())?;
        self.take_before_white_space(length)
    }

    /// Skips numbers with white space after them.
    #[inline]
    pub(crate) fn skip_plain_numbers(&mut self) {
        let rest = &self.bytes[self.position..];
        let end = rest.iter().position(|byte| !IN_PLAIN_NUMBERS[usize::from(*byte)]);
        let length = end.unwrap_or(rest.len());
        // What follows may belong to the last number.
        let end = rest[..length].iter().rposition(u8::is_ascii_whitespace);
        self.position += end.map_or(0, |end| end + 1);
    }

    /// Skips the entries of a property list that are a marked-content identifier and nothing else, if they are next and as Chromium
    /// writes them.
    #[inline]
    pub(crate) fn skip_content_identifier(&mut self) {
        const MOST_DIGITS: usize = 9;
        let Some(value) = self.rest().strip_prefix(CONTENT_IDENTIFIER_KEY) else {
            return;
        };
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if (1..=MOST_DIGITS).contains(&digits) && value[digits..].starts_with(b" >>") {
            self.position += CONTENT_IDENTIFIER_KEY.len() + digits;
        }
    }

    /// Returns the next token if it is a keyword of letters with white space after it. There must be no white space
    /// before it.
    #[inline]
    pub(crate) fn next_plain_keyword(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.position..];
        let length = rest.iter().position(|byte| !byte.is_ascii_alphabetic())?;
        (length > 0).then_some(())?;
        self.take_before_white_space(length)
    }

    #[inline]
    fn take_before_white_space(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes[self.position..].split_at(length);
        (CLASSES[usize::from(*rest.first()?)] == Class::WhiteSpace).then_some(())?;
        self.position += length + 1;
        Some(taken)
    }

    fn delimiter(&mut self, length: usize, token: Token<'a>) -> Token<'a> {
        self.position += length;
        token
    }

    /// Returns the bytes after the last token.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// Returns a lexer that begins that many bytes after this one.
    pub(crate) fn after(&self, length: usize) -> Self {
        Self::new(self.bytes, self.position + length)
    }

    #[inline]
    pub(crate) fn skip_white_space(&mut self) {
        while let Some(&byte) = self.bytes.get(self.position) {
            match CLASSES[usize::from(byte)] {
                Class::WhiteSpace => self.position += 1,
                Class::Delimiter if byte == b'%' => self.skip_comment(),
                _ => break,
            }
        }
    }

    fn skip_comment(&mut self) {
        let rest = &self.bytes[self.position..];
        self.position += memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
    }

    fn regular_run(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.position..];
        let length = rest.iter().position(|byte| !is_regular(*byte)).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    fn literal_string(&mut self) -> Result<Token<'a>, PdfError> {
        let start = self.position;
        let mut depth = 0_usize;
        while let Some(&byte) = self.bytes.get(self.position) {
            self.position += 1;
            match byte {
                b'\\' => self.position += 1,
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(Token::LiteralString(&self.bytes[start + 1..self.position - 1]));
                    }
                }
                _ => {}
            }
        }
        Err(PdfError::damaged(start, "an unterminated string"))
    }

    fn hex_string(&mut self) -> Result<Token<'a>, PdfError> {
        let start = self.position;
        let inside = &self.bytes[start + 1..];
        match memchr(b'>', inside) {
            Some(length) => {
                self.position = start + length + 2;
                Ok(Token::HexString(&inside[..length]))
            }
            None => Err(PdfError::damaged(start, "an unterminated hexadecimal string")),
        }
    }
}

/// Returns the marked-content identifier if a property list has no other entry, and is as Chromium writes it. `entries` are those
/// between its brackets.
pub(crate) fn only_content_identifier(entries: &[u8]) -> Option<usize> {
    parse_digits(entries.strip_prefix(CONTENT_IDENTIFIER_KEY)?.trim_ascii_end())
}

/// Returns whether a byte may occur in a name, a number or a keyword (ISO 32000-1, 7.2.2).
pub(crate) fn is_regular(byte: u8) -> bool {
    CLASSES[usize::from(byte)] == Class::Regular
}

/// Decodes the `#xx` of a name.
pub(crate) fn decode_name(raw: &[u8]) -> Cow<'_, [u8]> {
    // Faster than `contains` for short names.
    if raw.iter().all(|byte| *byte != b'#') {
        return Cow::Borrowed(raw);
    }
    let mut decoded = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'#', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                decoded.push(hex_value(*high) << 4 | hex_value(*low));
                rest = after;
            }
            _ => {
                decoded.push(*first);
                rest = tail;
            }
        }
    }
    Cow::Owned(decoded)
}

/// Decodes the escapes of a literal string (ISO 32000-1, 7.3.4.2).
pub(crate) fn decode_literal_string(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.iter().any(|byte| matches!(byte, b'\\' | b'\r')) {
        return Cow::Borrowed(raw);
    }
    let mut decoded = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            // Any line end stands for a line feed.
            b'\r' => {
                bytes.next_if_eq(&b'\n');
                decoded.push(b'\n');
            }
            b'\\' => match bytes.next() {
                Some(b'n') => decoded.push(b'\n'),
                Some(b'r') => decoded.push(b'\r'),
                Some(b't') => decoded.push(b'\t'),
                Some(b'b') => decoded.push(0x08),
                Some(b'f') => decoded.push(0x0C),
                // A backslash before a line end continues the string on the next line.
                Some(b'\r') => {
                    bytes.next_if_eq(&b'\n');
                }
                Some(b'\n') | None => {}
                Some(digit @ b'0'..=b'7') => {
                    let mut value = u32::from(digit - b'0');
                    for _ in 0..2 {
                        let Some(digit) = bytes.next_if(|byte| matches!(byte, b'0'..=b'7')) else {
                            break;
                        };
                        value = value * 8 + u32::from(digit - b'0');
                    }
                    decoded.push((value & 0xFF) as u8);
                }
                Some(other) => decoded.push(other),
            },
            _ => decoded.push(byte),
        }
    }
    Cow::Owned(decoded)
}

/// Decodes a hexadecimal string (ISO 32000-1, 7.3.4.3); a last odd digit is treated as if 0 followed.
pub(crate) fn decode_hex_string(raw: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(raw.len().div_ceil(2));
    decoded.extend(hex_bytes(raw));
    decoded
}

/// Returns the bytes of a hexadecimal string, as [`decode_hex_string`] does.
pub(crate) fn hex_bytes(raw: &[u8]) -> impl Iterator<Item = u8> {
    let mut digits = raw.iter().copied().filter(u8::is_ascii_hexdigit).map(hex_value);
    std::iter::from_fn(move || Some(digits.next()? << 4 | digits.next().unwrap_or(0)))
}

/// Returns the value of a hexadecimal digit. Letters have a bit set that decimal digits don't.
pub(crate) fn hex_value(digit: u8) -> u8 {
    (digit & 0xF) + 9 * (digit >> 6)
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Regular,
    WhiteSpace,
    Delimiter,
}

/// Character classes of ISO 32000-1, 7.2.2.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Regular; 256];
    let (white_space, delimiters) = (b"\0\t\n\x0C\r ", b"()<>[]{}/%");
    let mut i = 0;
    while i < white_space.len() {
        classes[white_space[i] as usize] = Class::WhiteSpace;
        i += 1;
    }
    let mut i = 0;
    while i < delimiters.len() {
        classes[delimiters[i] as usize] = Class::Delimiter;
        i += 1;
    }
    classes
};

/// Bytes of numbers, and of the white space that is usual between them.
const IN_PLAIN_NUMBERS: [bool; 256] = {
    let mut are_plain = [false; 256];
    let plain = b"0123456789.-+ \n\r\t";
    let mut i = 0;
    while i < plain.len() {
        are_plain[plain[i] as usize] = true;
        i += 1;
    }
    are_plain
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn next<'a>(lexer: &mut Lexer<'a>) -> Result<Option<Token<'a>>, PdfError> {
        Ok(lexer.next_token()?.map(|(_, token)| token))
    }

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text.as_bytes(), 0);
        std::iter::from_fn(|| lexer.next_token().expect("valid syntax"))
            .map(|(_, token)| token)
            .collect()
    }

    #[test]
    fn cuts_what_chromium_writes_into_tokens() {
        assert_eq!(
            tokens("/Span<</ActualText <feff00e9> >> BDC -.5 0 (a\\)(b)) Tj % note\n[1]"),
            [
                Token::Name(b"Span"),
                Token::DictionaryStart,
                Token::Name(b"ActualText"),
                Token::HexString(b"feff00e9"),
                Token::DictionaryEnd,
                Token::Keyword(b"BDC"),
                Token::Number(b"-.5"),
                Token::Number(b"0"),
                Token::LiteralString(b"a\\)(b)"),
                Token::Keyword(b"Tj"),
                Token::ArrayStart,
                Token::Number(b"1"),
                Token::ArrayEnd,
            ]
        );
    }

    proptest! {
        #[test]
        fn plain_tokens_are_what_stands_there(content in "([-+.0-9a-zA-Z*/<>%()\\[]{0,5}[ \n]?)*") {
            let (mut lexer, mut reference) = (Lexer::new(content.as_bytes(), 0), Lexer::new(content.as_bytes(), 0));
            loop {
                let number = lexer.next_plain_number().map(Token::Number);
                let plain = number.or_else(|| lexer.next_plain_keyword().map(Token::Keyword));
                let found = plain.map_or_else(|| next(&mut lexer), |token| Ok(Some(token)));
                let is_last = !matches!(found, Ok(Some(_)));
                prop_assert_eq!(found, next(&mut reference));
                if is_last {
                    break;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn skips_whole_numbers_only(content in "[-+.0-9 \n]{0,9}([-+.0-9a-zA-Z/<(]{1,3} ?){0,3}") {
            let mut lexer = Lexer::new(content.as_bytes(), 0);
            let mut reference = lexer.clone();
            lexer.skip_plain_numbers();
            reference.skip_white_space();
            while reference.position() < lexer.position() {
                prop_assert!(matches!(next(&mut reference), Ok(Some(Token::Number(_)))));
                reference.skip_white_space();
            }
            prop_assert_eq!(next(&mut lexer), next(&mut reference));
        }
    }

    #[test]
    fn identifiers_are_skipped_if_they_are_the_only_entry() {
        for (entries, is_skipped, identifier) in [
            ("/MCID 12 ", true, Some(12)),
            ("/MCID 12", false, Some(12)),
            ("/MCID 1234567890 ", false, Some(1_234_567_890)),
            ("/MCID 12 /Lang (en) ", false, None),
            ("/Lang (en) /MCID 12 ", false, None),
            ("/MCID -1 ", false, None),
            ("/MCID 1.5 ", false, None),
            ("/MCID ", false, None),
            ("/MCIDs 1 ", false, None),
        ] {
            let text = format!("{entries}>>BDC");
            let mut lexer = Lexer::new(text.as_bytes(), 0);
            lexer.skip_content_identifier();
            let rest = if is_skipped { " >>BDC" } else { &text };
            assert_eq!(lexer.rest(), rest.as_bytes(), "{entries}");
            assert_eq!(only_content_identifier(entries.as_bytes()), identifier, "{entries}");
        }
    }

    #[test]
    fn decodes_escapes() {
        assert_eq!(
            decode_literal_string(b"a\\(b\\)\\\\\\n\\101\\1011\\\r\nz\r\n").as_ref(),
            b"a(b)\\\nAA1z\n"
        );
        assert_eq!(decode_hex_string(b"48 65 6c6C 7"), b"Hellp");
        assert_eq!(decode_name(b"a#20b#2").as_ref(), b"a b#2");
    }

    #[test]
    fn open_strings_are_damage() {
        for text in ["(abc", "(abc\\", "<41", ")", ">", "}"] {
            assert!(Lexer::new(text.as_bytes(), 0).next_token().is_err(), "{text}");
        }
    }
}
