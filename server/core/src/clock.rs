//! The only module that reads the clock; all others receive the time as an argument.

use time::OffsetDateTime;

/// Returns the current time in UTC, truncated to microseconds, the precision of Postgres.
pub fn now() -> OffsetDateTime {
    let now = OffsetDateTime::now_utc();
    now.replace_microsecond(now.microsecond()).unwrap_or(now)
}
