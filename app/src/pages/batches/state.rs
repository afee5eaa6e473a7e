//! The state of a batch in words.

use leptos::prelude::*;
use platen_domain::{
    batch::{Batch, BatchState, Hold},
    number::{counted, grouped},
};

use crate::{
    layout::{page::IfMay, shell::rail::Entry},
    ui::{
        badge::{Badge, State},
        notice::DetailedWarning,
    },
};

/// The state as a badge.
#[component]
pub fn BatchBadge(batch: Batch) -> impl IntoView {
    let (state, name) = state(&batch);
    view! { <Badge state>{name}</Badge> }
}

/// Returns the kind and the name of the state of a batch.
pub fn state(batch: &Batch) -> (State, &'static str) {
    match (batch.state, batch.hold) {
        (BatchState::Open, _) => (State::Open, "Waiting for rows"),
        (BatchState::Running, None) => (State::Busy, "Running"),
        (BatchState::Running, Some(Hold::Credits)) => (State::Warning, "On hold: credits"),
        (BatchState::Running, Some(Hold::Storage)) => (State::Warning, "On hold: storage"),
        (BatchState::Running, Some(Hold::Key)) => (State::Warning, "On hold: API key"),
        (BatchState::Paused, _) => (State::Open, "Paused"),
        (BatchState::Cancelled, _) => (State::Struck, "Cancelled"),
        (BatchState::Ended, _) if batch.failed > 0 => (State::Warning, "Ended with errors"),
        (BatchState::Ended, _) => (State::Good, "Ended"),
    }
}

/// Returns how many rows have ended: `1,200 of 5,000`.
pub fn progress(batch: &Batch) -> String {
    format!("{} of {}", grouped(ended(batch)), grouped(batch.rows.into()))
}

/// Returns the number of rows that have ended.
pub fn ended(batch: &Batch) -> i64 {
    i64::from(batch.succeeded) + i64::from(batch.failed)
}

/// Returns the number of renders that are queued or processed.
pub fn in_progress(batch: &Batch) -> i64 {
    (i64::from(batch.opened) - ended(batch)).max(0)
}

/// Returns the state of a batch in a sentence.
pub fn summary(batch: &Batch) -> String {
    let (_, name) = state(batch);
    match batch.rows {
        0 => name.to_owned(),
        _ => format!("{name}: {}, {} failed", progress(batch), grouped(batch.failed.into())),
    }
}

/// Why a batch opens no rows at present, and what to do about it.
#[component]
pub fn HoldNotice(hold: Hold) -> impl IntoView {
    let (title, why, next, entry) = match hold {
        Hold::Credits => (
            "On hold: not enough credits",
            "The account, or the API key that created the batch, has too few credits left for the next document.",
            "Buy credits, change the plan or raise the limit, or wait for the next period. \
             The batch then continues by itself within 15 seconds; nothing is lost.",
            Entry::Billing,
        ),
        Hold::Storage => (
            "On hold: storage is full",
            "The account’s storage, its queue or its pending webhooks have no room for the next documents.",
            "Wait until other renders have ended, webhooks are delivered and older documents are deleted, \
             or change to a larger plan. The batch then continues by itself within 15 seconds; nothing is lost.",
            Entry::Billing,
        ),
        Hold::Key => (
            "On hold: API key",
            "The API key that created the batch was revoked, or has expired.",
            "Neither can be undone: download the results, cancel the batch, and create another one \
             with the rows that have no document.",
            Entry::ApiKeys,
        ),
    };
    view! {
        <DetailedWarning title>
            <p>{why} " " {next}</p>
            <IfMay permission=entry.permission()>
                <p>
                    <a href=entry.path()>{entry.name()}</a>
                </p>
            </IfMay>
        </DetailedWarning>
    }
}

/// Returns the sentence about the rest of a batch.
pub fn remainder(batch: &Batch) -> Option<String> {
    let waiting = i64::from(batch.rows) - i64::from(batch.opened);
    match batch.state {
        BatchState::Open => Some("Upload the rows below, or enter their URL.".to_owned()),
        BatchState::Paused if batch.opened == 0 => Some(format!(
            "Check the rows below, then begin. {} not begun yet.",
            counted(waiting, "row is", "rows are")
        )),
        BatchState::Paused => Some(format!(
            "No more rows are begun until you resume the batch. {} not begun yet.",
            counted(waiting, "row is", "rows are")
        )),
        BatchState::Cancelled => {
            Some("No more rows are begun. Documents that were finished before are kept.".to_owned())
        }
        BatchState::Running | BatchState::Ended => None,
    }
}
