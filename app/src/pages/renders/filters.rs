//! Filters of the list, in the query of the page's address.

use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use platen_domain::render::history::{RenderMode, RenderState};
use strum::VariantArray;
use time::Date;

use crate::{
    model::{admin::audit_log::SEARCHED_DAY, render::RenderSearch},
    pages::{
        query::{self, asked, written},
        renders::PATH,
    },
    ui::filters::{DateFilter, FilterForm, SearchFilter, SelectFilter},
};

const LIVE: &str = "live";
const TEST: &str = "test";

/// Reads the search from the query. Invalid values are ignored.
pub(super) fn search(query: &ParamsMap) -> RenderSearch {
    let text = |name: &str| asked(query, name);
    let date = |name: &str| text(name).and_then(|day| Date::parse(&day, SEARCHED_DAY).ok());
    RenderSearch {
        text: text("q").unwrap_or_default(),
        state: text("state").and_then(|word| word.parse().ok()),
        mode: text("mode").and_then(|word| word.parse().ok()),
        live: text("keys").and_then(|word| match word.as_str() {
            LIVE => Some(true),
            TEST => Some(false),
            _ => None,
        }),
        template: text("template"),
        key: text("key"),
        from: date("from"),
        to: date("to"),
        after: text("cursor"),
    }
}

/// Returns the address of the page of a search that begins after the cursor `after`.
pub(super) fn address(search: &RenderSearch, after: Option<String>) -> String {
    let words = [
        ("q", Some(search.text.clone())),
        ("state", search.state.map(|state| state.into_str().to_owned())),
        ("mode", search.mode.map(|mode| mode.into_str().to_owned())),
        (
            "keys",
            search.live.map(|live| if live { LIVE } else { TEST }.to_owned()),
        ),
        ("template", search.template.clone()),
        ("key", search.key.clone()),
        ("from", written(search.from)),
        ("to", written(search.to)),
        ("cursor", after),
    ];
    query::address(PATH, words)
}

/// The filter form. It leads to the first page of its search.
#[component]
pub fn Filters(
    /// The current search.
    search: RenderSearch,
    /// The account's templates.
    templates: Vec<(String, String)>,
    /// The account's keys.
    keys: Vec<(String, String)>,
) -> impl IntoView {
    let states = RenderState::VARIANTS
        .iter()
        .map(|state| (state.into_str(), state.name()));
    let modes = RenderMode::VARIANTS.iter().map(|mode| (mode.into_str(), mode.name()));
    let kind = search.live.map_or("", |live| if live { LIVE } else { TEST });
    view! {
        <FilterForm path=PATH can_be_cleared=true>
            <SearchFilter label="Find by id, title or template" value=search.text />
            <SelectFilter
                name="state"
                label="Status"
                options=states
                value=search.state.map_or("", |state| state.into_str())
            />
            <SelectFilter
                name="mode"
                label="Mode"
                options=modes
                value=search.mode.map_or("", |mode| mode.into_str())
            />
            <SelectFilter
                name="template"
                label="Template"
                options=templates
                value=search.template.unwrap_or_default()
            />
            <SelectFilter name="key" label="Key" options=keys value=search.key.unwrap_or_default() />
            <SelectFilter name="keys" label="Live or test" options=[(LIVE, "Live"), (TEST, "Test")] value=kind />
            <DateFilter name="from" label="From" value=written(search.from).unwrap_or_default() />
            <DateFilter name="to" label="To" value=written(search.to).unwrap_or_default() />
        </FilterForm>
    }
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    fn query(pairs: &[(&str, &str)]) -> ParamsMap {
        let mut query = ParamsMap::new();
        for (name, value) in pairs {
            query.insert((*name).to_owned(), (*value).to_owned());
        }
        query
    }

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let pairs = [
            ("q", "50 % & more"),
            ("state", "failed"),
            ("keys", "test"),
            ("from", "2026-11-01"),
            ("mode", ""),
        ];
        let found = search(&query(&pairs));
        assert_eq!(found.state, Some(RenderState::Failed));
        assert_eq!(
            (found.live, found.from, found.mode),
            (Some(false), Some(date!(2026 - 11 - 01)), None)
        );
        let address = address(&found, Some("next".to_owned()));
        assert_eq!(
            address,
            "/dashboard/renders?q=50%20%25%20%26%20more&state=failed&keys=test&from=2026%2D11%2D01&cursor=next"
        );
    }

    #[test]
    fn what_makes_no_sense_does_not_matter() {
        let found = search(&query(&[
            ("state", "done"),
            ("from", "yesterday"),
            ("keys", "1"),
            ("mode", "x"),
        ]));
        assert_eq!(found, RenderSearch::default());
    }
}
