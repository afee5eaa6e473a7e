//! Reconciles the database with Stripe, every night and by an operator's command.

use std::collections::{BTreeMap, BTreeSet};

use time::OffsetDateTime;

use crate::{
    service::billing::{Billing, BillingError, mirror, overage},
    store::{
        offers, stripe_customers,
        stripe_events::{self, Difference},
        tx,
    },
};

/// Runs [`reconcile`] unless that was done today, by any process.
pub async fn reconcile_nightly(billing: &Billing, now: OffsetDateTime) -> Result<(), BillingError> {
    if billing.till.is_none() || !stripe_events::insert_reconciliation(&billing.db, now.date()).await? {
        return Ok(());
    }
    let differences = reconcile(billing, now).await?;
    tracing::info!(differences = differences.len(), "reconciled with Stripe");
    Ok(())
}

/// Mirrors all customers and compares subscriptions and usage with Stripe. Differences are recorded, logged and
/// returned.
pub async fn reconcile(billing: &Billing, now: OffsetDateTime) -> Result<Vec<Difference>, BillingError> {
    let till = billing.till()?;
    mirror::mirror_all(billing).await?;
    let products = offers::products(&offers::list_plans(&billing.db).await?);
    let known: BTreeSet<String> = stripe_customers::list(&billing.db).await?.into_iter().collect();
    let mut by_customer: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in till.stripe.all_subscriptions(&products).await? {
        by_customer.entry(one.customer).or_default().push(one.id);
    }
    let mut transaction = tx::begin(&billing.db).await?;
    for (customer, subscriptions) in by_customer {
        let ids = subscriptions.join(", ");
        let words = match (known.contains(&customer), subscriptions.len()) {
            (false, _) => format!("{ids}: this customer belongs to no account"),
            (true, 1) => continue,
            (true, count) => format!("{ids}: the customer has {count} subscriptions instead of one"),
        };
        tracing::warn!(customer, words, "Stripe and the database differ");
        stripe_events::insert_difference(&mut transaction, &customer, None, &words, now).await?;
    }
    tx::commit(transaction).await?;
    overage::reconcile(billing, till, now).await?;
    Ok(stripe_events::list_differences(&billing.db, now).await?)
}
