//! What a plan allows an account.

use std::{num::NonZeroU32, time::Duration};

/// The limits of an account's plan, or the operator's in their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// Renders running or waiting at once.
    pub concurrency: usize,
    /// Requests a minute.
    pub rate_per_minute: NonZeroU32,
    /// Largest request body.
    pub body_bytes: usize,
    /// From admission to the finished bytes of a synchronous render.
    pub sync_deadline: Duration,
}

impl PlanLimits {
    /// Reads columns of the table `plans`, of which a check keeps each above 0; the last one is in seconds.
    pub fn from_columns(concurrency: i32, rate_per_minute: i32, body_bytes: i32, sync_deadline: i32) -> Self {
        Self {
            concurrency: concurrency.unsigned_abs() as usize,
            rate_per_minute: NonZeroU32::new(rate_per_minute.unsigned_abs()).unwrap_or(NonZeroU32::MIN),
            body_bytes: body_bytes.unsigned_abs() as usize,
            sync_deadline: Duration::from_secs(u64::from(sync_deadline.unsigned_abs())),
        }
    }
}
