//! Times in UTC, as browsers submit fields of the type `datetime-local` (HTML, 4.10.5.1.11).

use time::{OffsetDateTime, PrimitiveDateTime, error, format_description::FormatItem, macros::format_description};

const MINUTE: &[FormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]");

/// Parses a time such as `2027-01-31T18:00`; `None` if the text is blank.
pub fn parse(text: &str) -> Result<Option<OffsetDateTime>, error::Parse> {
    match text.trim() {
        "" => Ok(None),
        text => Ok(Some(PrimitiveDateTime::parse(text, MINUTE)?.assume_utc())),
    }
}
