//! Filters of the list, in the query of the page's address.

use leptos::prelude::*;
use platen_domain::{
    ids::{ApiKeyId, TemplateId},
    render::{
        history::{RenderMode, RenderState},
        log::LogFilter,
    },
};
use strum::VariantArray;
use time::Date;

use crate::{
    pages::{
        query::ListQuery,
        renders::{LIST, PATH},
    },
    ui::filters::{DateFilter, FilterForm, MoreFilters, SearchFilter, SelectFilter},
};

const LIVE: &str = "live";
const TEST: &str = "test";

/// Names of the filters.
pub(super) const FILTERS: [&str; 8] = ["q", "state", "mode", "keys", "template", "key", "from", "to"];

/// Returns the filter of a search. Invalid values are ignored.
pub(super) fn filter(query: &ListQuery) -> LogFilter {
    let midnight = |day: Date| day.midnight().assume_utc();
    LogFilter {
        state: query.get("state"),
        mode: query.get("mode"),
        livemode: query.text("keys").and_then(|word| match word.as_str() {
            LIVE => Some(true),
            TEST => Some(false),
            _ => None,
        }),
        key: query.get("key"),
        template: query.get("template"),
        from: query.day("from").map(midnight),
        until: query.day("to").and_then(Date::next_day).map(midnight),
        ..LogFilter::default()
    }
}

/// The filter form. It leads to the first page of its search.
#[component]
pub fn Filters(
    /// The account's templates.
    templates: Vec<(TemplateId, String)>,
    /// The account's keys.
    keys: Vec<(ApiKeyId, String)>,
) -> impl IntoView {
    let states = RenderState::VARIANTS
        .iter()
        .map(|state| (state.into_str(), state.name()));
    let modes = RenderMode::VARIANTS.iter().map(|mode| (mode.into_str(), mode.name()));
    view! {
        <FilterForm path=PATH can_be_cleared=true updates=LIST>
            <SearchFilter label="Find by id, title or template" />
            <SelectFilter name="state" label="Status" options=states />
            <SelectFilter name="template" label="Template" options=templates />
            <SelectFilter name="key" label="API key" options=keys />
            <MoreFilters names=&["from", "to", "mode", "keys"]>
                <DateFilter name="from" label="From, UTC" />
                <DateFilter name="to" label="To, UTC" />
                <SelectFilter name="mode" label="Execution" options=modes />
                <SelectFilter name="keys" label="Live or test" options=[(LIVE, "Live"), (TEST, "Test")] />
            </MoreFilters>
        </FilterForm>
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let pairs = [
            ("q", "50 % & more"),
            ("state", "failed"),
            ("keys", "test"),
            ("from", "2026-11-01"),
            ("mode", ""),
        ];
        let query = ListQuery::of(&FILTERS, &pairs);
        let found = filter(&query);
        assert_eq!(found.state, Some(RenderState::Failed));
        assert_eq!(
            (found.livemode, found.from, found.mode),
            (Some(false), Some(datetime!(2026-11-01 0:00 UTC)), None)
        );
        assert_eq!(
            query.older(PATH, Some("next")).as_deref(),
            Some("/dashboard/renders?q=50%20%25%20%26%20more&state=failed&keys=test&from=2026%2D11%2D01&cursor=next")
        );
    }

    #[test]
    fn what_makes_no_sense_does_not_matter() {
        let found = filter(&ListQuery::of(
            &FILTERS,
            &[("state", "done"), ("from", "yesterday"), ("keys", "1"), ("mode", "x")],
        ));
        assert_eq!(found, LogFilter::default());
    }
}
