//! What the page of failed jobs asks of the server. All of it is for operators.

use leptos::prelude::*;

use crate::{
    backend::{backend, leave_for},
    error::AppError,
    model::{
        admin::failed_work::{BulkOutcome, ChosenWork, FailedWorkSearch, WorkKind},
        own_path::OwnPath,
        rejection::Field,
    },
    pages::admin::failed_work::{DISCARDED, RETRIED, done_path},
};

/// Stands among what is chosen for all that is found.
pub(super) const ALL: &str = "all";

/// Lets work be tried again at once.
#[server(prefix = "/web", endpoint = "retry-failed-work")]
pub async fn retry_failed_work(
    /// Names, or [`ALL`].
    #[server(default)]
    chosen: Vec<String>,
    /// Of which kind all is meant.
    kind: String,
    /// Of which account all is meant.
    account: String,
    /// For the audit log; may be empty.
    reason: String,
) -> Result<(), AppError> {
    let (typed, search) = (typed(&chosen, &reason), search(&kind, account));
    let work = chosen_work(chosen, &search);
    let done = backend().retry_failed_work(work, reason).await;
    lead_on(RETRIED, &search, done.map_err(|error| error.with_typed(typed))?);
    Ok(())
}

/// Ends work.
#[server(prefix = "/web", endpoint = "discard-failed-work")]
pub async fn discard_failed_work(
    /// Names, or [`ALL`].
    #[server(default)]
    chosen: Vec<String>,
    /// Of which kind all is meant.
    kind: String,
    /// Of which account all is meant.
    account: String,
    /// For the audit log.
    reason: String,
) -> Result<(), AppError> {
    let (typed, search) = (typed(&chosen, &reason), search(&kind, account));
    let work = chosen_work(chosen, &search);
    let done = backend().discard_failed_work(work, reason).await;
    lead_on(DISCARDED, &search, done.map_err(|error| error.with_typed(typed))?);
    Ok(())
}

fn typed(chosen: &[String], reason: &str) -> Vec<(Field, String)> {
    vec![
        (Field::Chosen, chosen.join(" ")),
        (Field::OperatorsReason, reason.to_owned()),
    ]
}

fn search(kind: &str, account: String) -> FailedWorkSearch {
    FailedWorkSearch {
        kind: WorkKind::parse(kind),
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

fn lead_on(word: &str, search: &FailedWorkSearch, outcome: BulkOutcome) {
    if let Some(path) = OwnPath::parse(&done_path(word, search, outcome)) {
        leave_for(&path);
    }
}
