//! Which renders somebody looks for in the dashboard.

use std::ops::RangeInclusive;

use time::{OffsetDateTime, PrimitiveDateTime};
use uuid::{Builder, Uuid};

use crate::domain::{
    ids::{ApiKeyId, TemplateId},
    render::history::{RenderMode, RenderState},
};

/// Digits from which on a word may be the beginning of an id.
const FEWEST_DIGITS: usize = 8;

/// Which renders of an account are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// In this state.
    pub state: Option<RenderState>,
    /// Of this kind.
    pub mode: Option<RenderMode>,
    /// With test keys, or with others.
    pub livemode: Option<bool>,
    /// With this key.
    pub key: Option<ApiKeyId>,
    /// That have a part made from this template.
    pub template: Option<TemplateId>,
    /// Accepted at this time or later.
    pub from: Option<OffsetDateTime>,
    /// Accepted before this time.
    pub until: Option<OffsetDateTime>,
    /// With one of these ids.
    pub ids: Option<RangeInclusive<Uuid>>,
    /// In whose title, or in the name of one of whose templates, this is found.
    pub text: Option<TextSearch>,
}

/// What is looked for in titles and in names of templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSearch {
    /// For `ilike`.
    pub pattern: String,
    /// Templates in whose names it is found.
    pub templates: Vec<Uuid>,
}

/// The ids that begin with what somebody typed, if that may be an id, or the two ends of one as lists show them.
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

/// The pattern by which `ilike` finds what somebody typed anywhere in a text.
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

/// The smallest id (a UUID of version 7) that something may have that was made at a time.
pub fn first_id_at(time: OffsetDateTime) -> Uuid {
    let milliseconds = (time.unix_timestamp_nanos() / 1_000_000).max(0);
    Builder::from_unix_timestamp_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX), &[0; 10]).into_uuid()
}

/// When something with this id (a UUID of version 7) was made.
pub fn time_of_id(id: Uuid) -> OffsetDateTime {
    const BITS_AFTER_THE_TIME: u32 = 80;
    let seconds = (id.as_u128() >> BITS_AFTER_THE_TIME) as i64 / 1000;
    // Up to the year 9999, which is less than an id can tell.
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
