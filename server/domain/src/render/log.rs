//! Renders in the dashboard, and filters for them.

use std::ops::RangeInclusive;

use serde_json::Value;
use time::{OffsetDateTime, PrimitiveDateTime};
use uuid::{Builder, Uuid};

use crate::{
    ids::{ApiKeyId, RenderId, TemplateId},
    render::history::{RenderFilter, RenderMode, RenderState},
};

/// Minimum number of digits for a search term to count as the beginning of an id.
const FEWEST_DIGITS: usize = 8;

/// A listed render.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedRender {
    pub id: RenderId,
    /// See [`RenderMode`].
    pub mode: String,
    /// See [`RenderState`].
    pub state: String,
    /// False for test keys.
    pub livemode: bool,
    pub page_count: Option<i32>,
    /// Credits charged.
    pub credits: Option<i64>,
    /// Title of the document.
    pub title: Option<String>,
    /// The parts of the request, without their content.
    pub parts: Option<Value>,
    /// The error, if it failed.
    pub error: Option<String>,
    /// Number of warnings.
    pub warnings: i32,
    /// Name of the key that requested it; `None` without a key, or once that is deleted.
    pub key_name: Option<String>,
    /// When it was accepted.
    pub inserted_at: OffsetDateTime,
    /// When it ended.
    pub finished_at: Option<OffsetDateTime>,
}

/// A render in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderLine {
    pub id: RenderId,
    /// The template, URL or HTML that it is made from.
    pub source: String,
    /// Title of the document.
    pub title: Option<String>,
    pub state: RenderState,
    /// The error in a line, if it failed.
    pub error: Option<String>,
    /// Number of warnings.
    pub warnings: usize,
    pub mode: RenderMode,
    /// `false` for a test key.
    pub live: bool,
    /// Name of the key that requested it.
    pub key: Option<String>,
    /// Number of pages.
    pub pages: Option<i32>,
    /// Credits charged.
    pub credits: Option<i64>,
    /// Milliseconds from acceptance to the end.
    pub took_ms: Option<f64>,
    /// Time of acceptance.
    pub at: OffsetDateTime,
}

/// A filter for renders of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub state: Option<RenderState>,
    pub mode: Option<RenderMode>,
    /// Requested with live keys (`true`) or test keys (`false`).
    pub livemode: Option<bool>,
    /// Requested with this key.
    pub key: Option<ApiKeyId>,
    /// With a part that uses this template.
    pub template: Option<TemplateId>,
    /// Accepted at this time or later.
    pub from: Option<OffsetDateTime>,
    /// Accepted before this time.
    pub until: Option<OffsetDateTime>,
    /// With an id in this range.
    pub ids: Option<RangeInclusive<Uuid>>,
    /// With a match in the title, or in the name of a template.
    pub text: Option<TextSearch>,
}

impl From<RenderFilter> for LogFilter {
    fn from(RenderFilter { state, mode, key }: RenderFilter) -> Self {
        Self {
            state,
            mode,
            key,
            ..Self::default()
        }
    }
}

/// A search in titles and names of templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSearch {
    /// The pattern for `ilike`.
    pub pattern: String,
    /// Templates with matching names.
    pub templates: Vec<Uuid>,
}

/// Returns the range of ids that begin with a search term, which may also be an id as lists abbreviate it. Returns
/// `None` if the term can't be an id.
pub fn ids_beginning_with(typed: &str) -> Option<RangeInclusive<Uuid>> {
    let beginning = typed.split('…').next().unwrap_or_default();
    let digits: String = beginning.chars().filter(|&character| character != '-').collect();
    let is_id = (FEWEST_DIGITS..=32).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_id {
        return None;
    }
    let end = |fill: &str| {
        let padded = digits.clone() + &fill.repeat(32 - digits.len());
        u128::from_str_radix(&padded, 16).ok().map(Uuid::from_u128)
    };
    Some(end("0")?..=end("f")?)
}

/// Returns the `ilike` pattern that matches a search term anywhere in a text.
pub fn containing(typed: &str) -> String {
    let mut pattern = String::from("%");
    for character in typed.chars().filter(|&character| character != '\0') {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

/// Returns the smallest id (UUID version 7) of something created at a time.
pub fn first_id_at(time: OffsetDateTime) -> Uuid {
    let milliseconds = (time.unix_timestamp_nanos() / 1_000_000).max(0);
    Builder::from_unix_timestamp_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX), &[0; 10]).into_uuid()
}

/// Returns when something with this id (UUID version 7) was created.
pub fn time_of_id(id: Uuid) -> OffsetDateTime {
    const BITS_AFTER_THE_TIME: u32 = 80;
    let seconds = (id.as_u128() >> BITS_AFTER_THE_TIME) as i64 / 1000;
    // An id can contain times beyond the year 9999, which this type can't.
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(PrimitiveDateTime::MAX.assume_utc())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn what_may_be_an_id() {
        let range = |typed: &str| {
            let range = ids_beginning_with(typed)?;
            Some((range.start().to_string(), range.end().to_string()))
        };
        let both = |start: &str, end: &str| Some((start.to_owned(), end.to_owned()));
        let whole = "0193f2b8-4c1e-7a90-b2d5-9e10c4f077ac";
        assert_eq!(range(whole), both(whole, whole));
        assert_eq!(range(&whole.to_uppercase()), both(whole, whole));
        for beginning in ["0193f2b8", "0193f2b8…77ac"] {
            assert_eq!(
                range(beginning),
                both(
                    "0193f2b8-0000-0000-0000-000000000000",
                    "0193f2b8-ffff-ffff-ffff-ffffffffffff"
                ),
                "{beginning}"
            );
        }
        for text in ["", "0193f2b", "Invoice", "invoice 0193f2b8", &whole.repeat(2)] {
            assert_eq!(range(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_typed_is_found_as_it_is() {
        for (typed, pattern) in [
            ("Invoice", "%Invoice%"),
            ("100 %_\\", "%100 \\%\\_\\\\%"),
            ("a\0b", "%ab%"),
        ] {
            assert_eq!(containing(typed), pattern);
        }
    }

    #[test]
    fn ids_go_by_time() {
        let time = datetime!(2026-11-22 10:00 UTC);
        let first = first_id_at(time);
        assert_eq!(first.get_version_num(), 7);
        let seconds = u64::try_from(time.unix_timestamp()).expect("after 1970");
        let context = uuid::ContextV7::new();
        let made = |seconds, nanoseconds| Uuid::new_v7(uuid::Timestamp::from_unix(&context, seconds, nanoseconds));
        assert!(made(seconds - 1, 999_999_999) < first);
        assert!(first <= made(seconds, 0));
        assert_eq!(time_of_id(first), time);
        assert_eq!(time_of_id(made(seconds, 900_000_000)), time);
        assert_eq!(time_of_id(Uuid::max()).year(), 9999);
    }
}
