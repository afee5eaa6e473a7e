//! What Stripe tells.

use platen_billing::webhook::{self, WebhookError};
use time::{Duration, OffsetDateTime};

use crate::{
    service::billing::{Billing, BillingError, overage},
    store::{
        error::StoreError,
        stripe_customers,
        stripe_events::{self, NewEvent},
        tx,
    },
};

/// Events are kept for so long.
const KEPT: Duration = Duration::days(90);

/// Why an event is not taken.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// It is not Stripe's.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// Nobody waits for events, or the database failed.
    #[error(transparent)]
    Billing(#[from] BillingError),
}

/// Keeps an event, and lets somebody look at the customer whom it is about. One that has come before changes nothing.
pub async fn receive(
    billing: &Billing,
    body: &str,
    signature: Option<&str>,
    now: OffsetDateTime,
) -> Result<(), ReceiveError> {
    let till = billing.till()?;
    let event = webhook::read(body, signature, &till.webhook_secret, now)?;
    let new = NewEvent {
        id: &event.id,
        kind: &event.kind,
        customer: event.customer.as_deref(),
        body,
        created_at: event.created_at,
    };
    Ok(keep(billing, new, now).await.map_err(BillingError::from)?)
}

async fn keep(billing: &Billing, event: NewEvent<'_>, now: OffsetDateTime) -> Result<(), StoreError> {
    let customer = event.customer;
    let mut transaction = tx::begin(&billing.db).await?;
    let is_new = stripe_events::insert(&mut transaction, event, now).await?;
    if let Some(customer) = customer.filter(|_| is_new) {
        stripe_customers::update_changed(&mut transaction, customer).await?;
    }
    tx::commit(transaction).await
}

/// Forgets what is too old.
pub async fn purge(billing: &Billing, now: OffsetDateTime) -> Result<(), StoreError> {
    stripe_events::delete_before(&billing.db, now - KEPT).await?;
    overage::purge(billing, now).await
}
