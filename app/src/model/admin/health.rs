//! Health of the service.

use std::collections::BTreeMap;

use platen_domain::{
    health::{concern::Concern, process::Process},
    ids::InstanceId,
    job::QueueLength,
    number::counted,
};
use time::OffsetDateTime;

/// Everything the health page shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// Time of the reading.
    pub now: OffsetDateTime,
    /// Problems that need attention.
    pub concerns: Vec<Concern>,
    pub processes: Vec<Process>,
    /// Id of the process to which activity is limited. `None`: all processes.
    pub only: Option<InstanceId>,
    /// The last hour by minute, the oldest first.
    pub minutes: Vec<Minute>,
    pub figures: Figures,
    /// The queue for slots, by lane.
    pub lanes: Vec<Lane>,
    /// Queued jobs, by kind.
    pub jobs: Vec<QueueLength>,
    /// Browser sessions.
    pub sessions: Vec<Session>,
    /// Duration of the render phases within the last hour.
    pub phases: Vec<Phase>,
    /// Failed renders within the last hour, by the word of their [`FailureKind`](platen_domain::health::failure_kind).
    pub failures: BTreeMap<String, u64>,
    /// Components of the service, and external services that it depends on.
    pub parts: Vec<Part>,
}

/// Returns the headline for a number of concerns.
pub fn headline(concerns: usize) -> String {
    match concerns {
        0 => "All components responding".to_owned(),
        _ => counted(concerns, "issue", "issues"),
    }
}

/// Figures of one minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minute {
    /// Start of the minute.
    pub from: OffsetDateTime,
    /// Renders that succeeded.
    pub succeeded: i64,
    /// Renders that failed or were cancelled.
    pub failed: i64,
    /// Largest observed number of renders waiting for a slot.
    pub peak_waiting: i64,
}

/// Leading figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Finished renders per second, over the last minute.
    pub per_second: f64,
    /// Renders finished within the last hour.
    pub last_hour: i64,
    /// The busiest minute of the last 24 hours: renders per second, and when.
    pub peak: Option<(f64, OffsetDateTime)>,
    /// 95th percentile of the duration of synchronous renders within the last five minutes, in milliseconds.
    pub percentile_95_ms: Option<f64>,
    pub sessions_in_use: usize,
    /// Maximum number of sessions.
    pub session_limit: usize,
    /// Sessions not assigned to an account yet.
    pub sessions_free: usize,
    /// Browsers that crashed within the last 24 hours.
    pub browsers_died: i64,
    /// Browsers that were replaced after their maximum number of renders.
    pub browsers_retired: i64,
    /// Hosts refused within the last hour.
    pub refusals_of_hour: i64,
}

/// A lane of the queue for slots, over the processes in view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    pub name: &'static str,
    /// Waiting renders and parts.
    pub waiting: usize,
    /// Maximum number of waiting renders, in all lanes together.
    pub limit: usize,
    /// Number of accounts with waiting renders.
    pub accounts: usize,
    /// Milliseconds for which the oldest has waited.
    pub oldest_ms: Option<u64>,
}

/// A browser session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its process, and its number in that process.
    pub name: String,
    pub activity: Activity,
    /// Id and name of the account that owns it.
    pub account: Option<(String, String)>,
    /// Seconds since the activity began.
    pub seconds: u64,
}

/// Activity of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// Being created.
    Opening,
    Rendering,
    /// Waiting for its account's next render.
    Idle,
    /// Not assigned to an account yet.
    Free,
}

/// Duration of a render phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    pub name: &'static str,
    /// Median, in milliseconds.
    pub median_ms: f64,
    /// 95th percentile, in milliseconds.
    pub percentile_95_ms: f64,
}

/// A component of the service, or an external service that it depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub name: &'static str,
    pub state: PartState,
    /// Details.
    pub detail: String,
    /// Response time, in microseconds.
    pub microseconds: Option<u64>,
}

/// Status of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartState {
    Answering,
    /// Delayed, or nearly full.
    Strained,
    Failing,
    /// Unknown, or not set up.
    Off,
}
