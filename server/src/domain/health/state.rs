//! What a process says of itself. It is read by other releases too: what they do not know is left out, and what is missing
//! is nothing.

use serde::{Deserialize, Serialize};

use crate::domain::ids::AccountId;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InstanceState {
    /// Browsers that answer.
    pub browsers: usize,
    /// Browsers that there should be.
    pub browsers_wanted: usize,
    /// For instance `HeadlessChrome/156.0.8078.79`.
    pub browser_version: String,
    /// Renders that can run at once.
    pub slots: usize,
    /// Renders that do.
    pub running: usize,
    /// Sessions that there can be.
    pub session_limit: usize,
    /// Those that there are.
    pub sessions: Vec<SessionState>,
    /// Renders that can wait for a slot.
    pub queue_limit: usize,
    /// The lanes in which they wait.
    pub lanes: Vec<LaneState>,
    /// Children that fill templates, and those of them that are at work.
    pub template_children: usize,
    /// See there.
    pub template_children_busy: usize,
    /// What came of the last look at the service's own storage.
    pub storage: Option<StorageState>,
}

/// A session of a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionState {
    /// Its number in its process.
    pub number: usize,
    /// What it does.
    pub activity: Activity,
    /// Whose it is, if it is anybody's yet.
    pub account: Option<AccountId>,
    /// For how many milliseconds it has done that.
    pub milliseconds: u64,
}

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// It is being made.
    Opening,
    /// It renders.
    InUse,
    /// It waits.
    Idle,
    /// Something that this release does not know.
    #[serde(other)]
    Unknown,
}

/// A lane of the queue for slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneState {
    /// Its word: `preview`, `synchronous`, `background`.
    pub lane: String,
    /// Renders and parts that wait.
    pub waiting: usize,
    /// Accounts that they are of.
    pub accounts: usize,
    /// For how many milliseconds the first of them has waited; 0 without one.
    pub oldest_ms: u64,
}

/// What came of a look at the service's own storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageState {
    /// How long it took.
    pub milliseconds: u64,
    /// What is wrong, if anything is.
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
