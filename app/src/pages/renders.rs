//! `/dashboard/renders`: the renders of the account.

pub mod filters;

use leptos::{either::Either, prelude::*};
use platen_domain::{
    number::{counted, duration, grouped},
    page::SEARCHED,
    render::{history::RenderState, log::RenderLine},
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::render::{RenderPage, short_id},
    pages::{
        latest::Latest,
        query::ListQuery,
        render::badge::StateBadge,
        renders::filters::{FILTERS, Filters, filter},
    },
    ui::{
        live_part::LivePart,
        moment::{Stamp, clock, day},
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[
    Column::text("Render"),
    Column::text("Document").from_medium(),
    Column::text("Status"),
    Column::text("Execution").from_wide(),
    Column::text("API key").from_wide(),
    Column::figure("Pages").from_medium(),
    Column::figure("Credits").from_wide(),
    Column::figure("Duration"),
    Column::figure("Accepted, UTC").from_medium(),
];

/// Path of the page.
pub const PATH: &str = "/dashboard/renders";
/// Event stream of changes to the account's renders.
pub(crate) const EVENTS: &str = "/dashboard/events/renders";

/// `id` of the list.
const LIST: &str = "log";

/// The list of renders. The query of its address contains the search.
#[component]
pub fn Renders() -> impl IntoView {
    let query = ListQuery::of_page(&FILTERS);
    let (filter, search, after) = (filter(&query), query.text("q").unwrap_or_default(), query.cursor());
    view! {
        <Shell title="Renders" current=Entry::Renders>
            {loaded(
                move |backend| async move { backend.renders(filter, search, after).await },
                move |page| {
                    let listed = &page.renders;
                    let pager = query.pager(PATH, listed.items.len(), listed.next);
                    let unsettled = listed.items.iter().any(|render| !render.state.has_ended());
                    let count = count(&page, &query);
                    let (latest, templates, keys) = (page.latest.clone(), page.templates.clone(), page.keys.clone());
                    view! {
                        <PageHead
                            title="Renders"
                            lede=format!(
                                "Your plan stores renders for {}.",
                                counted(page.retention_days, "day", "days"),
                            )
                        />
                        <LivePart id="latest" events=Some(EVENTS.to_owned())>
                            {(!latest.is_empty()).then(|| view! { <Latest latest /> })}
                        </LivePart>
                        <Section heading="Log">
                            <Filters templates keys />
                            <LivePart
                                id=LIST
                                events=query.is_first().then(|| EVENTS.to_owned())
                                unsettled
                                says=says(&page)
                            >
                                {count.map(|count| view! { <p class="small quiet">{count}</p> })}
                                <Log page />
                                {pager}
                            </LivePart>
                        </Section>
                    }
                },
            )}
        </Shell>
    }
}

/// Returns the number of renders that match the filters, or without filters the number of this month:
/// `10,015 since 1 November`. `None` if it is unknown or the list is empty.
fn count(page: &RenderPage, query: &ListQuery) -> Option<String> {
    let listed = page.renders.items.len();
    if query.is_empty() {
        return Some(since(page));
    }
    let matches = counted(listed, "render matches", "renders match");
    (listed > 0 && query.is_first()).then(|| match page.renders.next {
        Some(_) if page.is_partial => format!("{matches} the filters, of {} searched", grouped(SEARCHED)),
        Some(_) => format!("More than {listed} renders match the filters"),
        None => format!("{matches} the filters"),
    })
}

fn since(page: &RenderPage) -> String {
    let count = page.this_month.map_or_else(|| "More than 10,000".to_owned(), grouped);
    format!("{count} since {}", day(page.since))
}

/// Returns the text that screen readers announce when the list changes.
fn says(page: &RenderPage) -> String {
    page.renders.items.first().map_or_else(
        || nothing(page).0.to_owned(),
        |newest| {
            let state = newest.state.name().to_lowercase();
            format!(
                "Newest render {}: {}, {state}, accepted at {}",
                short_id(&newest.id.to_string()),
                newest.source,
                clock(newest.at)
            )
        },
    )
}

/// Returns title and advice of an empty list.
fn nothing(page: &RenderPage) -> (&'static str, &'static str) {
    if page.latest.is_empty() {
        ("No renders yet", "Renders appear here when the first request arrives.")
    } else if page.is_partial {
        (
            "No matches among the renders searched so far",
            "Select Older to search further, or set a date to begin there.",
        )
    } else {
        (
            "No renders match these filters",
            "Matching renders appear here when they are accepted.",
        )
    }
}

#[component]
fn Log(page: RenderPage) -> impl IntoView {
    if page.renders.items.is_empty() {
        let (title, advice) = nothing(&page);
        return Either::Left(view! {
            <div class="empty">
                <p class="empty__title">{title}</p>
                <p>{advice}</p>
            </div>
        });
    }
    Either::Right(view! { <Table caption="Renders" columns=COLUMNS rows=page.renders.items.into_iter().map(row) /> })
}

fn row(render: RenderLine) -> impl IntoView {
    let is_test = !render.live;
    let test = move || is_test.then(|| view! { " " <span class="tag tag--test">"Test"</span> });
    let mode = render.mode.into_str();
    let (name, source) = match render.title {
        Some(title) => (title, Some(render.source)),
        None => (render.source, None),
    };
    let remark = render
        .error
        .or_else(|| (render.warnings > 0).then(|| counted(render.warnings, "warning", "warnings")));
    let class = match render.state {
        RenderState::Cancelled => "table__row--linked table__row--faint",
        _ => "table__row--linked",
    };
    let figure = |number: Option<i64>| number.map_or_else(|| "–".to_owned(), grouped);
    view! {
        <tr class=class data-key=render.id.to_string()>
            <th scope="row">
                <a class="table__link mono" href=format!("{PATH}/{}", render.id)>
                    {short_id(&render.id.to_string())}
                </a>
                <span class="table__sub table__narrow break">{format!("{name}, {mode}")} {test()}</span>
                <span class="table__sub table__narrow">
                    <Stamp at=render.at />
                    " UTC"
                </span>
            </th>
            <td class="table__medium break">
                {name.clone()} {test()} {source.map(|source| view! { <span class="table__sub">{source}</span> })}
            </td>
            <td>
                <StateBadge state=render.state />
                {remark.map(|remark| view! { <span class="table__sub break">{remark}</span> })}
            </td>
            <td class="table__wide">{mode}</td>
            <td class="table__wide">{render.key.unwrap_or_else(|| "–".to_owned())}</td>
            <td class="table__figure table__medium">{figure(render.pages.map(Into::into))}</td>
            <td class="table__figure table__wide">{figure(render.credits)}</td>
            <td class="table__figure">{render.took_ms.map_or_else(|| "–".to_owned(), duration)}</td>
            <td class="table__figure table__medium">
                <Stamp at=render.at />
            </td>
        </tr>
    }
}
