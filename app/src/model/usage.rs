//! Credits by day and meter.

use time::Date;

use crate::model::{standing::CreditPeriod, storage::StorageUse};

/// What an account has used in a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The period.
    pub credits: CreditPeriod,
    /// Every day of it, the oldest first.
    pub days: Vec<UsedDay>,
    /// What the account stores now.
    pub storage: Vec<StorageUse>,
}

/// A UTC day. Only live keys use credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedDay {
    /// Which.
    pub day: Date,
    /// Credits for renders whose caller waits.
    pub sync: i64,
    /// Credits for renders in the background.
    pub queued: i64,
}
