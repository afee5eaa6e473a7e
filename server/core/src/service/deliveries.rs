//! Webhook deliveries of an account, for the dashboard.

use std::{cmp::Reverse, collections::HashMap, num::NonZeroU16};

use platen_domain::{
    callback::{Delivery, DeliveryState, DeliveryTarget},
    ids::{AccountId, DeliveryId, RenderId},
    page::{Page, PageRequest},
    render::{
        history::RenderState,
        log::{containing, first_id_at, ids_beginning_with},
    },
    sentence::sentence,
    webhook::webhook_id,
    webhook_endpoint::event_body,
};
use serde_json::Value;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{
    callbacks::CallbackState,
    deliveries::{self, DeliveryFilter},
    error::StoreError,
    webhook_deliveries::{self, ListedDelivery},
};

/// Deliveries of a page.
const PAGE_SIZE: NonZeroU16 = NonZeroU16::MIN.saturating_add(19);

/// Returns a page of 20 deliveries since a time: those of webhooks in requests, by the acceptance of their renders, and
/// those to endpoints, by their events. `search` is the user's input: the beginning of a render's id, or a part of an
/// address. A page of an address may be shorter although there is a next one.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    state: Option<DeliveryState>,
    since: Option<OffsetDateTime>,
    search: &str,
    after: Option<DeliveryId>,
    now: OffsetDateTime,
) -> Result<Page<Delivery, DeliveryId>, StoreError> {
    let search = search.trim();
    let ids = ids_beginning_with(search);
    let mut filter = DeliveryFilter {
        state: state.map(|state| match state {
            DeliveryState::Delivered => CallbackState::Delivered,
            DeliveryState::Trying => CallbackState::Sending,
            DeliveryState::GivenUp => CallbackState::Failed,
        }),
        since: since.map(first_id_at),
        address: (ids.is_none() && !search.is_empty()).then(|| containing(search)),
        ids,
    };
    let page = PageRequest::after(after, PAGE_SIZE);
    let last = match &filter.address {
        Some(_) => deliveries::find_last(db, account, &filter, after).await?,
        None => None,
    };
    filter.since = filter.since.max(last);
    let of_requests = deliveries::list(db, account, &filter, page).await?.into_iter();
    let of_events = webhook_deliveries::list(db, account, &filter, page).await?.into_iter();
    let mut found: Vec<_> = of_requests
        .map(|found| of_request(found, now))
        .chain(of_events.map(|found| of_event(found, now)))
        .collect();
    found.sort_by_key(|delivery| Reverse(delivery.id));
    let mut deliveries = page.page_of_search(found, |delivery| delivery.id, last.map(DeliveryId));
    let listed: Vec<_> = deliveries.items.iter().map(|delivery| delivery.id).collect();
    let mut attempts: HashMap<_, Vec<_>> = HashMap::new();
    for (delivery, attempt) in deliveries::list_attempts(db, account, &listed).await? {
        attempts.entry(delivery).or_default().push(attempt);
    }
    for delivery in &mut deliveries.items {
        delivery.attempts = attempts.remove(&delivery.id).unwrap_or_default();
    }
    Ok(deliveries)
}

fn of_request(found: deliveries::Delivery, now: OffsetDateTime) -> Delivery {
    let event = if found.render_state == RenderState::Succeeded.into_str() {
        "success"
    } else {
        "failed"
    };
    Delivery {
        id: DeliveryId(found.render.0),
        target: DeliveryTarget::Request,
        render: Some(found.render),
        event: event.to_owned(),
        address: found.address,
        state: state(&found.state),
        stopped: None,
        next_in_seconds: seconds_until(found.next_try, now),
        webhook_id: webhook_id(found.webhook_id),
        body: pretty(&found.body),
        attempts: Vec::new(),
    }
}

/// Returns a delivery to an endpoint, or to the webhook of a batch.
fn of_event(found: ListedDelivery, now: OffsetDateTime) -> Delivery {
    let body = event_body(found.event_id, &found.event, found.inserted_at, found.data);
    Delivery {
        id: found.id,
        target: if found.is_of_batch {
            DeliveryTarget::Batch
        } else {
            DeliveryTarget::Endpoint
        },
        render: found.render.map(RenderId),
        event: found.event,
        address: Some(found.address),
        state: state(&found.state),
        stopped: found.last_error.map(|error| sentence(&error)),
        next_in_seconds: seconds_until(found.next_try, now),
        webhook_id: webhook_id(found.id.0),
        body: pretty(&body),
        attempts: Vec::new(),
    }
}

fn state(column: &str) -> DeliveryState {
    match column {
        "delivered" => DeliveryState::Delivered,
        "failed" => DeliveryState::GivenUp,
        _ => DeliveryState::Trying,
    }
}

fn seconds_until(next: Option<OffsetDateTime>, now: OffsetDateTime) -> Option<i64> {
    next.map(|at| (at - now).whole_seconds().max(0))
}

/// Formats JSON with indentation.
fn pretty(json: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(json);
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
    pretty.unwrap_or_else(|_| json.to_owned())
}
