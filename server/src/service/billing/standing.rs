//! What an account has bought, and what it is told about that.

use platen_billing::{customers::Payer, invoices::Invoice, subscriptions::Card};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{
        billing::{Standing, Subscription, that_counts},
        ids::AccountId,
    },
    service::billing::{Billing, BillingError, Till, mirror},
    store::{
        error::StoreError,
        offers::{self, OverageOffer, PackOffer, PlanOffer},
        stripe_customers, stripe_subscriptions,
    },
};

/// Invoices that are shown; all others are at Stripe.
const INVOICES: u8 = 12;

/// Everything about payment.
#[derive(Debug)]
pub struct Overview {
    /// Plans for sale, the smallest first.
    pub plans: Vec<PlanOffer>,
    /// Packs for sale, the smallest first.
    pub packs: Vec<PackOffer>,
    /// What the account pays for every month, or has to.
    pub subscription: Option<Subscription>,
    /// What may be used beyond the credits of the plan; `None`: nothing, without or with this subscription.
    pub overage: Option<Overage>,
    /// What Stripe alone knows; `None`: the account is no customer yet.
    pub papers: Option<Papers>,
}

/// What may be used beyond the credits of a plan.
#[derive(Debug)]
pub struct Overage {
    /// What it costs.
    pub offer: OverageOffer,
    /// Credits that the owner may allow in each period.
    pub most: i64,
}

/// What Stripe alone knows.
#[derive(Debug)]
pub enum Papers {
    /// It has said so.
    Known {
        /// The latest invoices, the latest first.
        invoices: Vec<Invoice>,
        /// Whom they are made out to.
        payer: Payer,
        /// What pays.
        card: Option<Card>,
    },
    /// It did not answer.
    Unknown,
}

/// Something is to be paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentDue {
    /// And until then everything goes on.
    Until(OffsetDateTime),
    /// And the account is on the free plan meanwhile.
    Overdue,
}

/// Whether something is to be paid.
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

/// Whether something is to be paid for a subscription.
pub fn due_of(subscription: &Subscription, now: OffsetDateTime) -> Option<PaymentDue> {
    match subscription.standing(now) {
        Standing::Due { until } => Some(PaymentDue::Until(until)),
        Standing::Overdue => Some(PaymentDue::Overdue),
        Standing::Paid | Standing::Ended | Standing::Unborn => None,
    }
}

/// Everything that the owner of an account sees; `None`: nothing is for sale. `back_from_stripe`: the person has just paid,
/// and is not to wait for an event.
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
    let papers = match stripe_customers::find(&billing.db, account).await? {
        Some(customer) => Some(papers(till, &customer, &plans).await),
        None => None,
    };
    Ok(Some(Overview {
        packs: offers::list_packs(&billing.db).await?,
        overage: overage_of(&billing.db, &plans, subscription.as_ref(), now).await?,
        plans,
        subscription,
        papers,
    }))
}

/// What an account may use beyond the credits of its plan; `None`: nothing, or nothing is for sale.
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

/// Plans for sale, and the subscription of an account that goes on.
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
    let product = subscription.and_then(|subscription| subscription.product_at(now));
    let plan = product.and_then(|product| offers::of_product(plans, product));
    let most = plan.map_or(0, |plan| plan.overage_limit);
    let offer = offers::find_overage(db).await?;
    Ok((most > 0 && offer.metered.is_some()).then_some(Overage { offer, most }))
}

/// Nothing else of the page waits for Stripe to be well.
async fn papers(till: &Till, customer: &str, plans: &[PlanOffer]) -> Papers {
    let products: Vec<String> = plans.iter().map(|plan| plan.product.clone()).collect();
    let asked = futures::try_join!(
        till.stripe.latest_invoices(customer, INVOICES),
        till.stripe.payer(customer),
        till.stripe.subscriptions_of(customer, &products),
    );
    match asked {
        Ok((invoices, payer, subscriptions)) => {
            let mut alive = subscriptions.into_iter().filter(|one| is_alive(&one.status));
            Papers::Known {
                invoices,
                payer,
                card: alive.find_map(|one| one.card),
            }
        }
        Err(error) => {
            tracing::warn!(%error, "invoices could not be had from Stripe");
            Papers::Unknown
        }
    }
}

/// Whether a subscription with Stripe's word goes on, however it is paid for.
pub(super) fn is_alive(status: &str) -> bool {
    matches!(status, "active" | "trialing" | "past_due" | "unpaid")
}
