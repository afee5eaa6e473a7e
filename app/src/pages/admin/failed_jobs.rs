//! `/admin/jobs`: failed jobs of all accounts.

pub mod api;
pub mod list;

use leptos::{either::Either, prelude::*, server::ServerActionError};
use leptos_router::hooks::use_query_map;
use platen_domain::{failed_jobs::Done, job::JobKind, number::counted};
use strum::VariantArray;

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::admin::{AdminEntry, AdminShell},
    },
    model::admin::failed_jobs::{FailedWorkPage, FailedWorkSearch},
    pages::{
        admin::failed_jobs::list::List,
        query::{self, ListQuery},
    },
    ui::{
        filters::{FilterForm, SearchFilter, SelectFilter},
        notice::DoneNotice,
        pager::Pager,
    },
};

/// Path of the page.
pub const PATH: &str = "/admin/jobs";
const FILTERS: [&str; 2] = ["kind", "account"];
/// Values of `done` in the query.
const RETRIED: &str = "retried";
const DISCARDED: &str = "discarded";

/// The page of failed jobs. The query of its address contains the search.
#[component]
pub fn FailedJob() -> impl IntoView {
    let query = ListQuery::of_page(&FILTERS);
    let search = search(&query);
    let wanted = search.clone();
    view! {
        <AdminShell title="Failed jobs" current=AdminEntry::Jobs>
            {loaded(
                |backend| async move { backend.failed_jobs(wanted).await },
                |page| view! { <Content page search query /> },
            )}
        </AdminShell>
    }
}

#[component]
fn Content(page: FailedWorkPage, search: FailedWorkSearch, query: ListQuery) -> impl IntoView {
    let (newest, older) = (query.newest(PATH), query.older(PATH, page.work.next.as_ref()));
    let kinds = JobKind::VARIANTS.iter().map(|kind| (kind.into_str(), kind.label()));
    let note = counted(page.found, "job found", "jobs found");
    let paged = newest.is_some() || older.is_some();
    view! {
        <PageHead
            title="Failed jobs"
            lede="Jobs that are being retried, and dead letters: jobs that have failed for good. Renders that failed because of their request are not listed."
        />
        <Outcomes />
        <Section heading="Jobs">
            <FilterForm path=PATH can_be_cleared=true>
                <SelectFilter name="kind" label="Kind" options=kinds />
                <SearchFilter name="account" label="Account id or owner’s email" />
            </FilterForm>
            {if page.account_known {
                Either::Left(view! { <List page search /> })
            } else {
                Either::Right(
                    view! {
                        <p class="quiet">
                            "No account found. If the owner has several accounts, enter an account id."
                        </p>
                    },
                )
            }}
            {paged.then(|| view! { <Pager note newest older /> })}
        </Section>
    }
}

/// Result of the last bulk action: how many jobs were selected, and how many were changed.
#[component]
fn Outcomes() -> impl IntoView {
    let refused = use_context::<ServerActionError>().is_some();
    let query = use_query_map().read_untracked();
    let number = |name: &str| query.get(name).and_then(|number| number.parse::<usize>().ok());
    let word = query.get("done").filter(|_| !refused);
    let told = word.and_then(|word| {
        let outcome = Done {
            meant: number("meant")?,
            done: number("made")?,
        };
        outcome_in_words(&word, outcome)
    });
    told.map(|words| view! { <DoneNotice>{words}</DoneNotice> })
}

fn outcome_in_words(word: &str, Done { meant, done }: Done) -> Option<String> {
    let what = match word {
        RETRIED => "Retried",
        DISCARDED => "Discarded",
        _ => return None,
    };
    let done_of = format!("{what} {done} of {}.", counted(meant, "job", "jobs"));
    Some(match meant.saturating_sub(done) {
        0 => done_of,
        _ => format!("{done_of} The rest were in progress or had already ended."),
    })
}

fn search(query: &ListQuery) -> FailedWorkSearch {
    FailedWorkSearch {
        kind: query.get("kind"),
        account: query.text("account"),
        after: query.cursor(),
    }
}

/// Returns the address of the same search with the result of a bulk action.
fn done_path(word: &str, search: &FailedWorkSearch, outcome: Done) -> String {
    let values = [
        ("kind", search.kind.map(|kind| kind.into_str().to_owned())),
        ("account", search.account.clone()),
        ("done", Some(word.to_owned())),
        ("meant", Some(outcome.meant.to_string())),
        ("made", Some(outcome.done.to_string())),
    ];
    query::address(PATH, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let values = [("kind", "mail"), ("account", "ann@example.org"), ("cursor", "7.mail.1")];
        let query = ListQuery::of(&FILTERS, &values);
        let found = search(&query);
        assert_eq!(found.kind, Some(JobKind::Mail));
        assert_eq!(
            query.older(PATH, found.after).as_deref(),
            Some("/admin/jobs?kind=mail&account=ann%40example%2Eorg&cursor=7%2Email%2E1")
        );
    }

    #[test]
    fn what_was_not_done_is_said() {
        let told = |meant, done| outcome_in_words(DISCARDED, Done { meant, done }).expect("words");
        assert_eq!(told(1, 1), "Discarded 1 of 1 job.");
        assert!(
            told(2, 1).starts_with("Discarded 1 of 2 jobs. The rest"),
            "{}",
            told(2, 1)
        );
        assert_eq!(outcome_in_words("<b>", Done { meant: 1, done: 1 }), None);
    }
}
