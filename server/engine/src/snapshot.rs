//! What everybody does at this moment, for those who watch over the service. Unlike [`crate::EngineStatus`] it names
//! accounts.

use std::time::Duration;

use uuid::Uuid;

use crate::job::Lane;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Browsers that there should be.
    pub browsers_wanted: usize,
    /// Sessions that there can be.
    pub session_limit: usize,
    /// Sessions that there are, by their numbers.
    pub sessions: Vec<SessionSnapshot>,
    /// Renders that can wait; one more is refused, unless it is one in the background.
    pub queue_limit: usize,
    /// The lanes, the first one served first.
    pub lanes: [LaneSnapshot; Lane::ALL.len()],
}

/// One session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionSnapshot {
    /// From 1; a session that is gone leaves its number to the next.
    pub number: usize,
    /// What it does.
    pub state: SessionState,
    /// Whose it is, if it is anybody's yet.
    pub account: Option<Uuid>,
    /// For how long it has done that.
    pub lasting: Duration,
}

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// It is being made.
    Opening,
    /// It renders, or is being reset or ended after that.
    InUse,
    /// It waits for the next render, of its account or of anybody.
    Idle,
}

/// One lane of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneSnapshot {
    /// Which.
    pub lane: Lane,
    /// Renders and parts that wait for a slot.
    pub waiting: usize,
    /// Accounts that they are of.
    pub accounts: usize,
    /// For how long the first of them has waited.
    pub oldest: Option<Duration>,
}
