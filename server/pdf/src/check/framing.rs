//! The structure around the objects: header, cross-reference table, end of the file (ISO 19005-2, 6.1.2 to 6.1.4).

use super::Finding;
use crate::file::File;
use crate::lexer::{Lexer, Token};
use crate::object::{MAX_OBJECTS, Object};

/// Length of an entry of the cross-reference table.
const ENTRY_LENGTH: usize = 20;
/// Bytes at the end of the file that contain `startxref`, an offset and `%%EOF`.
const TAIL_LENGTH: usize = 64;

/// Checks header, table and end of a file, which must be exactly as `write_document` writes them. Returns the offset of
/// the trailer's dictionary.
pub(super) fn check_framing(bytes: &[u8], file: &File) -> Result<usize, Finding> {
    match bytes.get(..15) {
        Some(
            [
                b'%',
                b'P',
                b'D',
                b'F',
                b'-',
                b'1',
                b'.',
                b'0'..=b'7',
                b'\n',
                b'%',
                binary @ ..,
                b'\n',
            ],
        ) if binary.iter().all(|byte| *byte > 127) => {}
        _ => {
            return Err(Finding::new(
                "6.1.2",
                "expected %PDF-1.7 and a comment of four bytes above 127",
            ));
        }
    }
    if file.size() > MAX_OBJECTS {
        return Err(Finding::new("6.1.13-7", "more than 8,388,607 objects"));
    }
    let head = format!("xref\n0 {}\n", file.size());
    let table = table_offset(bytes).ok_or_else(|| Finding::new("6.1.3-3", "expected %%EOF and nothing after it"))?;
    let after_head = bytes.get(table..).and_then(|table| table.strip_prefix(head.as_bytes()));
    let after_table = after_head.and_then(|entries| entries.get(file.size() * ENTRY_LENGTH..));
    let trailer = after_table.and_then(|after| after.strip_prefix(b"trailer\n"));
    match trailer {
        Some(trailer) => Ok(bytes.len() - trailer.len()),
        None => Err(Finding::new(
            "6.1.4-2",
            "expected a cross-reference table of one section",
        )),
    }
}

/// Checks the keywords and the length of a stream (6.1.7.1). `keyword` is the offset of `stream`, `length` the value of
/// `/Length`, and `end` the end of the object. Returns the tokens after `endstream`.
pub(super) fn check_stream(
    bytes: &[u8],
    keyword: usize,
    length: Option<usize>,
    end: usize,
) -> Result<Lexer<'_>, Finding> {
    let after = keyword + b"stream".len();
    let start = match bytes.get(after..) {
        Some([b'\n', ..]) => after + 1,
        Some([b'\r', b'\n', ..]) => after + 2,
        _ => return Err(Finding::new("6.1.7.1-2", "expected a line feed after stream")),
    };
    let wrong_end = || {
        Finding::new(
            "6.1.7.1",
            "expected a line end and endstream at the end given by /Length",
        )
    };
    let stop = length
        .and_then(|length| start.checked_add(length))
        .filter(|stop| *stop <= end)
        .ok_or_else(wrong_end)?;
    let at = match bytes.get(stop..end) {
        Some([b'\n', ..]) => stop + 1,
        Some([b'\r', b'\n', ..]) => stop + 2,
        _ => return Err(wrong_end()),
    };
    let mut lexer = Lexer::new(bytes.get(..end).unwrap_or_default(), at);
    match lexer.next_token() {
        Ok(Some((found, Token::Keyword(b"endstream")))) if found == at => Ok(lexer),
        _ => Err(wrong_end()),
    }
}

/// Checks the identifiers of the file (6.1.3).
pub(super) fn check_identifiers(file: &File) -> Result<(), Finding> {
    let identifiers = file.trailer.get("ID").and_then(Object::as_array).unwrap_or_default();
    let is_given = |identifier: &Object| identifier.as_string().is_some_and(|bytes| !bytes.is_empty());
    if identifiers.len() != 2 || !identifiers.iter().all(is_given) {
        return Err(Finding::new("6.1.3-1", "trailer: expected two identifiers in /ID"));
    }
    Ok(())
}

/// Returns the offset of the table, from the last lines of the file.
fn table_offset(bytes: &[u8]) -> Option<usize> {
    let tail = bytes.get(bytes.len().saturating_sub(TAIL_LENGTH)..)?;
    let tail = tail.strip_suffix(b"\n").unwrap_or(tail).strip_suffix(b"\n%%EOF")?;
    let line = tail.iter().rposition(|byte| *byte == b'\n')?;
    let (before, digits) = tail.split_at(line);
    before.ends_with(b"\nstartxref").then_some(())?;
    std::str::from_utf8(digits.get(1..)?).ok()?.parse().ok()
}
