//! Types that several responses share.

use miniserde::Deserialize;
use time::OffsetDateTime;

/// A page of a list.
#[derive(Deserialize)]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
    pub(crate) has_more: Option<bool>,
}

/// An object that was created, cancelled or deleted, if only its id is needed.
#[derive(Deserialize)]
pub(crate) struct Named {
    pub(crate) id: String,
}

/// Converts Stripe's seconds since 1970. Values out of range become 1970-01-01.
pub(crate) fn moment(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
