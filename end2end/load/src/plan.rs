//! The extent of a run.

use std::time::Duration;

use crate::{
    hostile::Subscription,
    scale::{SCENARIOS, Scenario},
};

/// The amounts to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Rounds of the small loads; each measures every way once.
    pub(crate) rounds: usize,
    /// Rounds of the 100-page table.
    pub(crate) table_rounds: usize,
    /// Maximum number of concurrent callers for the table.
    pub(crate) table_callers: usize,
    /// Time for one way and number of callers in one round.
    pub(crate) window: Duration,
    /// New accounts whose first render is measured in one round.
    pub(crate) newcomers: usize,
    /// Renders of the soak, over all its points.
    pub(crate) soak_renders: u64,
    /// Renders that fill a queue.
    pub(crate) queued_renders: usize,
    /// Rows of the batch that is delivered to a bucket.
    pub(crate) batch_rows: u64,
    /// Rows of the batch under fault injection.
    pub(crate) chaos_rows: u64,
    /// Rows of the batch during an upgrade.
    pub(crate) upgrade_rows: u64,
    /// Completions of each printed document.
    pub(crate) completions: usize,
    /// The plans of the attackers.
    pub(crate) attackers: &'static [Subscription],
    /// Maximum wait for memory to be released after an attack.
    pub(crate) memory_patience: Duration,
    /// The scenarios of the section scale, and the renders of each.
    pub(crate) scenarios: &'static [Scenario],
    pub(crate) scale_renders: usize,
    /// For how long the rate limit is measured.
    pub(crate) rates_lasting: Duration,
    /// Renders of the section history, and the requests of each kind for each account.
    pub(crate) history_renders: u64,
    pub(crate) history_requests: usize,
}

impl Plan {
    /// About forty minutes.
    pub(crate) const FULL: Self = Self {
        rounds: 3,
        table_rounds: 2,
        table_callers: 8,
        window: Duration::from_millis(2_500),
        newcomers: 20,
        soak_renders: 10_000,
        queued_renders: 5_000,
        batch_rows: 10_000,
        chaos_rows: 20_000,
        upgrade_rows: 6_000,
        completions: 50,
        attackers: &[Subscription::Free, Subscription::Scale],
        memory_patience: Duration::from_mins(1),
        scenarios: SCENARIOS,
        scale_renders: 20_000,
        rates_lasting: Duration::from_mins(5),
        history_renders: 10_000_000,
        history_requests: 100,
    };
    /// About seven minutes; detects failures, not slowdowns.
    pub(crate) const QUICK: Self = Self {
        rounds: 1,
        table_rounds: 1,
        table_callers: 1,
        window: Duration::from_secs(1),
        newcomers: 10,
        soak_renders: 1_000,
        queued_renders: 200,
        batch_rows: 500,
        chaos_rows: 1_000,
        upgrade_rows: 2_000,
        completions: 10,
        attackers: &[Subscription::Free],
        memory_patience: Duration::from_secs(10),
        scenarios: &[SCENARIOS[1]],
        scale_renders: 5_000,
        rates_lasting: Duration::from_mins(2),
        history_renders: 100_000,
        history_requests: 20,
    };
}
