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
