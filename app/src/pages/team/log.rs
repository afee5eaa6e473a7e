//! `/dashboard/team/log`: account activity.

use leptos::prelude::*;
use platen_domain::{
    account_log::{ActivityFilter, LogEntry},
    client::device,
};

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::team::LogPage,
    pages::query::ListQuery,
    ui::{
        button::CsvLink,
        filters::{FilterForm, SelectFilter},
        moment::Moment,
        sentence_case::sentence_case,
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[Column::text("What"), Column::text("When").from_medium()];

/// Path of the page.
pub const PATH: &str = "/dashboard/team/log";
/// Path of the same audit events as CSV.
const FILE: &str = "/dashboard/team/log.csv";

/// Names of the filters.
pub const FILTERS: [&str; 2] = ["person", "about"];

/// The page of account activity. The query of its address contains the search.
#[component]
pub fn Log() -> impl IntoView {
    let query = ListQuery::of_page(&FILTERS);
    let (filter, after) = (filter(&query), query.cursor());
    view! {
        <Shell title="Activity" current=Entry::Team>
            {loaded(
                move |backend| async move { backend.account_log(filter, after).await },
                |page| view! { <Content page query /> },
            )}
        </Shell>
    }
}

/// Returns the filter of a search.
pub fn filter(query: &ListQuery) -> ActivityFilter {
    ActivityFilter {
        person: query.get("person"),
        topic: query.text("about"),
    }
}

#[component]
fn Content(page: LogPage, query: ListQuery) -> impl IntoView {
    let pager = query.pager(PATH, page.entries.items.len(), page.entries.next);
    let topics = page.topics.into_iter().map(|topic| (topic, sentence_case(topic)));
    let rows = page.entries.items.into_iter().map(|entry| view! { <Row entry /> });
    view! {
        <PageHead
            title="Activity"
            lede=format!(
                "Who did what in this account, when, and from where. Your plan keeps it for {} days.",
                page.days,
            )
        >
            <CsvLink href=query.address(FILE, None) />
        </PageHead>
        <Section heading="Entries">
            <FilterForm path=PATH can_be_cleared=true>
                <SelectFilter name="person" label="Person" options=page.people />
                <SelectFilter name="about" label="About" options=topics />
            </FilterForm>
            <Table caption="Activity" columns=COLUMNS nothing="Nothing was done that you look for." rows />
            {pager}
        </Section>
    }
}

#[component]
fn Row(entry: LogEntry) -> impl IntoView {
    let (who, what) = (entry.who(), entry.what());
    let device = entry.user_agent.as_deref().map(device);
    let from = [device, entry.address].into_iter().flatten().collect::<Vec<_>>();
    view! {
        <tr>
            <td>
                <span class="break">
                    {(entry.actor == "key").then_some("Key ")} <strong>{who}</strong> " " {what}
                </span>
                {(!from.is_empty()).then(|| view! { <span class="table__sub">{from.join(", ")}</span> })}
                <span class="table__sub table__narrow">
                    <Moment at=entry.happened_at />
                </span>
            </td>
            <td class="table__medium table__tight">
                <Moment at=entry.happened_at />
            </td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let values = [("person", "x"), ("about", "key"), ("cursor", "y")];
        let query = ListQuery::of(&FILTERS, &values);
        assert_eq!(query.cursor(), Some("y".to_owned()));
        assert_eq!(
            query.newest(PATH).as_deref(),
            Some("/dashboard/team/log?person=x&about=key")
        );
        assert_eq!(ListQuery::of::<&str>(&FILTERS, &[]).address(FILE, None), FILE);
    }
}
