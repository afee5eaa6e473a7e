//! Finds the objects of a file with one classic cross-reference table (ISO 32000-1, 7.5), as Chromium writes it.

use std::ops::Range;

use crate::PdfError;
use crate::lexer::{Lexer, Token};
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::parse::{parse_dictionary, parse_indirect_object};

/// Length of an entry of the cross-reference table: offset, generation, kind and a line end of two bytes.
const ENTRY_LENGTH: usize = 20;
/// What follows an object's number: its generation and a keyword.
const KEYWORD: &[u8] = b" 0 obj";
/// Distance from the end of the file within which `startxref` must stand, in bytes.
const TAIL_LENGTH: usize = 1024;

/// An open file. It stores the range of each object and reads none.
#[derive(Debug)]
pub(crate) struct File<'a> {
    bytes: &'a [u8],
    /// By object number; an empty range for a free number.
    objects: Vec<Range<usize>>,
    pub(crate) trailer: Dictionary<'a>,
}

impl<'a> File<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, PdfError> {
        if !bytes.starts_with(b"%PDF-") {
            return Err(PdfError::damaged(0, "expected %PDF-"));
        }
        let table = table_offset(bytes)?;
        let (offsets, trailer) = read_table(bytes, table)?;
        if let Some(key) = ["Prev", "XRefStm", "Encrypt"]
            .into_iter()
            .find(|key| trailer.get(key).is_some())
        {
            let what = match key {
                "Encrypt" => "an encrypted file",
                _ => "expected a file of one revision with a classic cross-reference table",
            };
            return Err(PdfError::damaged(table, what));
        }
        Ok(Self {
            bytes,
            objects: object_ranges(bytes, &offsets, table)?,
            trailer,
        })
    }

    /// Returns the highest object number plus one.
    pub(crate) fn size(&self) -> usize {
        self.objects.len()
    }

    /// Returns the length in bytes.
    pub(crate) fn length(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the range of an object, from its number to `endobj`; `None` if there is no object of that number.
    pub(crate) fn range(&self, number: ObjectNumber) -> Option<Range<usize>> {
        self.objects
            .get(number as usize)
            .filter(|range| !range.is_empty())
            .cloned()
    }

    /// Returns an object's bytes, from its number to `endobj`.
    pub(crate) fn object_bytes(&self, number: ObjectNumber) -> Option<&'a [u8]> {
        Some(&self.bytes[self.range(number)?])
    }

    /// Reads an object; returns null if there is none of that number (ISO 32000-1, 7.3.10).
    pub(crate) fn object(&self, number: ObjectNumber) -> Result<Object<'a>, PdfError> {
        match self.range(number) {
            Some(range) => parse_indirect_object(self.bytes, range.start, range.end),
            None => Ok(Object::Null),
        }
    }

    /// Returns the tokens of an object after its number and `obj`.
    pub(crate) fn lexer(&self, number: ObjectNumber) -> Option<Lexer<'a>> {
        let range = self.range(number)?;
        // Checked when the file was opened.
        let digits = self.bytes[range.clone()].iter().position(|byte| *byte == b' ')?;
        let start = range.start + digits + KEYWORD.len();
        Some(Lexer::new(&self.bytes[..range.end], start))
    }
}

pub(crate) fn table_offset(bytes: &[u8]) -> Result<usize, PdfError> {
    const START: &[u8] = b"startxref";
    let tail = bytes.len().saturating_sub(TAIL_LENGTH);
    let at = bytes[tail..].windows(START.len()).rposition(|window| window == START);
    let at = tail + at.ok_or(PdfError::damaged(tail, "expected startxref near the end"))?;
    match Lexer::new(bytes, at + START.len()).next_token()? {
        Some((_, Token::Number(raw))) => parse_digits(raw).filter(|offset| *offset < at),
        _ => None,
    }
    .ok_or(PdfError::damaged(at, "expected an offset after startxref"))
}

/// Reads the offset of each object by number (0 for a free one), and the trailer.
fn read_table(bytes: &[u8], table: usize) -> Result<(Vec<usize>, Dictionary<'_>), PdfError> {
    let damaged = PdfError::damaged;
    let mut lexer = Lexer::new(bytes, table);
    let head = [lexer.next_token()?, lexer.next_token()?, lexer.next_token()?];
    let [
        Some((_, Token::Keyword(b"xref"))),
        Some((_, Token::Number(b"0"))),
        Some((_, Token::Number(count))),
    ] = head
    else {
        return Err(damaged(table, "expected a cross-reference table of one section"));
    };
    let count = parse_digits(count).ok_or_else(|| damaged(table, "expected the size of the cross-reference table"))?;
    let entries_start = lexer.position()
        + bytes[lexer.position()..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
    let entries = count
        .checked_mul(ENTRY_LENGTH)
        .and_then(|length| entries_start.checked_add(length));
    let entries_end = entries.filter(|end| *end <= bytes.len());
    let entries_end = entries_end.ok_or_else(|| damaged(table, "a cross-reference table longer than the file"))?;

    let mut offsets = Vec::with_capacity(count);
    for (index, entry) in bytes[entries_start..entries_end].chunks_exact(ENTRY_LENGTH).enumerate() {
        let offset = match (entry[17], &entry[10..17]) {
            (b'f', _) => Some(0),
            (b'n', b" 00000 ") => parse_digits(&entry[..10]).filter(|offset| *offset < table),
            _ => None,
        };
        let at = entries_start + index * ENTRY_LENGTH;
        offsets.push(offset.ok_or_else(|| damaged(at, "expected an entry of the cross-reference table"))?);
    }
    let mut lexer = Lexer::new(bytes, entries_end);
    match lexer.next_token()? {
        Some((_, Token::Keyword(b"trailer"))) => Ok((offsets, parse_dictionary(bytes, lexer.position())?)),
        _ => Err(damaged(entries_end, "expected trailer")),
    }
}

/// Returns the range of each object, which ends where the next one, or the table, begins. Each range is checked to
/// contain the object that its entry names, so that objects can be copied without being parsed.
fn object_ranges(bytes: &[u8], offsets: &[usize], table: usize) -> Result<Vec<Range<usize>>, PdfError> {
    let mut by_offset: Vec<(usize, usize)> = offsets
        .iter()
        .enumerate()
        .filter(|(_, offset)| **offset != 0)
        .map(|(number, offset)| (*offset, number))
        .collect();
    by_offset.sort_unstable();
    let mut ranges = vec![0..0; offsets.len()];
    for (index, (start, number)) in by_offset.iter().copied().enumerate() {
        let next = by_offset.get(index + 1).map_or(table, |(next, _)| *next);
        let object = bytes[start..next].trim_ascii_end();
        if header_length(object, number).is_none() || !object.ends_with(b"endobj") {
            return Err(PdfError::damaged(
                start,
                "expected an object at the offset of its entry",
            ));
        }
        ranges[number] = start..start + object.len();
    }
    Ok(ranges)
}

/// Returns the length of an object's number, generation and `obj`; `None` if the object doesn't begin with them.
pub(crate) fn header_length(object: &[u8], number: usize) -> Option<usize> {
    let digits = object.iter().position(|byte| *byte == b' ')?;
    let is_header = object[digits..].starts_with(KEYWORD) && parse_digits(&object[..digits]) == Some(number);
    is_header.then_some(digits + KEYWORD.len())
}

pub(crate) fn parse_digits(raw: &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    for byte in raw {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(usize::from(byte - b'0'))?;
    }
    (!raw.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "%PDF-1.4\n1 0 obj\n<</A 2 0 R>>\nendobj\n2 0 obj\n(x)\nendobj\nxref\n0 3\n0000000000 65535 f \n\
        0000000009 00000 n \n0000000037 00000 n \ntrailer\n<</Size 3\n/Root 1 0 R>>\nstartxref\n56\n%%EOF\n";

    #[test]
    fn finds_each_object() {
        let file = File::open(SMALL.as_bytes()).expect("valid");
        assert_eq!(file.size(), 3);
        assert_eq!(file.object(2), Ok(Object::String(b"x".as_slice().into())));
        assert_eq!(file.object_bytes(2), Some(b"2 0 obj\n(x)\nendobj".as_slice()));
        assert_eq!(file.object(0), Ok(Object::Null));
        assert_eq!(file.object(99), Ok(Object::Null));
        assert_eq!(file.trailer.get("Root"), Some(&Object::Reference(1)));
    }

    #[test]
    fn refuses_what_it_would_read_wrongly() {
        for (from, to) in [
            ("%PDF-1.4", "%PDX-1.4"),
            ("startxref\n56", "startxref\n57"),
            ("startxref\n56", "startxref\n99999999999999999999"),
            ("0 3\n", "0 99999999\n"),
            ("0000000037", "0000000038"),
            ("0000000037", "0000000009"),
            ("0000000037", "9999999999"),
            ("0000000037 00000 n", "0000000037 00001 n"),
            ("trailer\n", "trailed\n"),
            ("/Size 3", "/Prev 3"),
            ("/Size 3", "/Encrypt 3"),
        ] {
            let damaged = SMALL.replace(from, to);
            assert!(
                matches!(File::open(damaged.as_bytes()), Err(PdfError::Damaged { .. })),
                "{from} → {to}"
            );
        }
    }
}
