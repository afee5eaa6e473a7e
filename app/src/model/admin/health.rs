//! How the service is.

use time::OffsetDateTime;

use crate::ui::number::counted;

/// Everything that the page shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Health {
    /// The moment of the answer.
    pub now: OffsetDateTime,
    /// What should be looked at.
    pub concerns: Vec<Concern>,
    /// All processes.
    pub processes: Vec<Process>,
    /// The id of the one whose doings are shown; none: of all.
    pub only: Option<String>,
    /// The last hour, minute by minute, the oldest first.
    pub minutes: Vec<Minute>,
    /// The leading figures.
    pub figures: Figures,
    /// Where renders wait for a slot.
    pub lanes: Vec<Lane>,
    /// Jobs that wait.
    pub jobs: Vec<Jobs>,
    /// Sessions of the browsers.
    pub sessions: Vec<Session>,
    /// How long the phases of documents took within the last hour.
    pub phases: Vec<Phase>,
    /// Why renders failed within the last hour, the most frequent reason first.
    pub failures: Vec<Failure>,
    /// What the service is made of, and leans on.
    pub parts: Vec<Part>,
}

/// How the service is, in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthSummary {
    /// So many things should be looked at.
    pub concerns: usize,
    /// Processes that answer requests.
    pub web: usize,
    /// Processes that do background work.
    pub workers: usize,
    /// The release of the process that answers.
    pub version: String,
}

/// What is said of so many things that should be looked at.
pub fn headline(concerns: usize) -> String {
    match concerns {
        0 => "All parts answering".to_owned(),
        _ => format!("{} to look at", counted(concerns, "thing", "things")),
    }
}

/// Something that should be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    /// What it is, in a few words.
    pub title: String,
    /// What to know of it, and what to do next.
    pub advice: String,
    /// Whether renders fail because of it.
    pub grave: bool,
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Identifier.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it does: `all`, `web`, `worker`.
    pub role: String,
    /// Its release.
    pub version: String,
    /// Its browser's release.
    pub browser: String,
    /// When it started.
    pub started_at: OffsetDateTime,
    /// Seconds since it was heard of, if that is too long ago.
    pub silent_seconds: Option<i64>,
    /// Browsers that answer.
    pub browsers: usize,
    /// Browsers that should.
    pub browsers_wanted: usize,
}

/// What happened in a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minute {
    /// Its beginning.
    pub from: OffsetDateTime,
    /// Renders with a document.
    pub succeeded: i64,
    /// Renders that failed or were called off.
    pub failed: i64,
    /// The most renders that were seen waiting for a slot.
    pub peak_waiting: i64,
}

/// Leading figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Renders that ended, by the last minute.
    pub per_second: f64,
    /// Renders that ended within the last hour.
    pub last_hour: i64,
    /// The busiest minute of the last 24 hours: so many renders a second, and when.
    pub peak: Option<(f64, OffsetDateTime)>,
    /// Milliseconds within which 95 in 100 synchronous documents of the last five minutes were there.
    pub percentile_95_ms: Option<f64>,
    /// Sessions that are in use.
    pub sessions_in_use: usize,
    /// Sessions that there can be.
    pub session_limit: usize,
    /// Sessions that are ready for any account.
    pub sessions_free: usize,
    /// Browsers that died within the last 24 hours.
    pub browsers_died: i64,
    /// Browsers that were replaced after their share of renders.
    pub browsers_retired: i64,
    /// Hosts that were refused within the last hour.
    pub refusals_of_hour: i64,
    /// The same within the last 24 hours.
    pub refusals_of_day: i64,
}

/// A lane of the queue for slots, over the processes that are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// What it is called.
    pub name: &'static str,
    /// Renders and parts that wait.
    pub waiting: usize,
    /// Renders that can wait, in all lanes together.
    pub limit: usize,
    /// Accounts that they are of.
    pub accounts: usize,
    /// For how many milliseconds the first of them has waited.
    pub oldest_ms: Option<u64>,
}

/// Jobs of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jobs {
    /// What they are called.
    pub name: &'static str,
    /// That could be done now.
    pub due: i64,
    /// That are to be tried again.
    pub later: i64,
    /// That are being done.
    pub in_hand: i64,
    /// For how many seconds the oldest has been due.
    pub oldest_seconds: Option<i64>,
}

/// A session of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its process and its number there.
    pub name: String,
    /// What it does.
    pub activity: Activity,
    /// Whose it is: id and name.
    pub account: Option<(String, String)>,
    /// For how many seconds it has done that.
    pub seconds: u64,
}

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// It is being made.
    Opening,
    /// It renders.
    Rendering,
    /// It waits for its account's next render.
    Idle,
    /// It is ready for any account.
    Free,
}

/// A phase of documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// What it is called.
    pub name: &'static str,
    /// Milliseconds within which half of them were done with it.
    pub median_ms: f64,
    /// The same for 95 in 100.
    pub percentile_95_ms: f64,
}

/// Renders that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub name: String,
    /// Whether the request, its page or its account is to blame, and not the service.
    pub callers: bool,
    /// So many.
    pub count: i64,
}

/// A part of the service, or something that it leans on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is called.
    pub name: &'static str,
    /// How it is.
    pub state: PartState,
    /// What to know of it.
    pub detail: String,
    /// How long it took to answer, in microseconds.
    pub microseconds: Option<u64>,
}

/// How a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartState {
    /// It answers.
    Answering,
    /// It is behind, or nearly full.
    Strained,
    /// It fails.
    Failing,
    /// Nothing is known, or it is not set up.
    Off,
}
