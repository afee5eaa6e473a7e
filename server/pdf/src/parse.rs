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

struct Parser<'a> {
    lexer: Lexer<'a>,
}

impl<'a> Parser<'a> {
    fn token(&mut self, what: &'static str) -> Result<(usize, Token<'a>), PdfError> {
        let offset = self.lexer.position();
        self.lexer.next_token()?.ok_or(PdfError::damaged(offset, what))
    }

    fn object(&mut self, depth: usize) -> Result<Object<'a>, PdfError> {
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
        let mut ahead = self.lexer.clone();
        if let Object::Integer(value) = number
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
        loop {
            match self.token("the end of an array")? {
                (_, Token::ArrayEnd) => return Ok(Object::Array(items)),
                (offset, token) => items.push(self.object_from(offset, token, depth + 1)?),
            }
        }
    }

    fn dictionary(&mut self, depth: usize) -> Result<Object<'a>, PdfError> {
        let mut entries = Vec::new();
        loop {
            match self.token("the end of a dictionary")? {
                (_, Token::DictionaryEnd) => return Ok(Object::Dictionary(Dictionary { entries })),
                (_, Token::Name(key)) => entries.push((decode_name(key), self.object(depth + 1)?)),
                (offset, _) => {
                    return Err(PdfError::damaged(offset, "expected a key in a dictionary"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
        for raw in [b"1e5".as_slice(), b"inf", b".", b"-", b"1.2.3"] {
            assert_eq!(parse_number(raw), None);
        }
    }
}
