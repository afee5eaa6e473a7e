//! Reads the rows of a batch while they arrive, in bounded memory.

use std::mem;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::memchr;
use serde_json::{Map, Value};

use crate::{
    batch::{
        LARGEST_ROW, MOST_BYTES, MOST_ROWS, RowFormat,
        csv_quotes::{QuoteCheck, delimiter_of},
    },
    number::grouped,
    validation::{
        json::{self, Unreadable},
        quote,
    },
};

/// Maximum number of values in a row.
const MOST_VALUES: usize = 10_000;
/// Maximum number of columns.
pub(super) const MOST_COLUMNS: usize = 1_000;
/// Maximum size of their names together, in bytes. Each row has them all.
pub(super) const LONGEST_HEADER: usize = 16 << 10;
/// How many times as large as they were sent rows may be as JSON, beyond the first MiB. Each row of CSV has the names of all columns.
const MOST_TIMES_AS_LARGE: u64 = 64;
/// Maximum number of objects in each other that the names of columns describe.
pub(super) const DEEPEST: usize = 10;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Rows that can't be read: the line, from 1, on which the row ends, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Line {line}: {reason}")]
pub struct RowError {
    pub line: u64,
    pub reason: String,
}

/// A reader of rows. Feed it with [`Self::push`], and end it with [`Self::finish`].
pub struct RowReader {
    /// Bytes that don't make a line yet: of NDJSON, or of the header of CSV.
    pending: Vec<u8>,
    /// Number of the next line.
    line: u64,
    rows: u32,
    /// Size of the rows as they were sent.
    bytes: u64,
    /// Size of the rows as JSON.
    json_bytes: u64,
    /// `None` for NDJSON.
    csv: Option<CsvReader>,
}

impl RowReader {
    pub fn new(format: RowFormat) -> Self {
        Self {
            pending: Vec::new(),
            line: 1,
            rows: 0,
            bytes: 0,
            json_bytes: 0,
            csv: (format == RowFormat::Csv).then(CsvReader::default),
        }
    }

    /// Reads the next bytes, and adds the rows that are complete to `rows`, each a JSON object in one line. The rows of CSV may be
    /// 8,000 times as large as the bytes, because each has all names of columns.
    pub fn push(&mut self, bytes: &[u8], rows: &mut Vec<String>) -> Result<(), RowError> {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let known = rows.len();
        if self.csv.is_some() {
            self.push_csv(bytes, rows)?;
        } else {
            self.push_lines(bytes, rows)?;
        }
        self.count(&rows[known..])
    }

    /// Adds the last row, which need not end with a line break. Fails if there is no row at all.
    pub fn finish(&mut self, rows: &mut Vec<String>) -> Result<(), RowError> {
        let known = rows.len();
        if self.csv.is_some() {
            self.push_csv(b"\n", rows)?;
            let quotes = self.csv.as_ref().and_then(|csv| csv.quotes.as_ref());
            if let Some(line) = quotes.and_then(QuoteCheck::unclosed) {
                let reason =
                    "A text that begins with a quote must end with one; quotes in it are written twice".to_owned();
                return Err(RowError { line, reason });
            }
            // An empty input ends the last record.
            self.read_records(&[], rows)?;
        } else {
            self.push_lines(b"\n", rows)?;
        }
        self.count(&rows[known..])?;
        if self.rows == 0 {
            return Err(self.error("There are no rows; send at least one".to_owned()));
        }
        Ok(())
    }

    fn count(&mut self, more: &[String]) -> Result<(), RowError> {
        self.json_bytes += more.iter().map(|row| row.len() as u64).sum::<u64>();
        if self.json_bytes > (1 << 20) + MOST_TIMES_AS_LARGE * self.bytes {
            return Err(self.error(format!(
                "The rows are more than {MOST_TIMES_AS_LARGE} times as large with the names of their columns, the limit; use shorter names"
            )));
        }
        if self.bytes.max(self.json_bytes) > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            return Err(self.error(format!(
                "The rows have more than {most} MiB in total, the limit; make several batches"
            )));
        }
        self.rows = self.rows.saturating_add(u32::try_from(more.len()).unwrap_or(u32::MAX));
        if self.rows > MOST_ROWS {
            let most = grouped(MOST_ROWS.into());
            return Err(self.error(format!(
                "There are more than {most} rows, the limit; make several batches"
            )));
        }
        Ok(())
    }

    fn push_lines(&mut self, mut bytes: &[u8], rows: &mut Vec<String>) -> Result<(), RowError> {
        while let Some(end) = memchr(b'\n', bytes) {
            self.extend(&bytes[..end])?;
            bytes = &bytes[end + 1..];
            let line = mem::take(&mut self.pending);
            rows.extend(json_row(&line).map_err(|reason| self.error(reason))?);
            self.line += 1;
        }
        self.extend(bytes)
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), RowError> {
        if self.pending.len() + bytes.len() > LARGEST_ROW {
            return Err(self.error(too_large()));
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    fn push_csv(&mut self, bytes: &[u8], rows: &mut Vec<String>) -> Result<(), RowError> {
        let Some(csv) = &mut self.csv else { return Ok(()) };
        if csv.quotes.is_some() {
            return self.read_records(bytes, rows);
        }
        self.extend(bytes)?;
        let beginning = mem::take(&mut self.pending);
        let text = beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&beginning);
        if let (Some(header), Some(csv)) = (first_line(text), &mut self.csv) {
            csv.set_delimiter(header);
            return self.read_records(text, rows);
        }
        self.pending = beginning;
        Ok(())
    }

    fn read_records(&mut self, bytes: &[u8], rows: &mut Vec<String>) -> Result<(), RowError> {
        let Some(csv) = &mut self.csv else { return Ok(()) };
        let checked = csv.quotes.as_mut().map_or(Ok(()), |quotes| quotes.check(bytes));
        let sound = checked.map_or_else(|sound| &bytes[..sound], |()| bytes);
        // Empty input would end a record.
        let mut read = if bytes.is_empty() || !sound.is_empty() {
            csv.read(sound, rows)
        } else {
            Ok(())
        };
        if checked.is_err() && read.is_ok() {
            csv.is_after_break = false;
            read = Err("A text in quotes ends within its field; quotes in it are written twice".to_owned());
        }
        let is_after_break = csv.is_after_break;
        self.line = csv.reader.line();
        read.map_err(|reason| {
            // The record ended with the line before, unless it ends with CR, or is too large.
            self.line = self.line.saturating_sub(is_after_break.into()).max(1);
            self.error(reason)
        })
    }

    fn error(&self, reason: String) -> RowError {
        RowError {
            line: self.line,
            reason,
        }
    }
}

/// Returns the first line that isn't blank, if all of it is there.
fn first_line(text: &[u8]) -> Option<&[u8]> {
    let start = text.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let length = memchr(b'\n', &text[start..])?;
    Some(&text[start..start + length])
}

fn too_large() -> String {
    format!("A row has at most {} KiB", LARGEST_ROW >> 10)
}

/// Returns why a row, as JSON in one line, is too large, or no object; `None` if it is a row.
pub fn row_problem(row: &str) -> Option<String> {
    if row.len() > LARGEST_ROW {
        return Some(too_large());
    }
    json_row(row.as_bytes()).err()
}

/// Returns the row in a line; `None` if the line is blank.
fn json_row(line: &[u8]) -> Result<Option<String>, String> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    let text = str::from_utf8(line)
        .map_err(|_| "The row is not UTF-8".to_owned())?
        .trim();
    if text.is_empty() {
        return Ok(None);
    }
    if !text.starts_with('{') {
        return Err(format!("A row is a JSON object; got {}", quote(text)));
    }
    match json::read_data(text, MOST_VALUES) {
        Ok(_) => Ok(Some(text.to_owned())),
        Err(Unreadable::Malformed(error)) => Err(format!("The row is not JSON: {error}")),
        Err(Unreadable::Excess(problem)) => Err(problem.detail),
    }
}

struct CsvReader {
    reader: Reader,
    /// `None` until the delimiter is known.
    quotes: Option<QuoteCheck>,
    /// The steps to the member of each column; `None` until the header is read.
    columns: Option<Vec<Vec<String>>>,
    /// The fields of the record that is being read, one after the other, and their ends.
    fields: Vec<u8>,
    ends: Vec<usize>,
    filled: usize,
    ended: usize,
    /// Whether the last byte that was read is LF.
    is_after_break: bool,
}

impl Default for CsvReader {
    fn default() -> Self {
        Self {
            reader: Reader::new(),
            quotes: None,
            columns: None,
            fields: vec![0; LARGEST_ROW],
            ends: vec![0; MOST_COLUMNS],
            filled: 0,
            ended: 0,
            is_after_break: false,
        }
    }
}

impl CsvReader {
    fn set_delimiter(&mut self, header: &[u8]) {
        let delimiter = delimiter_of(header);
        self.reader = ReaderBuilder::new().delimiter(delimiter).build();
        self.quotes = Some(QuoteCheck::new(delimiter));
    }

    /// Reads records. Empty input ends the last one.
    fn read(&mut self, mut bytes: &[u8], rows: &mut Vec<String>) -> Result<(), String> {
        loop {
            let (fields, ends) = (&mut self.fields[self.filled..], &mut self.ends[self.ended..]);
            let (result, read, filled, ended) = self.reader.read_record(bytes, fields, ends);
            if let Some(last) = bytes[..read].last() {
                self.is_after_break = *last == b'\n';
            }
            bytes = &bytes[read..];
            self.filled += filled;
            self.ended += ended;
            match result {
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return Ok(()),
                ReadRecordResult::OutputFull => return Err(too_large()),
                ReadRecordResult::OutputEndsFull => {
                    return Err(format!("There are at most {MOST_COLUMNS} columns"));
                }
                ReadRecordResult::Record => {
                    let record = self.record()?;
                    (self.filled, self.ended) = (0, 0);
                    match &self.columns {
                        None => self.columns = Some(columns(&record)?),
                        Some(columns) => rows.push(csv_row(columns, record)?),
                    }
                }
            }
        }
    }

    fn record(&self) -> Result<Vec<String>, String> {
        let mut start = 0;
        let fields = self.ends[..self.ended].iter().map(|end| {
            let field = &self.fields[start..*end];
            start = *end;
            match str::from_utf8(field) {
                Ok(field) => Ok(field.to_owned()),
                Err(_) => Err("The row is not UTF-8. Spreadsheets have an own format for it: CSV UTF-8".to_owned()),
            }
        });
        fields.collect()
    }
}

/// Returns the steps to the members that the header names; `customer.name` is a member of an object.
fn columns(header: &[String]) -> Result<Vec<Vec<String>>, String> {
    let mut columns: Vec<Vec<String>> = Vec::new();
    if header.iter().map(String::len).sum::<usize>() > LONGEST_HEADER {
        return Err(format!(
            "The names of the columns have more than {LONGEST_HEADER} bytes together, the limit"
        ));
    }
    for (index, name) in header.iter().enumerate() {
        let steps: Vec<_> = name.split('.').map(|step| step.trim().to_owned()).collect();
        if steps.iter().any(String::is_empty) || steps.len() > DEEPEST {
            return Err(format!(
                "The header names column {} by {}; names of members are separated by single dots",
                index + 1,
                quote(name)
            ));
        }
        let is_taken = |other: &Vec<String>| other.starts_with(&steps) || steps.starts_with(other);
        if columns.iter().any(is_taken) {
            return Err(format!(
                "The header names {} twice, or as a text and as an object",
                quote(name)
            ));
        }
        columns.push(steps);
    }
    Ok(columns)
}

/// Returns a record as a JSON object of texts.
fn csv_row(columns: &[Vec<String>], record: Vec<String>) -> Result<String, String> {
    if record.len() != columns.len() {
        return Err(format!(
            "The row has {} fields, but the header has {}",
            record.len(),
            columns.len()
        ));
    }
    let mut row = Map::new();
    for (steps, field) in columns.iter().zip(record) {
        let Some((last, objects)) = steps.split_last() else {
            continue;
        };
        let mut object = &mut row;
        for step in objects {
            let inner = object.entry(step).or_insert_with(|| Value::Object(Map::new()));
            // No column is both a text and an object.
            let Value::Object(inner) = inner else {
                return Err(format!("{} is no object", quote(step)));
            };
            object = inner;
        }
        object.insert(last.clone(), field.into());
    }
    let row = Value::Object(row).to_string();
    if row.len() > LARGEST_ROW {
        return Err(too_large());
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads text in pieces of every size, which must not matter.
    fn read(format: RowFormat, text: &[u8]) -> Result<Vec<String>, RowError> {
        let in_pieces = |size: usize| {
            let (mut reader, mut rows) = (RowReader::new(format), Vec::new());
            for piece in text.chunks(size) {
                reader.push(piece, &mut rows)?;
            }
            reader.finish(&mut rows)?;
            Ok(rows)
        };
        let whole = in_pieces(text.len().max(1));
        for size in 1..text.len().min(40) {
            assert_eq!(in_pieces(size), whole, "in pieces of {size}");
        }
        whole
    }

    #[test]
    fn each_line_is_a_row() {
        let text = "\u{feff}{\"a\": 1}\r\n\n  {\"ä\": [2]}  \n{\"c\":\"\\n\"}";
        assert_eq!(
            read(RowFormat::Ndjson, text.as_bytes()).unwrap(),
            ["{\"a\": 1}", "{\"ä\": [2]}", "{\"c\":\"\\n\"}"]
        );
    }

    #[test]
    fn columns_are_members() {
        let text = "\u{feff}number,customer.name, customer.city\r\n1,\"Ann \"\"A\"\", \nBob\",\r\n\r\n2,ä,b";
        assert_eq!(
            read(RowFormat::Csv, text.as_bytes()).unwrap(),
            [
                r#"{"number":"1","customer":{"name":"Ann \"A\", \nBob","city":""}}"#,
                r#"{"number":"2","customer":{"name":"ä","city":"b"}}"#,
            ]
        );
        for text in ["a;b,c\n1;2", "a\tb,c\n1\t2", "a;b,c\r\n1;2\r\n"] {
            let text = text.replace("b,c", "b");
            assert_eq!(read(RowFormat::Csv, text.as_bytes()).unwrap(), [r#"{"a":"1","b":"2"}"#]);
        }
        assert_eq!(read(RowFormat::Csv, b"a\n1\n").unwrap(), [r#"{"a":"1"}"#]);
        let text = "\u{feff}\"a; b; c\",d\n\"1\",2\"\n";
        assert_eq!(
            read(RowFormat::Csv, text.as_bytes()).unwrap(),
            [r#"{"a; b; c":"1","d":"2\""}"#]
        );
        let inches = read(RowFormat::Csv, b"size \";price;number\n1;2;3").unwrap();
        assert_eq!(inches, [r#"{"size \"":"1","price":"2","number":"3"}"#]);
        let after_blank_lines = read(RowFormat::Csv, b"\r\n\na;b\n1;2").unwrap();
        assert_eq!(after_blank_lines, [r#"{"a":"1","b":"2"}"#]);
    }

    #[test]
    fn faults_are_named_with_their_line() {
        for (format, text, line, word) in [
            (RowFormat::Ndjson, &b"{}\n[]"[..], 2, "object"),
            (RowFormat::Ndjson, b"{}\n\n{\"a\": }", 3, "not JSON"),
            (RowFormat::Ndjson, b"{\"a\": \"\xff\"}", 1, "UTF-8"),
            (RowFormat::Ndjson, b" \n", 2, "no rows"),
            (RowFormat::Csv, b"a,b\n", 2, "no rows"),
            (RowFormat::Csv, b"a,b\n1\n", 2, "1 fields"),
            (RowFormat::Csv, b"a,a\n1,2\n", 1, "twice"),
            (RowFormat::Csv, b"a,a.b\n1,2\n", 1, "twice"),
            (RowFormat::Csv, b"a,\n1,2\n", 1, "column 2"),
            (RowFormat::Csv, b"a\n\xff\n", 2, "CSV UTF-8"),
            (RowFormat::Csv, b"a,b\r\n1,2\r\n1\r\n1,2\r\n", 3, "1 fields"),
            (RowFormat::Csv, b"a,b\r\n1,2\r\n\r\n1", 4, "1 fields"),
            (
                RowFormat::Csv,
                b"a,b\n1,2\n2,\"Bob\n3,Cid\n4,Dan\n",
                3,
                "must end with one",
            ),
            (
                RowFormat::Csv,
                b"a,b\n1,2\n2,\"Bob\n3,\"Cid\"\n4,Dan\n",
                4,
                "ends within",
            ),
            (RowFormat::Csv, b"a,\"b\n1,2\n", 1, "must end with one"),
        ] {
            let error = read(format, text).unwrap_err();
            assert!(error.reason.contains(word), "{error}");
            assert!(error.line == line || word == "no rows", "{error}");
        }
    }

    #[test]
    fn rows_have_1_gib_together_as_json() {
        let mut rows = Vec::new();
        let mut reader = RowReader::new(RowFormat::Csv);
        reader.push(b"number\n1\n", &mut rows).unwrap();
        assert_eq!(reader.json_bytes, r#"{"number":"1"}"#.len() as u64);
        // As after many rows, which are larger as JSON because each has the name of the column.
        (reader.json_bytes, reader.bytes) = (MOST_BYTES - 14, MOST_BYTES / 7);
        reader.push(b"2\n", &mut rows).unwrap();
        let error = reader.push(b"3\n", &mut rows).unwrap_err();
        assert!(error.reason.contains("more than 1024 MiB in total"), "{error}");
    }

    #[test]
    fn rows_are_bounded() {
        let large = "x".repeat(LARGEST_ROW + 1);
        for (format, text) in [
            (RowFormat::Ndjson, format!("{{\"a\": \"{large}\"}}")),
            (RowFormat::Csv, format!("a\n{large}\n")),
            (RowFormat::Csv, large),
            (RowFormat::Csv, format!("{}\n", "a,".repeat(MOST_COLUMNS))),
            (RowFormat::Csv, format!("{}\n", "a".repeat(LONGEST_HEADER + 1))),
            (RowFormat::Ndjson, "{}\n".repeat(MOST_ROWS as usize + 1)),
            // 18 MB as JSON.
            (RowFormat::Csv, "a".repeat(LONGEST_HEADER) + &"\n1".repeat(1_100)),
        ] {
            let (mut reader, mut rows) = (RowReader::new(format), Vec::new());
            let error = reader.push(text.as_bytes(), &mut rows).unwrap_err();
            assert!(
                error.reason.contains("at most") || error.reason.contains("more than"),
                "{error}"
            );
        }
    }
}
