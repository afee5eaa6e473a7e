//! Parses objects from tokens (ISO 32000-1, 7.3).

use std::borrow::Cow;

use crate::PdfError;
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name};
use crate::object::{Dictionary, Object, ObjectNumber, Stream};

/// Greatest nesting of arrays and dictionaries. Chromium writes up to six levels; the limit prevents damaged files from
/// exhausting the stack.
const MAX_DEPTH: usize = 64;

/// Parses the indirect object that fills `bytes[start..end]`, from its number to `endobj`.
pub(crate) fn parse_indirect_object(bytes: &[u8], start: usize, end: usize) -> Result<Object<'_>, PdfError> {
    let mut parser = Parser {
        lexer: Lexer::new(&bytes[..end], start),
    };
    // Number, generation, `obj`: checked when the file was opened.
    for _ in 0..3 {
        parser.token("an object")?;
    }
    let object = parser.object(0)?;
    match (parser.token("endobj or stream")?, object) {
        ((_, Token::Keyword(b"endobj")), object) => Ok(object),
        ((keyword, Token::Keyword(b"stream")), Object::Dictionary(dictionary)) => {
            let data = stream_data(bytes, keyword + b"stream".len(), end, &dictionary)?;
            Ok(Object::Stream(Stream {
                dictionary,
                data: Cow::Borrowed(data),
            }))
        }
        ((offset, _), _) => Err(PdfError::damaged(offset, "expected endobj or stream after an object")),
    }
}

/// Parses the dictionary that begins at `start`.
pub(crate) fn parse_dictionary(bytes: &[u8], start: usize) -> Result<Dictionary<'_>, PdfError> {
    match (Parser {
        lexer: Lexer::new(bytes, start),
    })
    .object(0)?
    {
        Object::Dictionary(dictionary) => Ok(dictionary),
        _ => Err(PdfError::damaged(start, "expected a dictionary")),
    }
}

/// Parses a number token. An integer beyond 64 bits becomes the smallest or largest one.
pub(crate) fn parse_number(raw: &[u8]) -> Option<Object<'static>> {
    if let Some(number) = short_number(raw) {
        return Some(number);
    }
    let text = std::str::from_utf8(raw).ok()?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let outermost = if text.starts_with('-') { i64::MIN } else { i64::MAX };
        return Some(Object::Integer(text.parse().unwrap_or(outermost)));
    }
    // Rust would also parse exponents, `inf` and `nan`, which PDF doesn't have.
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain {
        text.parse().ok().map(Object::Real)
    } else {
        None
    }
}

/// Parses a number of at most 15 digits, as nearly all are. A real one is the quotient of two exact numbers, and thus as exact
/// as that of any other method. Returns `None` for other numbers.
fn short_number(raw: &[u8]) -> Option<Object<'static>> {
    const MOST_DIGITS: usize = 15;
    const POWERS: [f64; MOST_DIGITS + 1] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let (is_negative, unsigned) = match raw {
        [b'-', unsigned @ ..] => (true, unsigned),
        [b'+', unsigned @ ..] => (false, unsigned),
        _ => (false, raw),
    };
    let (mut value, mut point) = (0_i64, None);
    for (index, byte) in unsigned.iter().take(MOST_DIGITS + 2).enumerate() {
        match byte {
            b'0'..=b'9' => value = value * 10 + i64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(index),
            _ => return None,
        }
    }
    let digits = unsigned.len() - usize::from(point.is_some());
    if digits == 0 || digits > MOST_DIGITS {
        return None;
    }
    let value = if is_negative { -value } else { value };
    Some(match point {
        None => Object::Integer(value),
        // The sign of zero matters to nothing.
        Some(point) => Object::Real(value as f64 / POWERS[unsigned.len() - point - 1]),
    })
}

fn stream_data<'a>(bytes: &'a [u8], after: usize, end: usize, dictionary: &Dictionary) -> Result<&'a [u8], PdfError> {
    let damaged = |what| PdfError::damaged(after, what);
    let line_end = match &bytes[after..end] {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => return Err(damaged("expected a line end after stream")),
    };
    // Chromium writes every length as a direct object.
    let length = dictionary
        .get("Length")
        .and_then(Object::as_integer)
        .and_then(|length| usize::try_from(length).ok());
    let start = after + line_end;
    let stop = length
        .and_then(|length| start.checked_add(length))
        .filter(|stop| *stop <= end);
    let stop = stop.ok_or_else(|| damaged("a stream whose length is missing or wrong"))?;
    if !bytes[stop..end].trim_ascii_start().starts_with(b"endstream") {
        return Err(damaged("expected endstream at the end given by the stream's length"));
    }
    Ok(&bytes[start..stop])
}

/// Reads a dictionary entry by entry: values that aren't needed are skipped, and not built.
pub(crate) struct Entries<'a> {
    parser: Parser<'a>,
}

impl<'a> Entries<'a> {
    /// Begins at the first token of a lexer; `None` if that doesn't begin a dictionary.
    pub(crate) fn begin(lexer: Lexer<'a>) -> Result<Option<Self>, PdfError> {
        let mut parser = Parser { lexer };
        let (_, token) = parser.token("an object")?;
        Ok((token == Token::DictionaryStart).then_some(Self { parser }))
    }

    /// Returns the next key; `None` after the last one. Its value must be read or skipped before the next call.
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'a, [u8]>>, PdfError> {
        self.parser.key()
    }

    /// Reads the value.
    pub(crate) fn value(&mut self) -> Result<Object<'a>, PdfError> {
        self.parser.object(1)
    }

    /// Reads the value. Returns its text, too.
    pub(crate) fn value_with_text(&mut self) -> Result<(Object<'a>, &'a [u8]), PdfError> {
        self.parser.lexer.skip_white_space();
        let before = self.parser.lexer.rest();
        let value = self.value()?;
        let length = before.len() - self.parser.lexer.rest().len();
        Ok((value, &before[..length]))
    }

    /// Skips a value that ends with a delimiter, if its text is the given one. Returns whether it is.
    pub(crate) fn skip_text(&mut self, text: &[u8]) -> bool {
        self.parser.lexer.skip_white_space();
        let is_there = self.parser.lexer.rest().starts_with(text);
        if is_there {
            self.parser.lexer = self.parser.lexer.after(text.len());
        }
        is_there
    }

    /// Reads the items of an array, or a value that is none.
    pub(crate) fn items(&mut self, mut visit: impl FnMut(Object<'a>)) -> Result<(), PdfError> {
        let (offset, token) = self.parser.token("an object")?;
        if token == Token::ArrayStart {
            return self.parser.items(1, visit);
        }
        visit(self.parser.object_from(offset, token, 1)?);
        Ok(())
    }

    /// Skips the value.
    pub(crate) fn skip(&mut self) -> Result<(), PdfError> {
        let mut depth = 0_usize;
        loop {
            let (offset, token) = self.parser.token("an object")?;
            match token {
                Token::ArrayStart | Token::DictionaryStart => depth += 1,
                Token::ArrayEnd | Token::DictionaryEnd => {
                    let outer = depth.checked_sub(1);
                    depth = outer.ok_or(PdfError::damaged(offset, "expected an object"))?;
                }
                Token::Number(raw) => _ = self.parser.number_or_reference(offset, raw)?,
                Token::Name(_) | Token::LiteralString(_) | Token::HexString(_) | Token::Keyword(_) => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
}

impl<'a> Parser<'a> {
    fn token(&mut self, what: &'static str) -> Result<(usize, Token<'a>), PdfError> {
        let offset = self.lexer.position();
        self.lexer.next_token()?.ok_or(PdfError::damaged(offset, what))
    }

    fn object(&mut self, depth: usize) -> Result<Object<'a>, PdfError> {
        if let Some(number) = self.lexer.take_reference() {
            return Ok(Object::Reference(number));
        }
        let (offset, token) = self.token("an object")?;
        self.object_from(offset, token, depth)
    }

    fn object_from(&mut self, offset: usize, token: Token<'a>, depth: usize) -> Result<Object<'a>, PdfError> {
        if depth > MAX_DEPTH {
            return Err(PdfError::damaged(offset, "arrays and dictionaries nested too deeply"));
        }
        Ok(match token {
            Token::Number(raw) => self.number_or_reference(offset, raw)?,
            Token::Name(raw) => Object::Name(decode_name(raw)),
            Token::LiteralString(raw) => Object::String(decode_literal_string(raw)),
            Token::HexString(raw) => Object::String(Cow::Owned(decode_hex_string(raw))),
            Token::ArrayStart => self.array(depth)?,
            Token::DictionaryStart => self.dictionary(depth)?,
            Token::Keyword(b"null") => Object::Null,
            Token::Keyword(b"true") => Object::Boolean(true),
            Token::Keyword(b"false") => Object::Boolean(false),
            Token::Keyword(_) | Token::ArrayEnd | Token::DictionaryEnd => {
                return Err(PdfError::damaged(offset, "expected an object"));
            }
        })
    }

    fn number_or_reference(&mut self, offset: usize, raw: &[u8]) -> Result<Object<'a>, PdfError> {
        let number = parse_number(raw).ok_or(PdfError::damaged(offset, "expected a number"))?;
        if let Object::Integer(value) = number
            && let Ok(number) = ObjectNumber::try_from(value)
            && self.lexer.take_end_of_reference()
        {
            return Ok(Object::Reference(number));
        }
        let mut ahead = self.lexer.clone();
        if let Object::Integer(value) = number
            && ahead.is_before_digit()
            && let Some((_, Token::Number(generation))) = ahead.next_token()?
            && let Some((_, Token::Keyword(b"R"))) = ahead.next_token()?
        {
            self.lexer = ahead;
            return match (ObjectNumber::try_from(value), generation) {
                (Ok(number), b"0") => Ok(Object::Reference(number)),
                _ => Err(PdfError::damaged(offset, "expected a reference of generation 0")),
            };
        }
        Ok(number)
    }

    fn array(&mut self, depth: usize) -> Result<Object<'a>, PdfError> {
        let mut items = Vec::new();
        self.items(depth, |item| items.push(item))?;
        Ok(Object::Array(items))
    }

    /// Reads the items of an array up to its end.
    fn items(&mut self, depth: usize, mut visit: impl FnMut(Object<'a>)) -> Result<(), PdfError> {
        loop {
            while let Some(number) = self.lexer.take_reference() {
                visit(Object::Reference(number));
            }
            match self.token("the end of an array")? {
                (_, Token::ArrayEnd) => return Ok(()),
                (offset, token) => visit(self.object_from(offset, token, depth + 1)?),
            }
        }
    }

    fn dictionary(&mut self, depth: usize) -> Result<Object<'a>, PdfError> {
        let mut entries = Vec::new();
        while let Some(key) = self.key()? {
            entries.push((key, self.object(depth + 1)?));
        }
        Ok(Object::Dictionary(Dictionary { entries }))
    }

    /// Reads the next key of a dictionary; `None` at its end.
    fn key(&mut self) -> Result<Option<Cow<'a, [u8]>>, PdfError> {
        match self.token("the end of a dictionary")? {
            (_, Token::DictionaryEnd) => Ok(None),
            (_, Token::Name(key)) => Ok(Some(decode_name(key))),
            (offset, _) => Err(PdfError::damaged(offset, "expected a key in a dictionary")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Object<'_>, PdfError> {
        parse_indirect_object(text.as_bytes(), 0, text.len())
    }

    #[test]
    fn tells_references_from_numbers() {
        let object = parse("7 0 obj\n[1 2 0 R 3 0 4]\nendobj\n").expect("valid");
        let integer = Object::Integer;
        assert_eq!(
            object,
            Object::Array(vec![
                integer(1),
                Object::Reference(2),
                integer(3),
                integer(0),
                integer(4)
            ])
        );
    }

    #[test]
    fn entries_are_read_or_skipped() {
        let text = "<</A 1 0 R/B [1 <</X (>>)>> 2 0 R] /C#20D [3 4 0 R] /E <</F [5]>>/G true>>";
        let mut entries = Entries::begin(Lexer::new(text.as_bytes(), 0))
            .expect("valid")
            .expect("a dictionary");
        let mut found = Vec::new();
        while let Some(key) = entries.next_key().expect("a key") {
            match key.as_ref() {
                b"A" => assert_eq!(entries.value(), Ok(Object::Reference(1))),
                b"C D" => entries.items(|item| found.push(item)).expect("items"),
                b"G" => entries.items(|item| found.push(item)).expect("a value"),
                _ => entries.skip().expect("a value"),
            }
        }
        assert_eq!(found, [Object::Integer(3), Object::Reference(4), Object::Boolean(true)]);
        assert!(Entries::begin(Lexer::new(b"[1]", 0)).expect("valid").is_none());
        let mut damaged = Entries::begin(Lexer::new(b"<</A]", 0))
            .expect("valid")
            .expect("a dictionary");
        damaged.next_key().expect("a key");
        assert!(damaged.skip().is_err());
    }

    #[test]
    fn takes_the_data_of_a_stream_by_its_length() {
        let object = parse("7 0 obj\n<</Length 12>> stream\nendstream  x\nendstream\nendobj\n").expect("valid");
        let Object::Stream(stream) = object else {
            panic!("not a stream: {object:?}")
        };
        assert_eq!(stream.data.as_ref(), b"endstream  x");
    }

    #[test]
    fn refuses_damage_by_name() {
        for text in [
            "7 0 obj\n<</Length 99>> stream\nx\nendstream\nendobj\n",
            "7 0 obj\n<</Length -1>> stream\nx\nendstream\nendobj\n",
            "7 0 obj\n<</Length 1>> stream\nxyz\nendstream\nendobj\n",
            "7 0 obj\n<</A 1 2>>\nendobj\n",
            "7 0 obj\n[1 0 R 2 1 R]\nendobj\n",
            "7 0 obj\n--5\nendobj\n",
            "7 0 obj\n1",
        ] {
            assert!(matches!(parse(text), Err(PdfError::Damaged { .. })), "{text}");
        }
        let deep = format!("7 0 obj\n{}{}\nendobj\n", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(parse(&deep), Err(PdfError::Damaged { .. })));
    }

    #[test]
    fn numbers_have_no_exponent() {
        assert_eq!(parse_number(b"-.5"), Some(Object::Real(-0.5)));
        assert_eq!(parse_number(b"+17"), Some(Object::Integer(17)));
        assert_eq!(parse_number(b"99999999999999999999"), Some(Object::Integer(i64::MAX)));
        assert_eq!(
            parse_number(b"-123456789012345"),
            Some(Object::Integer(-123_456_789_012_345))
        );
        assert_eq!(parse_number(b"5."), Some(Object::Real(5.0)));
        for raw in [b"1e5".as_slice(), b"inf", b".", b"-", b"1.2.3"] {
            assert_eq!(parse_number(raw), None);
        }
    }

    proptest! {
        #[test]
        fn numbers_are_rounded_correctly(text in "[-+]?([0-9]{1,12}\\.[0-9]{0,12}|\\.[0-9]{1,18})") {
            prop_assert_eq!(parse_number(text.as_bytes()), text.parse().ok().map(Object::Real));
        }
    }
}
