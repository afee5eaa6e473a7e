//! Finds the tokens of an object that change their meaning when its file becomes one of several in a document.

use std::borrow::Cow;
use std::ops::Range;

use crate::PdfError;
use crate::lexer::{Lexer, Token, decode_hex_string, decode_literal_string, decode_name};
use crate::object::ObjectNumber;

/// A value of an object that is valid only within its file.
#[derive(Debug, PartialEq)]
pub(crate) enum Mention<'a> {
    /// A reference to an object.
    Object(ObjectNumber),
    /// A key of the parent tree: `/StructParent` or `/StructParents` (ISO 32000-1, 14.7.4.4).
    StructureKey(i64),
    /// The identifier of a structure element: `/ID`, or one of `/Headers` (ISO 32000-1, 14.7.2 and 14.8.5.7).
    Identifier(Cow<'a, [u8]>),
    /// The name of a destination: `/Dest` (ISO 32000-1, 12.3.2.3).
    Destination(Cow<'a, [u8]>),
}

/// Visits every mention with its range, in order, up to a stream's data or the end, and returns the offset where it
/// stopped. Many times faster than building the object, and allocates nothing.
pub(crate) fn find_mentions<'a>(
    mut lexer: Lexer<'a>,
    mut visit: impl FnMut(Range<usize>, Mention<'a>),
) -> Result<usize, PdfError> {
    let mut key: &[u8] = b"";
    let mut is_in_headers = false;
    // The preceding numbers, which may be the beginning of a reference.
    let mut numbers = [None, None];
    loop {
        lexer.skip_white_space();
        let start = lexer.position();
        if !matches!(key, b"StructParent" | b"StructParents")
            && let Some(number) = lexer.take_reference()
        {
            visit(start..lexer.position(), Mention::Object(number));
            (key, numbers) = (b"", [None, None]);
            continue;
        }
        let Some((_, token)) = lexer.next_token()? else {
            return Ok(lexer.position());
        };
        let former_key = std::mem::take(&mut key);
        let former_numbers = std::mem::take(&mut numbers);
        let range = start..lexer.position();
        match token {
            Token::Number(raw) => {
                if matches!(former_key, b"StructParent" | b"StructParents") {
                    visit(range, Mention::StructureKey(parse_integer(start, raw)?));
                } else {
                    numbers = [former_numbers[1], Some((start, raw))];
                }
            }
            Token::Keyword(b"R") => {
                let [Some((start, number)), Some((_, b"0"))] = former_numbers else {
                    return Err(PdfError::damaged(start, "expected a reference of generation 0"));
                };
                visit(start..range.end, Mention::Object(parse_integer(start, number)?));
            }
            Token::Keyword(b"stream") => return Ok(start),
            Token::Name(raw) if former_key == b"Dest" => visit(range, Mention::Destination(decode_name(raw))),
            Token::Name(raw) => key = raw,
            Token::LiteralString(raw) if is_in_headers || former_key == b"ID" => {
                visit(range, Mention::Identifier(decode_literal_string(raw)));
            }
            Token::HexString(raw) if is_in_headers || former_key == b"ID" => {
                visit(range, Mention::Identifier(Cow::Owned(decode_hex_string(raw))));
            }
            Token::ArrayStart => is_in_headers = former_key == b"Headers",
            Token::ArrayEnd => is_in_headers = false,
            _ => {}
        }
    }
}

fn parse_integer<T: std::str::FromStr>(offset: usize, raw: &[u8]) -> Result<T, PdfError> {
    let text = std::str::from_utf8(raw).ok();
    text.and_then(|text| text.parse().ok())
        .ok_or(PdfError::damaged(offset, "expected an integer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_holds_within_a_file_only() {
        let text: &[u8] =
            b"<</K [1 2 0 R 3]/StructParents 4/T (5 0 R /Dest) % 6 0 R\n/ID (a\\(b)/A<</Headers [<6162>(c)]\
            /Other [(d)]>>/Dest /e#66>> stream\n7 0 R";
        let mut found = Vec::new();
        let stop = find_mentions(Lexer::new(text, 0), |range, mention| {
            found.push((String::from_utf8_lossy(&text[range]).into_owned(), mention));
        })
        .expect("valid");
        let identifier = |id: &'static str| Mention::Identifier(Cow::Borrowed(id.as_bytes()));
        let expected = [
            ("2 0 R", Mention::Object(2)),
            ("4", Mention::StructureKey(4)),
            ("(a\\(b)", identifier("a(b")),
            ("<6162>", identifier("ab")),
            ("(c)", identifier("c")),
            ("/e#66", Mention::Destination(Cow::Borrowed(b"ef"))),
        ];
        assert_eq!(found, expected.map(|(written, mention)| (written.to_owned(), mention)));
        assert!(text[stop..].starts_with(b"stream"));
    }

    #[test]
    fn refuses_what_it_can_not_renumber() {
        for text in [
            "1 1 R",
            "0 R",
            "-1 0 R",
            "1.5 0 R",
            "99999999999 0 R",
            "/StructParents 5 0 R",
        ] {
            let result = find_mentions(Lexer::new(text.as_bytes(), 0), |_, _| {});
            assert!(matches!(result, Err(PdfError::Damaged { .. })), "{text}");
        }
    }
}
