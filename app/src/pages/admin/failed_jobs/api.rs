//! Server functions of the page of failed jobs. All are for operators only.

use leptos::prelude::*;
use platen_domain::failed_jobs::Done;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        admin::failed_jobs::{ChosenWork, FailedWorkSearch},
        own_path::OwnPath,
    },
    pages::admin::failed_jobs::{DISCARDED, PATH, RETRIED, done_path},
};

/// Value among the selected jobs that stands for all jobs of the search.
pub(super) const ALL: &str = "all";

/// Retries jobs at once.
#[server(prefix = "/web", endpoint = "retry-failed-work")]
pub async fn retry_failed_work(
    /// Ids of jobs, or [`ALL`].
    #[server(default)]
    chosen: Vec<String>,
    /// With [`ALL`], the kind of the jobs. Empty: any.
    kind: String,
    /// With [`ALL`], the account of the jobs: its id or its owner's email address. Empty: any.
    account: String,
    /// Reason, for the audit log. May be empty.
    reason: String,
) -> Result<(), AppError> {
    let search = search(&kind, account);
    let done = backend()
        .retry_failed_work(chosen_work(chosen, &search), reason)
        .await?;
    lead_on(RETRIED, &search, done)
}

/// Discards jobs.
#[server(prefix = "/web", endpoint = "discard-failed-work")]
pub async fn discard_failed_work(
    /// Ids of jobs, or [`ALL`].
    #[server(default)]
    chosen: Vec<String>,
    /// With [`ALL`], the kind of the jobs. Empty: any.
    kind: String,
    /// With [`ALL`], the account of the jobs: its id or its owner's email address. Empty: any.
    account: String,
    /// Reason, for the audit log. Required.
    reason: String,
) -> Result<(), AppError> {
    let search = search(&kind, account);
    let done = backend()
        .discard_failed_work(chosen_work(chosen, &search), reason)
        .await?;
    lead_on(DISCARDED, &search, done)
}

fn search(kind: &str, account: String) -> FailedWorkSearch {
    FailedWorkSearch {
        kind: kind.parse().ok(),
        account: Some(account).filter(|account| !account.is_empty()),
        after: None,
    }
}

fn chosen_work(chosen: Vec<String>, search: &FailedWorkSearch) -> ChosenWork {
    if chosen.iter().any(|name| name == ALL) {
        ChosenWork::Found(search.clone())
    } else {
        ChosenWork::These(chosen)
    }
}

fn lead_on(word: &str, search: &FailedWorkSearch, outcome: Done) -> Result<(), AppError> {
    let path = OwnPath::parse(&done_path(word, search, outcome));
    leave_for(path.unwrap_or_else(|| PATH.into()))
}
