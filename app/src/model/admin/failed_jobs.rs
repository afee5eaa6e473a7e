//! Failed jobs.

use platen_domain::failed_jobs::WorkKind;
use time::OffsetDateTime;

/// A failed job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedJob {
    /// Id of the job in forms.
    pub id: String,
    pub kind: WorkKind,
    /// The account's id and name, if the job belongs to one.
    pub account: Option<(String, String)>,
    /// Id of the render, the mail, the export or the customer.
    pub about: String,
    /// Further details, such as the kind of mail or the receiving host.
    pub note: Option<String>,
    /// Error of the last attempt.
    pub error: String,
    /// Number of attempts.
    pub tries: i32,
    /// Time of the last failure.
    pub failed_at: OffsetDateTime,
    pub next: NextTry,
}

/// The next attempt of a failed job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTry {
    /// A worker is running the job.
    InHand,
    /// Scheduled at this time, or as soon as a worker is free after it.
    At(OffsetDateTime),
    /// None: the job was discarded.
    Never,
}

/// A search for failed jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedWorkSearch {
    pub kind: Option<WorkKind>,
    /// Id of the account, or its owner's email address.
    pub account: Option<String>,
    /// Cursor of the page.
    pub after: Option<String>,
}

/// A page of failed jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedWorkPage {
    /// Jobs, the latest failure first.
    pub work: Vec<FailedJob>,
    /// Cursor of the next page.
    pub next: Option<String>,
    /// Number of matches on all pages.
    pub found: i64,
    /// Whether the account in the search exists.
    pub account_known: bool,
    /// Time at which the page was rendered.
    pub now: OffsetDateTime,
}

/// The jobs to which an operator applies an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenWork {
    /// Jobs with these ids.
    These(Vec<String>),
    /// All matches of this search, up to [`MOST_AT_ONCE`].
    Found(FailedWorkSearch),
}

/// The result of an action on several jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkOutcome {
    /// Number of jobs chosen.
    pub meant: usize,
    /// Number of jobs changed. The rest are being run by a worker, or had ended.
    pub done: usize,
}
