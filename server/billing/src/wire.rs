//! Shapes that several answers have in common.

use miniserde::Deserialize;
use time::OffsetDateTime;

/// A page of a list.
#[derive(Deserialize)]
pub(crate) struct List<T> {
    pub(crate) data: Vec<T>,
    pub(crate) has_more: Option<bool>,
}

/// What is deleted, cancelled or made, when only its name is of interest.
#[derive(Deserialize)]
pub(crate) struct Named {
    pub(crate) id: String,
}

/// Stripe's seconds since 1970. What no clock will ever show is 1970 itself.
pub(crate) fn moment(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
