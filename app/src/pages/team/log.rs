//! `/dashboard/team/log`: account activity.

use leptos::prelude::*;
use leptos_router::{hooks::use_query_map, params::ParamsMap};
use platen_domain::{account_log::LogEntry, client::device};

use crate::{
    layout::{
        loaded::loaded,
        page_head::PageHead,
        section::Section,
        shell::{Shell, rail::Entry},
    },
    model::team::{LogPage, LogSearch},
    pages::query::{self, asked, pager},
    ui::{
        button::ButtonLink,
        filters::{FilterForm, SelectFilter},
        icon::{Glyph, Icon},
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

/// The page of account activity. The query of its address contains the search.
#[component]
pub fn Log() -> impl IntoView {
    let search = search(&use_query_map().read_untracked());
    let wanted = search.clone();
    view! {
        <Shell title="Activity" current=Entry::Team>
            {loaded(
                |backend| async move { backend.account_log(wanted).await },
                |page| view! { <Content page search /> },
            )}
        </Shell>
    }
}

#[component]
fn Content(page: LogPage, search: LogSearch) -> impl IntoView {
    let pager = pager(page.entries.len(), search.after.is_none(), page.next, |after| {
        address(PATH, &search, after)
    });
    let file = address(FILE, &search, None);
    let topics = page.topics.into_iter().map(|topic| (topic, sentence_case(topic)));
    let rows = page.entries.into_iter().map(|entry| view! { <Row entry /> });
    view! {
        <PageHead
            title="Activity"
            lede=format!(
                "Who did what in this account, when, and from where. Your plan keeps it for {} days.",
                page.days,
            )
        >
            <ButtonLink href=file>
                <Icon glyph=Glyph::Download />
                "Export as CSV"
            </ButtonLink>
        </PageHead>
        <Section heading="Entries">
            <FilterForm path=PATH can_be_cleared=true>
                <SelectFilter
                    name="person"
                    label="Person"
                    options=page.people
                    value=search.person.unwrap_or_default()
                />
                <SelectFilter
                    name="about"
                    label="About"
                    options=topics
                    value=search.topic.unwrap_or_default()
                />
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

fn search(query: &ParamsMap) -> LogSearch {
    let text = |name: &str| asked(query, name);
    LogSearch {
        person: text("person"),
        topic: text("about"),
        after: text("cursor"),
    }
}

fn address(path: &str, search: &LogSearch, after: Option<String>) -> String {
    let words = [
        ("person", search.person.clone()),
        ("about", search.topic.clone()),
        ("cursor", after),
    ];
    query::address(path, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let mut query = ParamsMap::new();
        for (name, value) in [("person", "x"), ("about", "key"), ("cursor", "y")] {
            query.insert(name, value.to_owned());
        }
        let found = search(&query);
        assert_eq!(found.after.as_deref(), Some("y"));
        assert_eq!(address(PATH, &found, None), "/dashboard/team/log?person=x&about=key");
        assert_eq!(address(FILE, &LogSearch::default(), None), FILE);
    }
}
