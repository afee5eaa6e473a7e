//! The one place that reads the clock; everything else is handed the time.

use time::OffsetDateTime;

/// Now, in UTC, to the microsecond: what Postgres keeps.
pub fn now() -> OffsetDateTime {
    let now = OffsetDateTime::now_utc();
    now.replace_microsecond(now.microsecond()).unwrap_or(now)
}
