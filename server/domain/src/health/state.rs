//! The status that a process reports. Other releases read it too: they ignore unknown fields, and use defaults for
//! missing ones.

use serde::{Deserialize, Serialize};

use crate::ids::AccountId;

/// The status of a process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InstanceState {
    /// Browsers that respond.
    pub browsers: usize,
    /// Configured browsers.
    pub browsers_wanted: usize,
    /// For instance `HeadlessChrome/156.0.8078.79`.
    pub browser_version: String,
    /// Maximum number of concurrent renders.
    pub slots: usize,
    /// Renders in progress.
    pub running: usize,
    /// Maximum number of sessions.
    pub session_limit: usize,
    /// Existing sessions.
    pub sessions: Vec<SessionState>,
    /// Maximum number of renders that wait for a slot.
    pub queue_limit: usize,
    /// The lanes of the queue.
    pub lanes: Vec<LaneState>,
    /// Worker processes that fill templates.
    pub template_children: usize,
    /// Those of `template_children` that are busy.
    pub template_children_busy: usize,
    /// The result of the last check of the default storage.
    pub storage: Option<StorageState>,
}

/// A session of a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    /// Its number within the process.
    pub number: usize,
    pub activity: Activity,
    /// `None` if the session is not assigned yet.
    pub account: Option<AccountId>,
    /// Duration of the current activity, in milliseconds.
    pub milliseconds: u64,
}

/// The activity of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// It is being created.
    Opening,
    /// It renders.
    InUse,
    Idle,
    /// An activity that this release does not know.
    #[serde(other)]
    Unknown,
}

/// A lane of the queue for slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneState {
    /// The lane's name: `preview`, `synchronous` or `background`.
    pub lane: String,
    /// Waiting renders and parts.
    pub waiting: usize,
    /// Number of accounts with waiting renders.
    pub accounts: usize,
    /// How long the first one has waited, in milliseconds; 0 if none waits.
    pub oldest_ms: u64,
}

/// The result of a check of the default storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageState {
    /// Duration of the check.
    pub milliseconds: u64,
    /// `None` if the check succeeded.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_another_release_wrote_is_read_as_far_as_it_is_known() {
        let written = json!({"browsers": 2, "sessions": [
            {"number": 1, "activity": "asleep", "account": null, "milliseconds": 3, "mood": "fine"},
        ], "weather": "rain"});
        let state: InstanceState = serde_json::from_value(written).expect("it can be read");
        assert_eq!((state.browsers, state.slots), (2, 0));
        assert_eq!(state.sessions[0].activity, Activity::Unknown);
    }
}
