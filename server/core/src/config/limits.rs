//! Limits of requests, accounts and the queue. Most limits depend on the plan; a setting overrides all plans.

use std::{num::NonZeroU32, time::Duration};

use platen_domain::plan::PlanLimits;

use crate::config::reader::{Reader, Setting};

/// The default of settings that a plan decides.
const BY_PLAN: &str = "by plan";

const BODY_BYTES: Setting = Setting::new("PLATEN_BODY_BYTES", "1024 to 1073741824")
    .default(BY_PLAN)
    .purpose("Largest request body, in bytes.");
const BODY_SECONDS: Setting = Setting::new("PLATEN_BODY_SECONDS", "1 to 3600")
    .default("60")
    .purpose("Seconds that a client may take to send a request body.");
const SYNC_DEADLINE: Setting = Setting::new("PLATEN_SYNC_DEADLINE", "1 to 3600")
    .default(BY_PLAN)
    .purpose("Seconds that a synchronous render may take.");
const RATE_PER_MINUTE: Setting = Setting::new("PLATEN_RATE_PER_MINUTE", "1 to 1000000")
    .default(BY_PLAN)
    .purpose("Requests that an account may make per minute, counted for all processes together.");
const CONCURRENCY: Setting = Setting::new("PLATEN_CONCURRENCY", "1 to 1000")
    .default(BY_PLAN)
    .purpose("Synchronous renders of one account that may run or wait at once, and as many queued ones in progress.");
const QUEUE_LIMIT: Setting = Setting::new("PLATEN_QUEUE_LIMIT", "1 to 100000")
    .default("200")
    .purpose("Renders of all accounts that may wait for a slot.");
const PAGE_LIMIT: Setting = Setting::new("PLATEN_PAGE_LIMIT", "1 to 100000")
    .default("2000")
    .purpose("Maximum number of pages of a synchronously rendered document.");

pub(super) const SETTINGS: &[&Setting] = &[
    &BODY_BYTES,
    &BODY_SECONDS,
    &SYNC_DEADLINE,
    &RATE_PER_MINUTE,
    &CONCURRENCY,
    &QUEUE_LIMIT,
    &PAGE_LIMIT,
];

#[derive(Debug)]
pub struct LimitsConfig {
    /// Largest request body, in bytes. `None`: by plan.
    pub body_bytes: Option<usize>,
    /// Time limit from the first byte of a request body to its last.
    pub body_time: Duration,
    /// Time limit from admission to the finished bytes. `None`: by plan.
    pub sync_deadline: Option<Duration>,
    /// Requests per account and minute. `None`: by plan.
    pub rate_per_minute: Option<NonZeroU32>,
    /// Renders per account, running or waiting. `None`: by plan.
    pub concurrency: Option<usize>,
    /// Renders that may wait for a slot.
    pub queue_limit: usize,
    /// Maximum number of pages of a document.
    pub page_limit: usize,
}

impl LimitsConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        Self {
            body_bytes: reader.number_if_set(&BODY_BYTES, 1024..=1_073_741_824),
            body_time: reader.seconds(&BODY_SECONDS, 1..=3600),
            sync_deadline: reader.number_if_set(&SYNC_DEADLINE, 1..=3600).map(Duration::from_secs),
            rate_per_minute: reader
                .number_if_set(&RATE_PER_MINUTE, 1..=1_000_000)
                .and_then(NonZeroU32::new),
            concurrency: reader.number_if_set(&CONCURRENCY, 1..=1000),
            queue_limit: reader.number(&QUEUE_LIMIT, 1..=100_000),
            page_limit: reader.number(&PAGE_LIMIT, 1..=100_000),
        }
    }

    /// Returns a plan's limits, overridden by those that the operator set.
    pub fn over(&self, plan: PlanLimits) -> PlanLimits {
        PlanLimits {
            concurrency: self.concurrency.unwrap_or(plan.concurrency),
            rate_per_minute: self.rate_per_minute.unwrap_or(plan.rate_per_minute),
            body_bytes: self.body_bytes.unwrap_or(plan.body_bytes),
            sync_deadline: self.sync_deadline.unwrap_or(plan.sync_deadline),
        }
    }
}
