//! Plans and their limits.

use std::{num::NonZeroU32, time::Duration};

/// A plan and its limits.
#[derive(Debug, Clone)]
pub struct Plan {
    pub name: String,
    /// Credits per month.
    pub credits: i64,
    /// Renders that may run or wait at once.
    pub concurrency: i32,
    /// Requests per minute.
    pub rate_per_minute: i32,
    /// Maximum size of a request body, in bytes.
    pub body_bytes: i32,
    /// Days for which renders, their content and thumbnails are retained.
    pub retention_days: i32,
    /// Maximum number of queued renders.
    pub queued_renders: i64,
    /// Maximum size of all documents in the default storage, in bytes.
    pub document_bytes: i64,
    /// Maximum number of templates.
    pub templates: i64,
}

/// The limits of an account's plan, with overrides by the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// Renders of the account that may run or wait at once.
    pub concurrency: usize,
    pub rate_per_minute: NonZeroU32,
    /// Largest request body, in bytes.
    pub body_bytes: usize,
    /// Time limit of a synchronous render, from admission to the finished bytes.
    pub sync_deadline: Duration,
}

impl PlanLimits {
    /// Reads columns of the table `plans`, where a check constraint requires values above 0; the last one is in
    /// seconds.
    pub fn from_columns(concurrency: i32, rate_per_minute: i32, body_bytes: i32, sync_deadline: i32) -> Self {
        Self {
            concurrency: concurrency.unsigned_abs() as usize,
            rate_per_minute: NonZeroU32::new(rate_per_minute.unsigned_abs()).unwrap_or(NonZeroU32::MIN),
            body_bytes: body_bytes.unsigned_abs() as usize,
            sync_deadline: Duration::from_secs(u64::from(sync_deadline.unsigned_abs())),
        }
    }
}
