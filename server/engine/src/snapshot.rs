//! Current state of sessions and queue, for operators. Unlike [`crate::EngineStatus`] it names accounts.

use std::time::Duration;

use strum::VariantArray;
use uuid::Uuid;

use crate::job::Lane;

/// Sessions and queue at one moment, as [`Engine::snapshot`](crate::Engine::snapshot) returns them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Target number of browsers.
    pub browsers_wanted: usize,
    /// Maximum number of sessions.
    pub session_limit: usize,
    /// Existing sessions, ordered by number.
    pub sessions: Vec<SessionSnapshot>,
    /// Maximum number of waiting renders; further ones are refused, except in [`Lane::Background`].
    pub queue_limit: usize,
    /// The lanes in order of priority.
    pub lanes: [LaneSnapshot; Lane::VARIANTS.len()],
}

/// State of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionSnapshot {
    /// Number of the session, from 1. Numbers of closed sessions are reused.
    pub number: usize,
    /// Current state.
    pub state: SessionState,
    /// The account that owns the session; `None` if unassigned.
    pub account: Option<Uuid>,
    /// Time since the session entered `state`.
    pub lasting: Duration,
}

/// State of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Being created.
    Opening,
    /// Rendering, or being reset or closed afterwards.
    InUse,
    /// Waiting for the next render, of its account or, if unassigned, of any.
    Idle,
}

/// State of one lane of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneSnapshot {
    /// The lane.
    pub lane: Lane,
    /// Renders and parts that wait for a slot.
    pub waiting: usize,
    /// Number of accounts with waiting renders.
    pub accounts: usize,
    /// Longest waiting time; `None` if none wait.
    pub oldest: Option<Duration>,
}
