//! Subscriptions.

use miniserde::Deserialize;
use time::OffsetDateTime;

use crate::{
    client::{Form, Stripe, StripeError},
    wire::{List, Named, moment},
};

/// Current state of a subscription at Stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub id: String,
    /// Id of the customer.
    pub customer: String,
    /// Stripe's status, such as `active` or `past_due`.
    pub status: String,
    /// Id of the subscription item for the plan.
    pub item: String,
    /// Id of the plan's product.
    pub product: String,
    /// Id of the plan's price.
    pub price: String,
    /// Billing cycle anchor: periods are the months from here.
    pub anchor: OffsetDateTime,
    /// When the current period began.
    pub period_starts_at: OffsetDateTime,
    /// When the current period ends.
    pub period_ends_at: OffsetDateTime,
    /// When the subscription ends, if its end is scheduled.
    pub cancel_at: Option<OffsetDateTime>,
    /// Plan that stays paid until its period ends, after a downgrade.
    pub kept: Option<PaidPlan>,
    /// Overage beyond the plan's credits, if the customer has ever allowed it.
    pub overage: Option<Overage>,
    /// Payment method.
    pub card: Option<Card>,
    pub created_at: OffsetDateTime,
}

/// A plan that stays paid after a downgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidPlan {
    /// Id of the plan's product.
    pub product: String,
    /// End of the paid period.
    pub until: OffsetDateTime,
}

/// Metered usage beyond the plan's credits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overage {
    /// Credits that the customer allows in a period. Usage so far is charged even if the limit is lowered.
    pub limit: i64,
}

/// A payment method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Brand of the card, such as `visa`; for other payment methods their type, such as `sepa_debit`.
    pub brand: String,
    /// Last digits of the card's number.
    pub last4: Option<String>,
    /// Month and year in which the card expires.
    pub expires: Option<(i64, i64)>,
}

#[derive(Deserialize)]
struct SubscriptionWire {
    id: String,
    customer: String,
    status: String,
    created: i64,
    billing_cycle_anchor: i64,
    cancel_at: Option<i64>,
    cancel_at_period_end: Option<bool>,
    items: List<ItemWire>,
    metadata: Option<MetadataWire>,
    default_payment_method: Option<MethodWire>,
}

#[derive(Deserialize)]
struct ItemWire {
    id: String,
    price: PriceWire,
    current_period_start: i64,
    current_period_end: i64,
}

#[derive(Deserialize)]
struct PriceWire {
    id: String,
    product: String,
    recurring: Option<RecurringWire>,
}

#[derive(Deserialize)]
struct RecurringWire {
    usage_type: String,
}

#[derive(Deserialize)]
struct MetadataWire {
    #[serde(rename = "platen_kept_product")]
    kept_product: Option<String>,
    #[serde(rename = "platen_kept_until")]
    kept_until: Option<String>,
    #[serde(rename = "platen_overage_limit")]
    overage_limit: Option<String>,
}

#[derive(Deserialize)]
struct MethodWire {
    r#type: String,
    card: Option<CardWire>,
}

#[derive(Deserialize)]
struct CardWire {
    brand: String,
    last4: Option<String>,
    exp_month: i64,
    exp_year: i64,
}

impl Stripe {
    /// Returns all subscriptions that a customer has ever had to one of these products.
    pub async fn subscriptions_of(
        &self,
        customer: &str,
        products: &[String],
    ) -> Result<Vec<Subscription>, StripeError> {
        let query = vec![
            ("customer", customer.to_owned()),
            ("status", "all".to_owned()),
            ("expand[]", "data.default_payment_method".to_owned()),
        ];
        let found = self.list("/subscriptions", &query, |found: &SubscriptionWire| &found.id);
        let found = found.await?.into_iter();
        Ok(found.filter_map(|wire| read(wire, products)).collect())
    }

    /// Returns the subscriptions of all customers to one of these products that have not ended.
    pub async fn all_subscriptions(&self, products: &[String]) -> Result<Vec<Subscription>, StripeError> {
        let query = vec![("expand[]", "data.default_payment_method".to_owned())];
        let found = self.list("/subscriptions", &query, |found: &SubscriptionWire| &found.id);
        let found = found.await?.into_iter();
        Ok(found.filter_map(|wire| read(wire, products)).collect())
    }

    /// Changes to a larger plan at once. Collects the difference for the rest of the period, as of `as_of`; if the
    /// payment fails, nothing changes.
    pub async fn upgrade(
        &self,
        subscription: &Subscription,
        price: &str,
        as_of: OffsetDateTime,
    ) -> Result<(), StripeError> {
        let form = vec![
            ("items[0][id]", subscription.item.clone()),
            ("items[0][price]", price.to_owned()),
            ("proration_behavior", "always_invoice".to_owned()),
            ("proration_date", as_of.unix_timestamp().to_string()),
            ("payment_behavior", "error_if_incomplete".to_owned()),
        ];
        self.change(subscription, form).await
    }

    /// Changes to a smaller plan from the next period on. The current plan stays paid until then, which is recorded in
    /// the subscription's metadata in the same request, so that it can't be lost between two changes.
    pub async fn downgrade(&self, subscription: &Subscription, price: &str) -> Result<(), StripeError> {
        let until = subscription.period_ends_at.unix_timestamp().to_string();
        self.change_price(subscription, price, &subscription.product, &until)
            .await
    }

    /// Reverts [`Self::downgrade`]. `price` is that of the plan that stayed paid.
    pub async fn undo_downgrade(&self, subscription: &Subscription, price: &str) -> Result<(), StripeError> {
        self.change_price(subscription, price, "", "").await
    }

    /// Changes the price without a charge or refund. Stripe deletes metadata that are set to an empty text.
    async fn change_price(
        &self,
        subscription: &Subscription,
        price: &str,
        kept_product: &str,
        kept_until: &str,
    ) -> Result<(), StripeError> {
        let form = vec![
            ("items[0][id]", subscription.item.clone()),
            ("items[0][price]", price.to_owned()),
            ("proration_behavior", "none".to_owned()),
            ("metadata[platen_kept_product]", kept_product.to_owned()),
            ("metadata[platen_kept_until]", kept_until.to_owned()),
        ];
        self.change(subscription, form).await
    }

    /// Sets how many credits beyond the plan's may be used in each period. The metered item is added when first needed
    /// and never removed: with it, Stripe would discard the usage so far.
    pub async fn set_overage_limit(
        &self,
        subscription: &Subscription,
        price: &str,
        limit: i64,
    ) -> Result<(), StripeError> {
        let words = if limit > 0 { limit.to_string() } else { String::new() };
        let mut form = vec![("metadata[platen_overage_limit]", words)];
        if limit > 0 && subscription.overage.is_none() {
            form.push(("items[0][price]", price.to_owned()));
            form.push(("proration_behavior", "none".to_owned()));
        }
        self.change(subscription, form).await
    }

    /// Schedules a subscription to end with its period.
    pub async fn cancel_at_period_end(&self, subscription: &Subscription) -> Result<(), StripeError> {
        let form = vec![("cancel_at_period_end", "true".to_owned())];
        self.change(subscription, form).await
    }

    /// Reverts [`Self::cancel_at_period_end`].
    pub async fn resume(&self, subscription: &Subscription) -> Result<(), StripeError> {
        let form = vec![("cancel_at_period_end", "false".to_owned())];
        self.change(subscription, form).await
    }

    async fn change(&self, subscription: &Subscription, form: Form<'_>) -> Result<(), StripeError> {
        let path = format!("/subscriptions/{}", subscription.id);
        let _: Named = self.post(path, form).await?;
        Ok(())
    }

    /// Ends a subscription at once, without a refund. Usage beyond the plan's credits is collected.
    pub async fn cancel_now(&self, subscription: &str) -> Result<(), StripeError> {
        let path = format!("/subscriptions/{subscription}");
        let _: Named = self.delete(path, vec![("invoice_now", "true".to_owned())]).await?;
        Ok(())
    }
}

/// Returns `None` for a subscription to none of these products.
fn read(wire: SubscriptionWire, products: &[String]) -> Option<Subscription> {
    let items = wire.items.data;
    let is_metered = |item: &ItemWire| {
        let recurring = item.price.recurring.as_ref();
        recurring.is_some_and(|recurring| recurring.usage_type == "metered")
    };
    let overage = items.iter().any(is_metered).then(|| Overage {
        limit: wire.metadata.as_ref().map_or(0, overage_limit),
    });
    let item = items.into_iter().find(|item| products.contains(&item.price.product))?;
    let period_ends_at = moment(item.current_period_end);
    let at_end = wire.cancel_at_period_end.unwrap_or(false).then_some(period_ends_at);
    Some(Subscription {
        id: wire.id,
        customer: wire.customer,
        status: wire.status,
        item: item.id,
        product: item.price.product,
        price: item.price.id,
        anchor: moment(wire.billing_cycle_anchor),
        period_starts_at: moment(item.current_period_start),
        period_ends_at,
        cancel_at: wire.cancel_at.map(moment).or(at_end),
        kept: wire.metadata.and_then(kept),
        overage,
        card: wire.default_payment_method.map(card),
        created_at: moment(wire.created),
    })
}

/// Returns 0 if the limit is missing or malformed.
fn overage_limit(metadata: &MetadataWire) -> i64 {
    let limit = metadata.overage_limit.as_deref();
    limit.and_then(|limit| limit.parse().ok()).unwrap_or(0).max(0)
}

fn kept(metadata: MetadataWire) -> Option<PaidPlan> {
    Some(PaidPlan {
        product: metadata.kept_product.filter(|product| !product.is_empty())?,
        until: moment(metadata.kept_until?.parse().ok()?),
    })
}

fn card(method: MethodWire) -> Card {
    match method.card {
        Some(card) => Card {
            brand: card.brand,
            last4: card.last4,
            expires: Some((card.exp_month, card.exp_year)),
        },
        None => Card {
            brand: method.r#type,
            last4: None,
            expires: None,
        },
    }
}
