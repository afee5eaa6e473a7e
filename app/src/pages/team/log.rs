//! `/dashboard/team/log`: account activity.

use std::collections::HashMap;

use leptos::prelude::*;
use platen_domain::{
    account_log::{ActivityFilter, LogEntry, Topic},
    client::device,
};
use strum::VariantArray;

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
        table::{Column, Table},
    },
};

const COLUMNS: &[Column] = &[Column::text("Event"), Column::text("Time").from_medium()];

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
        topic: query.get("about"),
    }
}

#[component]
fn Content(page: LogPage, query: ListQuery) -> impl IntoView {
    let pager = query.pager(PATH, page.entries.items.len(), page.entries.next);
    let topics = Topic::VARIANTS.iter().map(|topic| (topic.into_str(), topic.name()));
    let names = page.names;
    let people = page.people.into_iter().map(|(id, email)| {
        let name = names.get(&email).map(|name| format!("{name} ({email})"));
        (id, name.unwrap_or(email))
    });
    let people = people.collect::<Vec<_>>();
    let rows: Vec<_> = page.entries.items.into_iter().map(|entry| row(entry, &names)).collect();
    view! {
        <PageHead
            title="Activity"
            lede=format!(
                "Actions in this account, with time and IP address. Your plan stores them for {} days.",
                page.days,
            )
        >
            <CsvLink href=query.address(FILE, None) />
        </PageHead>
        <Section heading="Events">
            <FilterForm path=PATH can_be_cleared=true>
                <SelectFilter name="person" label="Member" options=people />
                <SelectFilter name="about" label="Topic" options=topics />
            </FilterForm>
            <Table caption="Activity" columns=COLUMNS nothing="No activity matches these filters." rows />
            {pager}
        </Section>
    }
}

/// Members are shown by their names, and their email addresses are secondary.
fn row(mut entry: LogEntry, names: &HashMap<String, String>) -> impl IntoView + use<> {
    entry.event = entry
        .event
        .map(|event| event.with_names(|email| names.get(email).cloned()));
    let name = names.get(&entry.actor_name).filter(|_| entry.actor == "person");
    let email = name.map(|_| entry.actor_name.clone());
    let (who, what) = (name.cloned().unwrap_or_else(|| entry.who()), entry.what());
    let device = entry.user_agent.as_deref().map(device);
    let from = [email, device, entry.address].into_iter().flatten().collect::<Vec<_>>();
    view! {
        <tr>
            <td>
                <span class="break">
                    {(entry.actor == "key").then_some("Key ")} <strong>{who}</strong> " " {what}
                </span>
                {(!from.is_empty()).then(|| view! { <span class="table__sub break">{from.join(", ")}</span> })}
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
