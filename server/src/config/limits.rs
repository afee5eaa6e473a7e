//! How much one request, one account and the queue may take.

use std::time::Duration;

use crate::config::reader::{Reader, Setting};

const BODY_BYTES: Setting = Setting {
    name: "PLATEN_BODY_BYTES",
    purpose: "Largest request body, in bytes.",
    allowed: "1024 to 1073741824",
    default: "10485760",
};
const BODY_SECONDS: Setting = Setting {
    name: "PLATEN_BODY_SECONDS",
    purpose: "Seconds that a client may take to send a request body.",
    allowed: "1 to 3600",
    default: "60",
};
const SYNC_DEADLINE: Setting = Setting {
    name: "PLATEN_SYNC_DEADLINE",
    purpose: "Seconds that a synchronous render may take.",
    allowed: "1 to 3600",
    default: "60",
};
const RATE_PER_MINUTE: Setting = Setting {
    name: "PLATEN_RATE_PER_MINUTE",
    purpose: "Requests that an account may make in a minute.",
    allowed: "1 to 1000000",
    default: "60",
};
const CONCURRENCY: Setting = Setting {
    name: "PLATEN_CONCURRENCY",
    purpose: "Renders that an account may have running or waiting at once.",
    allowed: "1 to 1000",
    default: "2",
};
const QUEUE_LIMIT: Setting = Setting {
    name: "PLATEN_QUEUE_LIMIT",
    purpose: "Renders that may wait for a slot, over all accounts.",
    allowed: "1 to 100000",
    default: "200",
};
const PAGE_LIMIT: Setting = Setting {
    name: "PLATEN_PAGE_LIMIT",
    purpose: "Pages of a synchronously rendered document.",
    allowed: "1 to 100000",
    default: "2000",
};

pub(super) const SETTINGS: &[&Setting] = &[
    &BODY_BYTES,
    &BODY_SECONDS,
    &SYNC_DEADLINE,
    &RATE_PER_MINUTE,
    &CONCURRENCY,
    &QUEUE_LIMIT,
    &PAGE_LIMIT,
];

/// See the module.
#[derive(Debug)]
pub struct LimitsConfig {
    /// Largest request body.
    pub body_bytes: usize,
    /// From the first byte of a request body to its last.
    pub body_time: Duration,
    /// From admission to the finished bytes.
    pub sync_deadline: Duration,
    /// Requests per account and minute.
    pub rate_per_minute: u32,
    /// Renders per account, running or waiting.
    pub concurrency: usize,
    /// Renders that wait.
    pub queue_limit: usize,
    /// Pages of a document.
    pub page_limit: usize,
}

impl LimitsConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let body_bytes = reader.number(&BODY_BYTES, 1024..=1_073_741_824);
        let body_time = reader.seconds(&BODY_SECONDS, 1..=3600);
        let sync_deadline = reader.seconds(&SYNC_DEADLINE, 1..=3600);
        let rate_per_minute = reader.number(&RATE_PER_MINUTE, 1..=1_000_000);
        let concurrency = reader.number(&CONCURRENCY, 1..=1000);
        let queue_limit = reader.number(&QUEUE_LIMIT, 1..=100_000);
        let page_limit = reader.number(&PAGE_LIMIT, 1..=100_000);
        Some(Self {
            body_bytes: body_bytes?,
            body_time: body_time?,
            sync_deadline: sync_deadline?,
            rate_per_minute: rate_per_minute?,
            concurrency: concurrency?,
            queue_limit: queue_limit?,
            page_limit: page_limit?,
        })
    }
}
