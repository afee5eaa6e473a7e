//! Concerns: conditions that operators should look into.

use crate::{health::state::InstanceState, job::JobKind};

/// Seconds without a sign of life after which a process counts as silent.
pub const SILENT_AFTER: f64 = 60.0;
/// Number of browser crashes of a process within an hour that is a concern.
const DEATHS: u64 = 2;
/// Fraction of the queue's capacity, or of the database's connections, above which usage is a concern.
const NEARLY_FULL: f64 = 0.9;
/// In seconds, as in the alerts of docs/operations/watching.md.
const OLD_JOB: f64 = 600.0;
/// In seconds, likewise.
const OLD_MAIL: f64 = 900.0;

/// The data of a process from which concerns are derived.
#[derive(Debug, Clone, Default)]
pub struct Process {
    pub name: String,
    pub version: String,
    /// Seconds since its last sign of life.
    pub unseen_seconds: f64,
    /// Number of its browsers that crashed within the last hour.
    pub browsers_died: u64,
    /// The status that it reported.
    pub state: InstanceState,
}

/// The data from which concerns are derived.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// All processes, silent ones included.
    pub processes: Vec<Process>,
    /// Seconds for which the oldest job of each kind has been due.
    pub oldest_jobs: Vec<(JobKind, f64)>,
    /// Seconds for which the oldest mail has waited. `None` if mail is not sent.
    pub oldest_mail: Option<f64>,
    /// Connections to the database, and their limit.
    pub connections: (i64, i64),
    /// Number of differences between Stripe and the database within the last week.
    pub stripe_differences: i64,
}

/// A condition that operators should look into.
#[derive(Debug, Clone, PartialEq)]
pub enum Concern {
    /// A process gives no sign of life, and was not shut down.
    Silent {
        name: String,
        /// Since its last sign of life.
        seconds: f64,
    },
    /// A process has fewer browsers than configured.
    BrowsersMissing {
        name: String,
        /// Browsers that respond.
        browsers: usize,
        /// Configured browsers.
        wanted: usize,
    },
    /// Browsers of a process crashed repeatedly.
    BrowsersDied {
        name: String,
        /// Crashes within an hour.
        count: u64,
    },
    /// The default storage fails for a process.
    StorageFails { name: String, error: String },
    /// The queue of a process is nearly full.
    QueueNearlyFull {
        name: String,
        /// Waiting renders.
        waiting: usize,
        /// Maximum number of waiting renders.
        limit: usize,
    },
    /// Jobs have been due for a long time.
    JobsWait {
        kind: JobKind,
        /// For the oldest one.
        seconds: f64,
    },
    /// Mail has waited for a long time.
    MailWaits {
        /// For the oldest one.
        seconds: f64,
    },
    /// The connections to the database are nearly used up.
    ConnectionsNearlyUsed { used: i64, limit: i64 },
    /// Processes run different releases.
    VersionsDiffer { versions: Vec<String> },
    /// Stripe and the database differed.
    StripeDiffered { differences: i64 },
}

impl Concern {
    /// Returns whether renders fail, or will soon.
    pub fn is_grave(&self) -> bool {
        match self {
            Self::StorageFails { .. } => true,
            Self::BrowsersMissing { browsers, .. } => *browsers == 0,
            _ => false,
        }
    }
}

/// Derives the concerns, most severe first.
pub fn concerns(facts: &Facts) -> Vec<Concern> {
    let mut found = Vec::new();
    let (silent, awake): (Vec<&Process>, Vec<&Process>) = facts
        .processes
        .iter()
        .partition(|process| process.unseen_seconds > SILENT_AFTER);
    for process in &awake {
        found.extend(of_process(process));
    }
    found.extend(silent.iter().map(|process| Concern::Silent {
        name: process.name.clone(),
        seconds: process.unseen_seconds,
    }));
    let old = facts.oldest_jobs.iter().filter(|(_, seconds)| *seconds > OLD_JOB);
    found.extend(old.map(|&(kind, seconds)| Concern::JobsWait { kind, seconds }));
    if let Some(seconds) = facts.oldest_mail.filter(|seconds| *seconds > OLD_MAIL) {
        found.push(Concern::MailWaits { seconds });
    }
    let (used, limit) = facts.connections;
    if used as f64 > limit as f64 * NEARLY_FULL {
        found.push(Concern::ConnectionsNearlyUsed { used, limit });
    }
    let mut versions: Vec<_> = awake.iter().map(|process| process.version.clone()).collect();
    versions.sort_unstable();
    versions.dedup();
    if versions.len() > 1 {
        found.push(Concern::VersionsDiffer { versions });
    }
    if facts.stripe_differences > 0 {
        found.push(Concern::StripeDiffered {
            differences: facts.stripe_differences,
        });
    }
    found.sort_by_key(|concern| !concern.is_grave());
    found
}

fn of_process(process: &Process) -> Vec<Concern> {
    let (name, state) = (&process.name, &process.state);
    let mut found = Vec::new();
    if let Some(error) = state.storage.as_ref().and_then(|storage| storage.error.clone()) {
        found.push(Concern::StorageFails {
            name: name.clone(),
            error,
        });
    }
    if state.browsers < state.browsers_wanted {
        found.push(Concern::BrowsersMissing {
            name: name.clone(),
            browsers: state.browsers,
            wanted: state.browsers_wanted,
        });
    }
    if process.browsers_died >= DEATHS {
        found.push(Concern::BrowsersDied {
            name: name.clone(),
            count: process.browsers_died,
        });
    }
    let waiting: usize = state.lanes.iter().map(|lane| lane.waiting).sum();
    if waiting > 0 && waiting as f64 >= state.queue_limit as f64 * NEARLY_FULL {
        found.push(Concern::QueueNearlyFull {
            name: name.clone(),
            waiting,
            limit: state.queue_limit,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::state::{LaneState, StorageState};

    fn healthy(name: &str) -> Process {
        Process {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            state: InstanceState {
                browsers: 2,
                browsers_wanted: 2,
                queue_limit: 10,
                ..InstanceState::default()
            },
            ..Process::default()
        }
    }

    fn facts(processes: Vec<Process>) -> Facts {
        Facts {
            processes,
            connections: (10, 100),
            ..Facts::default()
        }
    }

    #[test]
    fn a_service_that_is_well_is_no_concern() {
        let facts = Facts {
            oldest_jobs: vec![(JobKind::Render, 599.0)],
            oldest_mail: Some(10.0),
            ..facts(vec![healthy("a"), healthy("b")])
        };
        assert_eq!(concerns(&facts), []);
    }

    #[test]
    fn each_thing_that_is_wrong_is_told_of_and_what_is_grave_first() {
        let mut ill = healthy("a");
        ill.browsers_died = 2;
        ill.state.browsers = 0;
        ill.state.storage = Some(StorageState {
            milliseconds: 5,
            error: Some("no".to_owned()),
        });
        ill.state.lanes = vec![LaneState {
            lane: "preview".to_owned(),
            waiting: 9,
            accounts: 1,
            oldest_ms: 3,
        }];
        let mut silent = healthy("b");
        silent.unseen_seconds = 61.0;
        silent.version = "0.9.0".to_owned();
        let mut newer = healthy("c");
        newer.version = "1.1.0".to_owned();
        let facts = Facts {
            oldest_jobs: vec![(JobKind::Render, 601.0), (JobKind::Callback, 3.0)],
            oldest_mail: Some(1000.0),
            connections: (91, 100),
            stripe_differences: 2,
            ..facts(vec![silent, ill, newer])
        };
        let name = "a".to_owned();
        assert_eq!(
            concerns(&facts),
            [
                Concern::StorageFails {
                    name: name.clone(),
                    error: "no".to_owned()
                },
                Concern::BrowsersMissing {
                    name: name.clone(),
                    browsers: 0,
                    wanted: 2
                },
                Concern::BrowsersDied {
                    name: name.clone(),
                    count: 2
                },
                Concern::QueueNearlyFull {
                    name,
                    waiting: 9,
                    limit: 10
                },
                Concern::Silent {
                    name: "b".to_owned(),
                    seconds: 61.0
                },
                Concern::JobsWait {
                    kind: JobKind::Render,
                    seconds: 601.0
                },
                Concern::MailWaits { seconds: 1000.0 },
                Concern::ConnectionsNearlyUsed { used: 91, limit: 100 },
                // A silent process no longer runs.
                Concern::VersionsDiffer {
                    versions: vec!["1.0.0".to_owned(), "1.1.0".to_owned()]
                },
                Concern::StripeDiffered { differences: 2 },
            ]
        );
    }
}
