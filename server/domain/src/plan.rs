//! Plans and their limits.

use std::{collections::BTreeMap, fmt, num::NonZeroU32, time::Duration};

use crate::storage::StorageResource;

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

/// Limits that an operator has set for one account. `None` means that the plan's limit applies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnLimits {
    /// Renders that may run or wait at once.
    pub concurrency: Option<i32>,
    /// Requests per minute.
    pub rate_per_minute: Option<i32>,
    /// Maximum size of a request body, in bytes.
    pub body_bytes: Option<i32>,
    /// Maximum duration of a synchronous render, in seconds.
    pub sync_deadline_seconds: Option<i32>,
    /// Limits of stored resources; a missing resource has the plan's limit.
    pub storage: StorageLimits,
}

/// Storage limits by resource: bytes or rows, see [`StorageResource`].
pub type StorageLimits = BTreeMap<StorageResource, i64>;

/// Used in logs.
impl fmt::Display for OwnLimits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = [
            (self.concurrency, "at a time"),
            (self.rate_per_minute, "requests a minute"),
            (self.body_bytes, "bytes a request"),
            (self.sync_deadline_seconds, "seconds a render"),
        ];
        let set = limits
            .into_iter()
            .filter_map(|(limit, unit)| Some(format!("{} {unit}", limit?)));
        let stored = self.storage.iter();
        let set = set.chain(stored.map(|(resource, limit)| format!("{} {limit}", resource.into_str())));
        let set = set.collect::<Vec<_>>().join(", ");
        formatter.write_str(if set.is_empty() { "the plan's" } else { &set })
    }
}
