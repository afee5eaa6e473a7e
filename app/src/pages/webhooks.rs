//! `/dashboard/webhooks`: the account's endpoints, the signing secret, and the deliveries of webhooks.

pub mod api;
pub mod deliveries;
pub mod endpoints;
pub mod secret;

use leptos::prelude::*;
use platen_domain::callback::{Delivery, DeliveryState};
use strum::VariantArray;

use crate::{
    layout::{
        page::{PageHead, Section, loaded},
        shell::{Shell, rail::Entry},
    },
    model::delivery::{DeliverySearch, Since},
    outcome::{Done, Outcome, OutcomeErrors},
    pages::{
        query::ListQuery,
        render::api::{ResendCallback, StopCallback},
        renders,
        webhooks::{
            api::{
                DeleteEndpoint, EditEndpoint, ReplaceSecret, ResendDelivery, RevealSecret, StopDelivery,
                SwitchEndpoint, TestEndpoint,
            },
            deliveries::Deliveries,
            endpoints::{Endpoints, Events},
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

const FILTERS: [&str; 3] = ["q", "outcome", "since"];

/// The page of webhooks. The query of its address contains the search for deliveries.
#[component]
pub fn Webhooks() -> impl IntoView {
    let query = ListQuery::of_page(&FILTERS);
    let search = search(&query);
    view! {
        <Shell title="Webhooks" current=Entry::Webhooks>
            {loaded(
                |backend| async move { backend.webhooks(search).await },
                move |page| {
                    let deliveries = page.deliveries.items;
                    let has_older = page.deliveries.next.is_some();
                    let pager = query.pager(PATH, deliveries.len(), page.deliveries.next);
                    view! {
                        <OutcomeErrors outcome={Outcome::of::<ResendCallback>()} />
                        <OutcomeErrors outcome={Outcome::of::<StopCallback>()} />
                        <OutcomeErrors outcome={Outcome::of::<ResendDelivery>()} />
                        <OutcomeErrors outcome={Outcome::of::<StopDelivery>()} />
                        <OutcomeErrors outcome={Outcome::of::<SwitchEndpoint>()} />
                        <OutcomeErrors outcome={Outcome::of::<TestEndpoint>()} />
                        <OutcomeErrors outcome={Outcome::about_nothing::<EditEndpoint>()} />
                        <OutcomeErrors outcome={Outcome::about_nothing::<DeleteEndpoint>()} />
                        <OutcomeErrors outcome={Outcome::of::<RevealSecret>()} />
                        <OutcomeErrors outcome={Outcome::of::<ReplaceSecret>()} />
                        <PageHead
                            title="Webhooks"
                            lede="Platen posts events to your endpoints. The end of an asynchronous render is also posted to the URL in its request. Deliveries are signed, and attempted up to eight times over about a day until the response is 2xx."
                        />
                        <Done about=done />
                        <Endpoints endpoints=page.endpoints />
                        <Section heading="Deliveries">
                            <Filters />
                            <LivePart
                                id="deliveries"
                                events=query.is_first().then(|| renders::EVENTS.to_owned())
                                unsettled=deliveries.iter().any(is_unsettled)
                                says=says(&deliveries)
                            >
                                <Deliveries deliveries has_older />
                                {pager}
                            </LivePart>
                        </Section>
                        <SigningSecret secret=page.secret />
                        <Recipes />
                        <Events />
                    }
                },
            )}
        </Shell>
    }
}

/// Returns the notice for a value of `done` in the query.
fn done(word: &str) -> Option<&'static str> {
    Some(match word {
        "created" => "Endpoint added.",
        "saved" => "Endpoint saved.",
        "enabled" => "Endpoint enabled.",
        "disabled" => "Endpoint disabled. Pending deliveries to it are cancelled.",
        "tested" => "Test event queued. The response appears under Deliveries.",
        "deleted" => "Endpoint deleted.",
        _ => return None,
    })
}

fn search(query: &ListQuery) -> DeliverySearch {
    DeliverySearch {
        text: query.text("q").unwrap_or_default(),
        state: query.get("outcome"),
        since: query.get("since").unwrap_or_default(),
        after: query.cursor(),
    }
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
fn Filters() -> impl IntoView {
    let states = DeliveryState::VARIANTS
        .iter()
        .map(|state| (state.into_str(), state.name()));
    let spans = [Since::Day, Since::Week, Since::Month];
    let spans = spans.map(|since| (since.into_str(), since.name()));
    view! {
        <FilterForm path=PATH>
            <SearchFilter label="Find by render or URL" />
            <SelectFilter name="outcome" label="Status" options=states />
            <SelectFilter name="since" label="Since" options=spans any=Since::Ever.name() />
        </FilterForm>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_asks_for_what_was_read_from_it() {
        let values = [
            ("q", "hooks.example"),
            ("outcome", "given-up"),
            ("since", "7-days"),
            ("cursor", "x"),
        ];
        let query = ListQuery::of(&FILTERS, &values);
        let found = search(&query);
        assert_eq!((found.state, found.since), (Some(DeliveryState::GivenUp), Since::Week));
        assert_eq!(
            query.newest(PATH).as_deref(),
            Some("/dashboard/webhooks?q=hooks%2Eexample&outcome=given%2Dup&since=7%2Ddays")
        );
        assert_eq!(ListQuery::of::<&str>(&FILTERS, &[]).address(PATH, None), PATH);
    }
}
