//! Credits by day and meter.

use platen_domain::{plan::PlanLimits, storage::StorageUse};
use time::Date;

use crate::model::account_summary::CreditPeriod;

/// Usage of an account in the current period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    pub credits: CreditPeriod,
    /// Limits of requests and renders.
    pub limits: PlanLimits,
    /// Every day of the period, the oldest first.
    pub days: Vec<UsedDay>,
    /// Storage in use.
    pub storage: Vec<StorageUse>,
}

/// Credits used on a UTC day. Only renders with live keys use credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedDay {
    pub day: Date,
    /// Credits for synchronous renders.
    pub sync: i64,
    /// Credits for asynchronous renders.
    pub queued: i64,
}
