//! Webhook deliveries of an account, for the dashboard.

use std::{collections::HashMap, num::NonZeroU16};

use platen_domain::{
    callback::{Attempt, Delivery, DeliveryState},
    ids::{AccountId, RenderId},
    page::{Page, PageRequest},
    render::{
        history::RenderState,
        log::{containing, first_id_at, ids_beginning_with},
    },
    webhook::webhook_id,
};
use serde_json::Value;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{
    callbacks::CallbackState,
    deliveries::{self, DeliveryFilter},
    error::StoreError,
};

/// Deliveries of a page.
const PAGE_SIZE: NonZeroU16 = NonZeroU16::MIN.saturating_add(19);

/// Returns a page of 20 deliveries for renders since a time. `search` is the user's input: the beginning of a render's
/// id, or a part of an address.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    state: Option<DeliveryState>,
    since: Option<OffsetDateTime>,
    search: &str,
    after: Option<RenderId>,
    now: OffsetDateTime,
) -> Result<Page<Delivery, RenderId>, StoreError> {
    let search = search.trim();
    let ids = ids_beginning_with(search);
    let filter = DeliveryFilter {
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
    let found = deliveries::list(db, account, &filter, page).await?;
    let deliveries = page.page(found, |delivery| delivery.render);
    let renders: Vec<_> = deliveries.items.iter().map(|delivery| delivery.render).collect();
    let mut attempts: HashMap<_, Vec<_>> = HashMap::new();
    for (render, attempt) in deliveries::list_attempts(db, account, &renders).await? {
        attempts.entry(render).or_default().push(attempt);
    }
    let listed = deliveries.items.into_iter().map(|found| {
        let attempts = attempts.remove(&found.render).unwrap_or_default();
        shown(found, attempts, now)
    });
    Ok(Page {
        items: listed.collect(),
        next: deliveries.next,
    })
}

fn shown(found: deliveries::Delivery, attempts: Vec<Attempt>, now: OffsetDateTime) -> Delivery {
    Delivery {
        render: found.render,
        event: if found.render_state == RenderState::Succeeded.into_str() {
            "success"
        } else {
            "failed"
        },
        address: found.address,
        state: match found.state.as_str() {
            "delivered" => DeliveryState::Delivered,
            "failed" => DeliveryState::GivenUp,
            _ => DeliveryState::Trying,
        },
        next_in_seconds: found.next_try.map(|at| (at - now).whole_seconds().max(0)),
        webhook_id: webhook_id(found.webhook_id),
        body: pretty(&found.body),
        attempts,
    }
}

/// Formats JSON with indentation.
fn pretty(json: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(json);
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value));
    pretty.unwrap_or_else(|_| json.to_owned())
}
