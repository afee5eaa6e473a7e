//! `/dashboard/batches`: the batches of the account.

pub mod api;
pub mod columns;
pub mod create;
pub mod detail;
pub mod rows;
pub mod state;
pub mod upload;

use leptos::prelude::*;
use platen_domain::{batch::Batch, ids::BatchId, number::grouped, page::Page};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    pages::{
        batches::state::{BatchBadge, ended, progress, summary},
        query::ListQuery,
        renders,
    },
    ui::{
        button::{ButtonLink, Rank},
        icon::Glyph,
        live_part::LivePart,
        moment::Moment,
        progress::Progress,
        table::{Column, Table},
    },
};

/// Path of the page.
pub const PATH: &str = "/dashboard/batches";
/// Path of the page with the form that creates a batch.
pub const NEW_PATH: &str = "/dashboard/batches/new";

const COLUMNS: &[Column] = &[
    Column::text("Name"),
    Column::text("Status"),
    Column::text("Rows").from_medium(),
    Column::figure("Failed").from_medium(),
    Column::text("Created").from_wide(),
];

/// Returns the path of the page of a batch.
pub fn page_of(id: BatchId) -> String {
    format!("{PATH}/{id}")
}

/// Returns the name of a batch. Requests may leave it out.
pub(crate) fn name(batch: &Batch) -> String {
    if batch.name.trim().is_empty() {
        "Untitled batch".to_owned()
    } else {
        batch.name.clone()
    }
}

/// The list of batches. The query of its address contains the cursor.
#[component]
pub fn Batches() -> impl IntoView {
    let query = ListQuery::of_page(&[]);
    let after = query.cursor();
    view! {
        <Shell title="Batches" current=Entry::Batches>
            <PageHead
                title="Batches"
                lede="A batch renders one document for each row of a file, such as the invoices of a month. Batches are listed for 14 days after their end, test batches for less than a day."
            >
                <NewLink rank=Rank::Primary />
            </PageHead>
            {loaded(
                move |backend| async move { backend.batches(after).await },
                move |found| view! { <Found found query /> },
            )}
        </Shell>
    }
}

#[component]
fn NewLink(rank: Rank) -> impl IntoView {
    view! {
        <ButtonLink href=NEW_PATH rank icon=Glyph::Add>
            "New batch"
        </ButtonLink>
    }
}

#[component]
fn Found(found: Page<Batch, BatchId>, query: ListQuery) -> impl IntoView {
    let pager = query.pager(PATH, found.items.len(), found.next);
    let is_running = found.items.iter().any(|batch| batch.ended_at.is_none());
    let says = found.items.first().map_or_else(String::new, |newest| {
        format!("Newest batch {}: {}", name(newest), summary(newest))
    });
    let body = if found.items.is_empty() {
        view! { <Empty is_first=query.is_first() /> }.into_any()
    } else {
        view! { <Table caption="Batches" columns=COLUMNS rows=found.items.into_iter().map(row) /> }.into_any()
    };
    view! {
        <Section heading="Latest batches">
            <LivePart
                id="batches"
                events=(is_running && query.is_first()).then(|| renders::EVENTS.to_owned())
                unsettled=is_running
                says
            >
                {body}
                {pager}
            </LivePart>
        </Section>
    }
}

#[component]
fn Empty(is_first: bool) -> impl IntoView {
    if is_first {
        view! {
            <div class="empty">
                <p class="empty__title">"No batches yet"</p>
                <p>
                    "Choose a template, upload a CSV file with one row for each document, such as 5,000 invoices, and watch the progress. The documents are stored by Platen, or go to your own bucket under names from the file."
                </p>
                <NewLink rank=Rank::Plain />
            </div>
        }
        .into_any()
    } else {
        view! { <p>"There are no older batches. " <a href=PATH>"Show the newest"</a></p> }.into_any()
    }
}

fn row(batch: Batch) -> impl IntoView {
    let is_test = !batch.livemode;
    let test = is_test.then(|| view! { " " <span class="tag tag--test">"Test"</span> });
    let (name, failed) = (name(&batch), grouped(batch.failed.into()));
    let rows = (batch.rows > 0).then(|| progress(&batch));
    let narrow = rows.clone().map(|rows| format!("{rows} rows, {failed} failed"));
    let (value, most) = (ended(&batch), i64::from(batch.rows));
    let bar = rows.map_or_else(
        || "–".into_any(),
        |rows| {
            view! {
                {rows}
                <Progress value most label=format!("Progress of {name}") />
            }
            .into_any()
        },
    );
    view! {
        <tr class="table__row--linked" data-key=batch.id.to_string()>
            <th scope="row">
                <a class="table__link break" href=page_of(batch.id)>
                    {name.clone()}
                </a>
                {test}
                {narrow.map(|narrow| view! { <span class="table__sub table__narrow">{narrow}</span> })}
            </th>
            <td>
                <BatchBadge batch=batch.clone() />
            </td>
            <td class="table__medium">{bar}</td>
            <td class="table__figure table__medium">{failed}</td>
            <td class="table__wide">
                <Moment at=batch.inserted_at />
            </td>
        </tr>
    }
}
