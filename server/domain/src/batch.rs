//! Batches: one request for many rows of data, each of which becomes a render.

pub mod columns;
mod csv_quotes;
pub mod file_name;
pub mod part_pattern;
pub mod path_pattern;
mod placeholders;
pub mod row_reader;

use serde::Serialize;
use strum::{EnumString, IntoStaticStr};
use time::{OffsetDateTime, serde::rfc3339};

use crate::{
    ids::BatchId,
    page::parameter,
    validation::{Problem, quote},
};

/// Maximum number of rows of a batch.
pub const MOST_ROWS: u32 = 100_000;
/// Maximum size of all rows of a batch as they are sent, in bytes.
pub const MOST_BYTES: u64 = 1 << 30;
/// Maximum size of a row, as JSON, in bytes.
pub const LARGEST_ROW: usize = 256 << 10;
/// Maximum number of an account's batches that have not ended.
pub const MOST_UNFINISHED: i64 = 20;
/// Maximum number of an account's live batches that have ended, and of its test batches; the oldest are deleted.
pub const MOST_ENDED: i64 = 100;
/// Maximum number of those that are stored besides, because requests with their idempotency keys may be repeated.
pub const MOST_REPLAYABLE: i64 = 10_000;
/// Maximum number of their rows together: as many as the others may have.
pub const MOST_REPLAYABLE_ROWS: i64 = MOST_ENDED * MOST_ROWS as i64;
/// Maximum number of unfinished renders of a batch, so that it stops cleanly when credits or storage end.
pub const WINDOW: usize = 500;

/// A batch of an account, as the API serializes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Batch {
    pub id: BatchId,
    /// Chosen by the client; need not be unique.
    pub name: String,
    pub state: BatchState,
    /// Why no row is opened at present.
    pub hold: Option<Hold>,
    pub livemode: bool,
    /// Pattern of the names of the documents in their ZIP archive; `None` if they are named by the numbers of their rows.
    pub file_names: Option<String>,
    /// Number of rows; 0 until they are uploaded.
    pub rows: i32,
    /// Number of rows that have been opened.
    pub opened: i32,
    /// Number of rows whose documents are delivered.
    pub succeeded: i32,
    /// Number of rows without a document, because they are invalid, or because their renders failed or were cancelled.
    pub failed: i32,
    #[serde(with = "rfc3339")]
    pub inserted_at: OffsetDateTime,
    #[serde(with = "rfc3339::option")]
    pub ended_at: Option<OffsetDateTime>,
}

/// The state of a batch. The names are used in responses and the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum BatchState {
    /// It has no rows yet.
    Open,
    /// Its rows are opened one after the other.
    Running,
    /// No more rows are opened until it is resumed.
    Paused,
    /// No more rows are opened, and its unfinished renders are cancelled.
    Cancelled,
    /// All rows have ended.
    Ended,
}

/// Why a running batch opens no row at present; it is tried again by itself. The names are used in responses and the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The account or the key has too few credits left.
    Credits,
    /// The account's storage is full, or its queue, or half of its pending webhooks.
    Storage,
    /// The key that created the batch was revoked, or has expired.
    Key,
}

/// The state of a row that has been opened. The names are used in responses and the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum RowState {
    /// Its render has not ended.
    Opened,
    Succeeded,
    Failed,
    /// It failed, and will be opened again.
    Again,
}

/// Rows that a list of outcomes contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedRows {
    /// All rows that have been opened.
    Opened,
    Failed,
}

/// The format in which rows are sent. The names are used in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowFormat {
    /// One JSON object in each line.
    Ndjson,
    /// RFC 4180, with a header line that names the members.
    Csv,
}

impl RowFormat {
    /// Parses the parameter `format` of a query string; without it, returns [`Self::Ndjson`].
    pub fn parse(query: &str) -> Result<Self, Vec<Problem>> {
        format(query, Self::Ndjson, |text| {
            Self::named(text).ok_or_else(|| format!("Must be ndjson or csv; got {}", quote(text)))
        })
    }

    /// Returns the format with this name in requests.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "ndjson" => Some(Self::Ndjson),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }

    /// Returns the format with this media type, parameters apart.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        match essence.to_ascii_lowercase().as_str() {
            "application/x-ndjson" | "application/jsonl" | "application/ndjson" => Some(Self::Ndjson),
            "text/csv" => Some(Self::Csv),
            _ => None,
        }
    }

    /// Returns the media type of rows in this format, with the encoding of CSV.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Ndjson => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    /// Returns the format of a file with this name. Browsers don't agree on the media types of such files.
    pub fn of_file_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "csv" | "tsv" | "txt" => Some(Self::Csv),
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            _ => None,
        }
    }
}

/// The file in which the documents of a batch are downloaded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentsFormat {
    /// A ZIP archive with a file for each document.
    Zip,
    /// One PDF with the pages of all documents.
    Pdf,
}

impl DocumentsFormat {
    /// Parses the parameter `format` of a query string; without it, returns [`Self::Zip`].
    pub fn parse(query: &str) -> Result<Self, Vec<Problem>> {
        format(query, Self::Zip, |text| match text {
            "zip" => Ok(Self::Zip),
            "pdf" => Ok(Self::Pdf),
            other => Err(format!("Must be zip or pdf; got {}", quote(other))),
        })
    }
}

/// Reads the parameter `format` of a query string, or returns `default` without it.
fn format<T>(query: &str, default: T, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Vec<Problem>> {
    let mut problems = Vec::new();
    let format = parameter(query, "format", &mut problems, read);
    if problems.is_empty() {
        Ok(format.unwrap_or(default))
    } else {
        Err(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_tell_their_format() {
        for (name, format) in [
            ("invoices.csv", Some(RowFormat::Csv)),
            ("Rechnungen 11.2026.CSV", Some(RowFormat::Csv)),
            ("export.txt", Some(RowFormat::Csv)),
            ("rows.jsonl", Some(RowFormat::Ndjson)),
            ("rows.ndjson", Some(RowFormat::Ndjson)),
            ("invoices.xlsx", None),
            ("csv", None),
            ("", None),
        ] {
            assert_eq!(RowFormat::of_file_name(name), format, "{name}");
        }
    }
}
