//! How much a run measures.

use std::time::Duration;

use crate::hostile::Subscription;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Rounds of the small loads; each measures every way once.
    pub(crate) rounds: usize,
    /// Rounds of the 100-page table.
    pub(crate) table_rounds: usize,
    /// The table is rendered by at most so many callers at once.
    pub(crate) table_callers: usize,
    /// Time for one way and number of callers in one round.
    pub(crate) window: Duration,
    /// New accounts that have their first render in one round.
    pub(crate) newcomers: usize,
    /// Renders of the soak, over all its points.
    pub(crate) soak_renders: u64,
    /// Renders that fill a queue.
    pub(crate) queued_renders: usize,
    /// Completions of each printed document.
    pub(crate) completions: usize,
    /// Whose attacks are measured.
    pub(crate) attackers: &'static [Subscription],
    /// How long memory may take to come back after an attack.
    pub(crate) memory_patience: Duration,
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
        completions: 50,
        attackers: &[Subscription::Free, Subscription::Scale],
        memory_patience: Duration::from_mins(1),
    };
    /// About seven minutes; shows what is broken, not what is slow.
    pub(crate) const QUICK: Self = Self {
        rounds: 1,
        table_rounds: 1,
        table_callers: 1,
        window: Duration::from_secs(1),
        newcomers: 10,
        soak_renders: 1_000,
        queued_renders: 200,
        completions: 10,
        attackers: &[Subscription::Free],
        memory_patience: Duration::from_secs(10),
    };
}
