//! Processes of the service, as they report.

use time::OffsetDateTime;

use crate::{
    health::{concern::SILENT_AFTER, state::InstanceState},
    ids::InstanceId,
};

/// The last report of a process.
#[derive(Debug, Clone, PartialEq)]
pub struct HeardOf {
    pub instance: InstanceId,
    /// Host name.
    pub host: String,
    /// `all`, `web` or `worker`.
    pub role: String,
    /// Release of the service.
    pub version: String,
    pub started_at: OffsetDateTime,
    /// Age of the report, in seconds.
    pub unseen_seconds: f64,
    /// Reported state; the default if this release can't read it.
    pub state: InstanceState,
}

/// A process and its latest report.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// Name of its machine, with a number if the machine has several processes.
    pub name: String,
    /// Latest report.
    pub heard: HeardOf,
}

impl Process {
    /// Returns whether the process has not reported for too long.
    pub fn is_silent(&self) -> bool {
        self.heard.unseen_seconds > SILENT_AFTER
    }
}

/// Health of the service in short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthSummary {
    /// Number of concerns.
    pub concerns: usize,
    /// Processes that serve requests.
    pub web: usize,
    /// Processes that do background work. A process may do both.
    pub workers: usize,
}
