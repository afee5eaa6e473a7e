//! Webhook deliveries of an account, for the dashboard.

use std::{collections::HashMap, num::NonZeroU16};

use platen_domain::{
    callback::Attempt,
    ids::{AccountId, RenderId},
    page::{Page, PageRequest},
    render::log::{containing, first_id_at, ids_beginning_with},
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{
    callbacks::CallbackState,
    deliveries::{self, Delivery, DeliveryFilter},
    error::StoreError,
};

/// Deliveries of a page.
const PAGE_SIZE: NonZeroU16 = NonZeroU16::MIN.saturating_add(19);

/// A page of deliveries.
pub struct DeliveryPage {
    /// Deliveries, those of the latest renders first.
    pub deliveries: Page<Delivery, RenderId>,
    /// Attempts of each delivery, the earliest first.
    pub attempts: HashMap<RenderId, Vec<Attempt>>,
}

/// Returns a page of 20 deliveries for renders since a time. `search` is the user's input: the beginning of a render's
/// id, or a part of an address.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    state: Option<CallbackState>,
    since: Option<OffsetDateTime>,
    search: &str,
    after: Option<RenderId>,
) -> Result<DeliveryPage, StoreError> {
    let search = search.trim();
    let ids = ids_beginning_with(search);
    let filter = DeliveryFilter {
        state,
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
    Ok(DeliveryPage { deliveries, attempts })
}
