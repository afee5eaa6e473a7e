//! `/dashboard/webhooks`: the signing secret, and the deliveries of webhooks.

pub mod api;
pub mod deliveries;
pub mod secret;

use leptos::prelude::*;
use leptos_router::{hooks::use_query_map, params::ParamsMap};
use strum::VariantArray;

use crate::{
    layout::{
        loaded::loaded,
        page_head::PageHead,
        section::Section,
        shell::{Shell, rail::Entry},
    },
    model::delivery::{Delivery, DeliverySearch, DeliveryState, Since},
    outcome::{Outcome, form::OutcomeErrors},
    pages::{
        query::{self, asked, pager},
        render::api::{ResendCallback, StopCallback},
        webhooks::{
            api::{ReplaceSecret, RevealSecret},
            deliveries::Deliveries,
            secret::{Recipes, SigningSecret},
        },
    },
    ui::{
        filters::{FilterForm, SearchFilter, SelectFilter},
        live_part::LivePart,
    },
};

/// Path of the page.
pub const PATH: &str = "/dashboard/webhooks";

/// The page of webhooks. The query of its address contains the search for deliveries.
#[component]
pub fn Webhooks() -> impl IntoView {
    let search = search(&use_query_map().read_untracked());
    view! {
        <Shell title="Webhooks" current=Entry::Webhooks>
            {loaded(
                {
                    let search = search.clone();
                    move |backend| async move { backend.webhooks(search).await }
                },
                move |page| {
                    let first = search.after.is_none();
                    let pager = pager(page.deliveries.len(), first, page.next, |after| address(&search, after));
                    view! {
                        <OutcomeErrors outcome={Outcome::of::<ResendCallback>()} />
                        <OutcomeErrors outcome={Outcome::of::<StopCallback>()} />
                        <OutcomeErrors outcome={Outcome::of::<RevealSecret>()} />
                        <OutcomeErrors outcome={Outcome::of::<ReplaceSecret>()} />
                        <PageHead
                            title="Webhooks"
                            lede="When a queued render ends, we call the address that it named. Calls are signed; anything but 2xx is tried again, up to eight times in about a day."
                        />
                        <SigningSecret secret=page.secret />
                        <Recipes />
                        <Section heading="Deliveries">
                            <Filters search=search />
                            <LivePart
                                id="deliveries"
                                events=first.then(|| "/dashboard/events/renders".to_owned())
                                unsettled=page.deliveries.iter().any(is_unsettled)
                                says=says(&page.deliveries)
                            >
                                <Deliveries deliveries=page.deliveries />
                                {pager}
                            </LivePart>
                        </Section>
                    }
                },
            )}
        </Shell>
    }
}

fn search(query: &ParamsMap) -> DeliverySearch {
    let text = |name: &str| asked(query, name);
    DeliverySearch {
        text: text("q").unwrap_or_default(),
        state: text("outcome").and_then(|word| word.parse().ok()),
        since: text("since").and_then(|word| word.parse().ok()).unwrap_or_default(),
        after: text("cursor"),
    }
}

fn address(search: &DeliverySearch, after: Option<String>) -> String {
    let words = [
        ("q", Some(search.text.clone())),
        ("outcome", search.state.map(|state| state.into_str().to_owned())),
        ("since", Some(search.since.into_str().to_owned())),
        ("cursor", after),
    ];
    query::address(PATH, words)
}

fn is_unsettled(delivery: &Delivery) -> bool {
    delivery.state == DeliveryState::Trying && delivery.next_in_seconds == Some(0)
}

/// Returns the text that screen readers announce when the list changes.
fn says(deliveries: &[Delivery]) -> String {
    deliveries.first().map_or_else(String::new, |newest| {
        format!("Newest delivery: {}", newest.state.name().to_lowercase())
    })
}

#[component]
fn Filters(search: DeliverySearch) -> impl IntoView {
    let states = DeliveryState::VARIANTS
        .iter()
        .map(|state| (state.into_str(), state.name()));
    let spans = [Since::Day, Since::Week, Since::Month];
    let spans = spans.map(|since| (since.into_str(), since.name()));
    view! {
        <FilterForm path=PATH>
            <SearchFilter label="Find by render or address" value=search.text />
            <SelectFilter
                name="outcome"
                label="Outcome"
                options=states
                value=search.state.map_or("", |state| state.into_str())
            />
            <SelectFilter
                name="since"
                label="Since"
                options=spans
                any=Since::Ever.name()
                value=search.since.into_str()
            />
        </FilterForm>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let mut query = ParamsMap::new();
        for (name, value) in [
            ("q", "hooks.example"),
            ("outcome", "given-up"),
            ("since", "7-days"),
            ("cursor", "x"),
        ] {
            query.insert(name, value.to_owned());
        }
        let found = search(&query);
        assert_eq!((found.state, found.since), (Some(DeliveryState::GivenUp), Since::Week));
        assert_eq!(
            address(&found, None),
            "/dashboard/webhooks?q=hooks%2Eexample&outcome=given%2Dup&since=7%2Ddays"
        );
        assert_eq!(address(&DeliverySearch::default(), None), PATH);
    }
}
