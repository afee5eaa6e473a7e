//! Moments and days, in words.

use leptos::prelude::*;
use time::{Date, OffsetDateTime, UtcOffset, format_description::FormatItem, macros::format_description};

const DAY: &[FormatItem] = format_description!("[day padding:none] [month repr:long]");
const SHORT_DAY: &[FormatItem] = format_description!("[day padding:none] [month repr:short]");
const DAY_AND_YEAR: &[FormatItem] = format_description!("[day padding:none] [month repr:long] [year]");
const MOMENT: &[FormatItem] = format_description!("[day padding:none] [month repr:short] [year], [hour]:[minute]");
const MACHINE: &[FormatItem] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");

/// `21 November`.
pub fn day(date: Date) -> String {
    date.format(DAY).unwrap_or_default()
}

/// `21 Nov`.
pub fn short_day(date: Date) -> String {
    date.format(SHORT_DAY).unwrap_or_default()
}

/// `21 November 2026`.
pub fn day_and_year(date: Date) -> String {
    date.format(DAY_AND_YEAR).unwrap_or_default()
}

/// A moment: as the server writes it in UTC, and once the page can, in the reader's zone, with UTC as its title.
#[component]
pub fn Moment(
    /// When.
    at: OffsetDateTime,
) -> impl IntoView {
    let at = at.to_offset(UtcOffset::UTC);
    let machine = at.format(MACHINE).unwrap_or_default();
    let people = at.format(MOMENT).unwrap_or_default();
    view! {
        <local-time>
            <time datetime=machine>{people} " UTC"</time>
        </local-time>
    }
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
