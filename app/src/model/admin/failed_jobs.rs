//! Failed jobs.

use time::OffsetDateTime;

/// Kind of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// A render that waits for a retry.
    Render,
    /// A webhook delivery that waits for a retry, or was discarded.
    Callback,
    Mail,
    Export,
    /// Synchronization of a customer with Stripe.
    Customer,
    /// Usage to be reported to Stripe.
    Usage,
}

impl WorkKind {
    pub const ALL: [Self; 6] = [
        Self::Render,
        Self::Callback,
        Self::Mail,
        Self::Export,
        Self::Customer,
        Self::Usage,
    ];

    /// Returns the value in the database and in query parameters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Render => "render",
            Self::Callback => "callback",
            Self::Mail => "mail",
            Self::Export => "export",
            Self::Customer => "customer",
            Self::Usage => "usage",
        }
    }

    /// Parses [`Self::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Render => "Render",
            Self::Callback => "Callback",
            Self::Mail => "Mail",
            Self::Export => "Export",
            Self::Customer => "Customer at Stripe",
            Self::Usage => "Usage for Stripe",
        }
    }
}

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

/// Maximum number of jobs that one action retries or discards.
pub const MOST_AT_ONCE: u16 = 1000;

/// The result of an action on several jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkOutcome {
    /// Number of jobs chosen.
    pub meant: usize,
    /// Number of jobs changed. The rest are being run by a worker, or had ended.
    pub done: usize,
}
