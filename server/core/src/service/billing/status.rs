//! Billing status of an account: subscription, payments due, overage and billing details.

use platen_billing::{customers::Payer, invoices::Invoice, subscriptions::Card};
use platen_domain::{
    billing::{PaymentDue, Subscription, SubscriptionStatus, that_counts},
    ids::AccountId,
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    service::billing::{Billing, BillingError, Till, mirror},
    store::{
        error::StoreError,
        offers::{self, OverageOffer, PackOffer, PlanOffer},
        stripe_customers, stripe_subscriptions,
    },
};

/// Invoices that are shown; earlier ones are available at Stripe.
const INVOICES: u8 = 12;

/// Content of the billing page.
#[derive(Debug)]
pub struct Overview {
    /// Plans for sale, the smallest first.
    pub plans: Vec<PlanOffer>,
    /// Packs for sale, the smallest first.
    pub packs: Vec<PackOffer>,
    /// Live subscription of the account, paid or unpaid.
    pub subscription: Option<Subscription>,
    /// Overage that the account may enable; `None` if its subscription doesn't allow any, or it has none.
    pub overage: Option<Overage>,
    /// Billing details; `None` if the account is no customer at Stripe yet.
    pub billing_details: Option<BillingDetails>,
}

/// Overage that an account may enable.
#[derive(Debug)]
pub struct Overage {
    /// Price of the overage.
    pub offer: OverageOffer,
    /// Maximum limit for each period, in credits.
    pub most: i64,
}

/// Billing details, which only Stripe stores.
#[derive(Debug)]
pub enum BillingDetails {
    /// Stripe returned the details.
    Known {
        /// The latest invoices, the latest first.
        invoices: Vec<Invoice>,
        /// Name, address and tax id on invoices.
        payer: Payer,
        /// Card that pays for the subscription.
        card: Option<Card>,
    },
    /// Stripe could not be reached.
    Unknown,
}

/// Returns whether the account has an unpaid invoice; `None` if it has none or nothing is for sale.
pub async fn payment_due(
    billing: &Billing,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Option<PaymentDue>, StoreError> {
    if billing.till.is_none() {
        return Ok(None);
    }
    let subscriptions = stripe_subscriptions::list(&billing.db, account).await?;
    let counts = that_counts(&subscriptions, now, |_| 1);
    Ok(counts.and_then(|subscription| due_of(subscription, now)))
}

/// Returns whether a subscription has an unpaid invoice.
pub fn due_of(subscription: &Subscription, now: OffsetDateTime) -> Option<PaymentDue> {
    match subscription.status(now) {
        SubscriptionStatus::Due { until } => Some(PaymentDue::Until(until)),
        SubscriptionStatus::Overdue => Some(PaymentDue::Overdue),
        SubscriptionStatus::Paid | SubscriptionStatus::Ended | SubscriptionStatus::Unborn => None,
    }
}

/// Returns the content of the billing page; `None` if nothing is for sale. With `back_from_stripe`, the customer is
/// mirrored first, because the user has just paid and should not wait for an event.
pub async fn overview(
    billing: &Billing,
    account: AccountId,
    back_from_stripe: bool,
    now: OffsetDateTime,
) -> Result<Option<Overview>, BillingError> {
    let Some(till) = &billing.till else { return Ok(None) };
    if back_from_stripe {
        mirror::look_at(billing, account).await?;
    }
    let (plans, subscription) = subscribed(&billing.db, account, now).await?;
    let billing_details = match stripe_customers::find(&billing.db, account).await? {
        Some(customer) => Some(billing_details(till, &customer, &offers::products(&plans)).await),
        None => None,
    };
    Ok(Some(Overview {
        packs: offers::list_packs(&billing.db).await?,
        overage: overage_of(&billing.db, &plans, subscription.as_ref(), now).await?,
        plans,
        subscription,
        billing_details,
    }))
}

/// Returns the plans for sale, the smallest first; none if nothing is for sale.
pub async fn plans_for_sale(billing: &Billing) -> Result<Vec<PlanOffer>, StoreError> {
    if billing.till.is_none() {
        return Ok(Vec::new());
    }
    let plans = offers::list_plans(&billing.db).await?;
    Ok(plans.into_iter().filter(|plan| plan.price.is_some()).collect())
}

/// Returns the overage that an account may enable; `None` if there is none, or nothing is for sale.
pub async fn overage(
    billing: &Billing,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Option<Overage>, StoreError> {
    if billing.till.is_none() {
        return Ok(None);
    }
    let (plans, subscription) = subscribed(&billing.db, account, now).await?;
    overage_of(&billing.db, &plans, subscription.as_ref(), now).await
}

/// Returns the plans for sale and the account's live subscription.
async fn subscribed(
    db: &PgPool,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(Vec<PlanOffer>, Option<Subscription>), StoreError> {
    let plans = offers::list_plans(db).await?;
    let subscriptions = stripe_subscriptions::list(db, account).await?;
    let worth = |product: &str| offers::of_product(&plans, product).map_or(0, |plan| plan.credits);
    let subscription = that_counts(&subscriptions, now, worth);
    let subscription = subscription.filter(|one| one.is_alive(now)).cloned();
    Ok((plans, subscription))
}

async fn overage_of(
    db: &PgPool,
    plans: &[PlanOffer],
    subscription: Option<&Subscription>,
    now: OffsetDateTime,
) -> Result<Option<Overage>, StoreError> {
    let subscription = subscription.filter(|subscription| subscription.has_trust(now));
    let plan = subscription.and_then(|subscription| offers::paid_plan(plans, subscription, now));
    let most = plan.map_or(0, |plan| plan.overage_limit);
    let offer = offers::find_overage(db).await?;
    Ok((most > 0 && offer.metered.is_some()).then_some(Overage { offer, most }))
}

/// Returns the billing details. A failure of Stripe leaves the rest of the page intact.
async fn billing_details(till: &Till, customer: &str, products: &[String]) -> BillingDetails {
    let asked = futures::try_join!(
        till.stripe.latest_invoices(customer, INVOICES),
        till.stripe.payer(customer),
        till.stripe.subscriptions_of(customer, products),
    );
    match asked {
        Ok((invoices, payer, subscriptions)) => {
            let mut alive = subscriptions.into_iter().filter(|one| is_alive(&one.status));
            BillingDetails::Known {
                invoices,
                payer,
                card: alive.find_map(|one| one.card),
            }
        }
        Err(error) => {
            tracing::warn!(%error, "billing details could not be read from Stripe");
            BillingDetails::Unknown
        }
    }
}

/// Returns whether a subscription with this status at Stripe is live, paid or unpaid.
pub(super) fn is_alive(status: &str) -> bool {
    matches!(status, "active" | "trialing" | "past_due" | "unpaid")
}
