//! The list of failed jobs, in a form that retries or discards them.

use leptos::{either::Either, prelude::*, server_fn::ServerFn};
use platen_domain::{
    failed_jobs::{FailedJob, MOST_AT_ONCE},
    number::{grouped, wait},
    sentence::sentence,
};
use time::OffsetDateTime;

use crate::{
    csrf::CsrfField,
    layout::shell::admin,
    model::{
        admin::failed_jobs::{FailedWorkPage, FailedWorkSearch},
        rejection::Field,
    },
    outcome::{FormField, Outcome, OutcomeErrors},
    pages::admin::failed_jobs::api::{ALL, DiscardFailedWork, RetryFailedWork},
    ui::{
        badge::{Badge, State},
        button::{Rank, SubmitButton},
        check::Check,
        moment::Stamp,
        table::{Column, Table},
    },
};

/// For jobs that failed before errors were recorded.
const UNKNOWN: &str = "The cause was not recorded.";

const COLUMNS: &[Column] = &[
    Column::tight("Select").with_hidden_head(),
    Column::text("Job"),
    Column::text("Account").from_medium(),
    Column::text("Failed, UTC").from_medium(),
    Column::figure("Attempts").from_medium(),
    Column::text("Next attempt"),
];

/// The form. Its two buttons call different server functions.
#[component]
pub fn List(
    /// Jobs of the search.
    page: FailedWorkPage,
    /// The search.
    search: FailedWorkSearch,
) -> impl IntoView {
    if page.work.items.is_empty() {
        return Either::Left(view! {
            <div class="empty">
                <p class="empty__title">"No failed jobs"</p>
                <p class="empty__text">
                    "Renders, webhook deliveries, emails, exports and Stripe jobs appear here after their first "
                    "failure, and disappear when they succeed."
                </p>
            </div>
        });
    }
    let (retry, discard) = (Outcome::of::<RetryFailedWork>(), Outcome::of::<DiscardFailedWork>());
    let refused = if discard.error().is_some() { discard } else { retry };
    let ticked = refused.typed(Field::Chosen);
    let is_ticked = move |name: &str| ticked.split(' ').any(|ticked| ticked == name);
    let all = format!("All {} matches", grouped(page.found));
    let bound = if page.found > i64::from(MOST_AT_ONCE) {
        format!(
            "At most {} at once, the latest failures first.",
            grouped(MOST_AT_ONCE.into())
        )
    } else {
        "Includes those on other pages.".to_owned()
    };
    let (now, of_all) = (page.now, page.work.items.len());
    let all_ticked = is_ticked(ALL);
    let rows = page.work.items.into_iter().enumerate().map(|(index, work)| {
        let checked = is_ticked(&work.name.to_string());
        view! { <Row index work checked now /> }
    });
    Either::Right(view! {
        <form class="stack" method="post" action=RetryFailedWork::url()>
            <CsrfField />
            <input type="hidden" name="kind" value=search.kind.map_or("", |kind| kind.into_str()) />
            <input type="hidden" name="account" value=search.account.unwrap_or_default() />
            <OutcomeErrors outcome=refused />
            <div id=refused.id(Field::Chosen)>
                <Table caption="Failed jobs" columns=COLUMNS rows />
            </div>
            <Check name=format!("chosen[{of_all}]") value=ALL label=all hint=bound checked=all_ticked />
            <FormField
                outcome=refused
                field=Field::OperatorsReason
                label="Reason"
                hint="Recorded in the audit log. Required to discard jobs."
                optional=true
            />
            <div class="cluster">
                <SubmitButton rank=Rank::Primary>"Retry"</SubmitButton>
                <button class="button button--danger" type="submit" formaction=DiscardFailedWork::url()>
                    "Discard"
                </button>
            </div>
            <p class="quiet">
                "Jobs in progress are skipped. Discarding a render fails it and notifies its webhook. Discarding a "
                "delivery or an export ends it as failed. Discarding an email deletes it. Discarding a batch pauses "
                "it; the renders of a cancelled one go on unless its account cancels it again. Stripe jobs are created "
                "again by the next event from Stripe, or by the nightly comparison."
            </p>
        </form>
    })
}

#[component]
fn Row(index: usize, work: FailedJob, checked: bool, now: OffsetDateTime) -> impl IntoView {
    let (kind, note, next) = (work.name.kind.label(), note(&work), next(&work, now));
    let name = work.name.to_string();
    let label = format!("Select {kind} {}", work.name.id);
    let error = work.error.map_or_else(|| UNKNOWN.to_owned(), |error| sentence(&error));
    let account = move || {
        work.account.as_ref().map(|account| {
            view! { <a class="break" href=format!("{}/{}", admin::PATH, account.id)>{account.called().to_owned()}</a> }
        })
    };
    view! {
        <tr>
            <td class="table__tight">
                <input
                    class="check__box"
                    type="checkbox"
                    name=format!("chosen[{index}]")
                    value=name
                    checked=checked
                    aria-label=label
                />
            </td>
            <th scope="row">
                {kind} {note.map(|note| format!(": {note}"))}
                <span class="table__sub break">
                    <code>{work.name.id}</code>
                </span>
                <span class="table__sub break">{error}</span>
                <span class="table__sub table__narrow">
                    {account()} " " <Stamp at=work.failed_at /> {format!(" UTC, attempts: {}", work.tries)}
                </span>
            </th>
            <td class="table__medium">{account()}</td>
            <td class="table__medium table__tight">
                <Stamp at=work.failed_at />
            </td>
            <td class="table__figure table__medium">{work.tries}</td>
            <td class="table__tight">{next}</td>
        </tr>
    }
}

/// Returns the kind of a mail and its recipient's domain.
fn note(work: &FailedJob) -> Option<String> {
    let about = work.about.as_ref().map(|kind| kind.replace('_', " "));
    match (about, &work.receiver) {
        (Some(about), Some(receiver)) => Some(format!("{about}, to a recipient at {receiver}")),
        (about, _) => about,
    }
}

fn next(work: &FailedJob, now: OffsetDateTime) -> impl IntoView + use<> {
    let (state, words) = match work.again_at {
        _ if work.in_hand => (State::Busy, "in progress".to_owned()),
        Some(at) if at <= now => (State::Open, "due".to_owned()),
        Some(at) => (State::Open, format!("in {}", wait((at - now).whole_seconds()))),
        None => (State::Bad, "dead letter".to_owned()),
    };
    view! { <Badge state>{words}</Badge> }
}
