//! Times and dates.

use leptos::{either::Either, prelude::*};
use time::{Date, Duration, OffsetDateTime, UtcOffset, format_description::FormatItem, macros::format_description};

const DAY: &[FormatItem] = format_description!("[day padding:none] [month repr:long]");
const SHORT_DAY: &[FormatItem] = format_description!("[day padding:none] [month repr:short]");
const DAY_AND_YEAR: &[FormatItem] = format_description!("[day padding:none] [month repr:long] [year]");
const MOMENT: &[FormatItem] = format_description!("[day padding:none] [month repr:short] [year], [hour]:[minute]");
const WRITTEN_DAY: &[FormatItem] = format_description!("[day padding:none] [month repr:short] [year]");
const STAMP: &[FormatItem] = format_description!("[day padding:none] [month repr:short] [hour]:[minute]:[second]");
const CLOCK: &[FormatItem] = format_description!("[hour]:[minute]:[second]");
const MINUTE_OF_DAY: &[FormatItem] = format_description!("[hour]:[minute]");
const MACHINE: &[FormatItem] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");

/// Formats a date as `21 November`.
pub fn day(date: Date) -> String {
    date.format(DAY).unwrap_or_default()
}

/// Formats a date as `21 Nov`.
pub fn short_day(date: Date) -> String {
    date.format(SHORT_DAY).unwrap_or_default()
}

/// Formats a date as `21 November 2026`.
pub fn day_and_year(date: Date) -> String {
    date.format(DAY_AND_YEAR).unwrap_or_default()
}

/// A date and time. The server renders it in UTC; JavaScript replaces it with the reader's time zone and moves UTC to
/// the title.
#[component]
pub fn Moment(at: OffsetDateTime) -> impl IntoView {
    let at = at.to_offset(UtcOffset::UTC);
    let machine = at.format(MACHINE).unwrap_or_default();
    let people = at.format(MOMENT).unwrap_or_default();
    view! {
        <local-time>
            <time datetime=machine>{people} " UTC"</time>
        </local-time>
    }
}

/// A date, `4 Mar 2026`, with the time in the title.
#[component]
pub fn Day(at: OffsetDateTime) -> impl IntoView {
    let at = at.to_offset(UtcOffset::UTC);
    view! { <TimeElement at words=written_day(at) /> }
}

/// A relative time, `2 min ago`, with the date and time in the title.
#[component]
pub fn Ago(
    at: OffsetDateTime,
    /// Time at which the page was rendered.
    now: OffsetDateTime,
) -> impl IntoView {
    let at = at.to_offset(UtcOffset::UTC);
    view! { <TimeElement at words=ago(at, now) /> }
}

/// [`Day`], or a word if there is no date.
pub fn day_or(at: Option<OffsetDateTime>, never: &'static str) -> impl IntoView {
    at.map_or_else(|| Either::Left(never), |at| Either::Right(view! { <Day at /> }))
}

/// [`Ago`], or a word if there is no time.
pub fn ago_or(at: Option<OffsetDateTime>, now: OffsetDateTime, never: &'static str) -> impl IntoView {
    at.map_or_else(|| Either::Left(never), |at| Either::Right(view! { <Ago at now /> }))
}

#[component]
fn TimeElement(at: OffsetDateTime, words: String) -> impl IntoView {
    let title = format!("{} UTC", at.format(MOMENT).unwrap_or_default());
    view! {
        <time datetime=at.format(MACHINE).unwrap_or_default() title=title>
            {words}
        </time>
    }
}

fn written_day(at: OffsetDateTime) -> String {
    at.format(WRITTEN_DAY).unwrap_or_default()
}

fn ago(at: OffsetDateTime, now: OffsetDateTime) -> String {
    let passed = now - at;
    if passed < Duration::MINUTE {
        "just now".to_owned()
    } else if passed < Duration::DAY {
        format!("{} ago", length(passed))
    } else if passed < 2 * Duration::DAY {
        "yesterday".to_owned()
    } else {
        written_day(at)
    }
}

/// Formats a duration in its largest unit, rounded down: `9 days`, `5 h`, `20 min`.
pub fn length(time: Duration) -> String {
    match (time.whole_days(), time.whole_hours(), time.whole_minutes()) {
        (2.., ..) => format!("{} days", time.whole_days()),
        (_, hours @ 1.., _) => format!("{hours} h"),
        (_, _, minutes @ 1..) => format!("{minutes} min"),
        _ => "a minute".to_owned(),
    }
}

/// A date and time in a table whose heading names UTC: `21 Nov 14:02:11`.
#[component]
pub fn Stamp(at: OffsetDateTime) -> impl IntoView {
    in_utc(at, STAMP)
}

/// Formats the time of day in UTC, with seconds.
pub fn clock(at: OffsetDateTime) -> String {
    at.to_offset(UtcOffset::UTC).format(CLOCK).unwrap_or_default()
}

/// Formats the time of day in UTC, without seconds: `14:02`.
pub fn minute_of_day(at: OffsetDateTime) -> String {
    at.to_offset(UtcOffset::UTC).format(MINUTE_OF_DAY).unwrap_or_default()
}

fn in_utc(at: OffsetDateTime, format: &[FormatItem]) -> impl IntoView + use<> {
    let at = at.to_offset(UtcOffset::UTC);
    let (machine, people) = (at.format(MACHINE), at.format(format));
    view! { <time datetime=machine.unwrap_or_default()>{people.unwrap_or_default()}</time> }
}

#[cfg(test)]
mod tests {
    use time::macros::{date, datetime};

    use super::*;

    #[test]
    fn days_are_written_as_people_say_them() {
        assert_eq!(day(date!(2026 - 11 - 01)), "1 November");
        assert_eq!(day_and_year(date!(2026 - 11 - 21)), "21 November 2026");
    }

    #[test]
    fn what_was_is_so_long_ago() {
        let now = datetime!(2026-11-21 12:00 UTC);
        for (at, expected) in [
            (now - Duration::seconds(59), "just now"),
            (now - Duration::seconds(119), "1 min ago"),
            (now - Duration::minutes(59), "59 min ago"),
            (now - Duration::hours(23), "23 h ago"),
            (now - Duration::hours(24), "yesterday"),
            (now - Duration::hours(48), "19 Nov 2026"),
        ] {
            assert_eq!(ago(at, now), expected);
        }
    }

    #[test]
    fn times_are_told_in_their_largest_unit() {
        for (time, expected) in [
            (Duration::hours(49), "2 days"),
            (Duration::hours(47), "47 h"),
            (Duration::minutes(61), "1 h"),
            (Duration::seconds(119), "1 min"),
            (Duration::seconds(1), "a minute"),
        ] {
            assert_eq!(length(time), expected);
        }
    }

    #[cfg(feature = "ssr")]
    #[test]
    fn moments_are_written_in_utc() {
        let html = Owner::new().with(|| view! { <Moment at=datetime!(2026-11-21 23:30 -02:00) /> }.to_html());
        assert!(
            html.contains(r#"<time datetime="2026-11-22T01:30:00Z">22 Nov 2026, 01:30"#),
            "{html}"
        );
    }
}
