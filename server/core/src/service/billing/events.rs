//! Events that Stripe sends to the webhook.

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

/// Retention of events.
const KEPT: Duration = Duration::days(90);

/// Error of [`receive`].
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// The event is malformed or not signed by Stripe.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// Stripe is not configured, or the database failed.
    #[error(transparent)]
    Billing(#[from] BillingError),
}

/// Stores an event and marks its customer as due for `mirror`. A repeated event has no effect.
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

/// Deletes events and usage reports past their retention.
pub async fn purge(billing: &Billing, now: OffsetDateTime) -> Result<(), StoreError> {
    stripe_events::delete_before(&billing.db, now - KEPT).await?;
    overage::purge(billing, now).await
}
