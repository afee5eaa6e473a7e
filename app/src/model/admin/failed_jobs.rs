//! Failed jobs.

use platen_domain::{
    failed_jobs::{FailedJob, WorkCursor},
    job::JobKind,
    page::Page,
};
use time::OffsetDateTime;

/// A search for failed jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedWorkSearch {
    pub kind: Option<JobKind>,
    /// Id of the account, or its owner's email address.
    pub account: Option<String>,
    /// Cursor of the page.
    pub after: Option<WorkCursor>,
}

/// A page of failed jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedWorkPage {
    /// Jobs, the latest failure first.
    pub work: Page<FailedJob, WorkCursor>,
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
