//! Subscriptions.

use miniserde::Deserialize;
use time::OffsetDateTime;

use crate::{
    client::{Stripe, StripeError},
    wire::{List, Named, moment},
};

/// A subscription, as it is at Stripe now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Stripe's name for it.
    pub id: String,
    /// Whose it is.
    pub customer: String,
    /// Stripe's word, such as `active` or `past_due`.
    pub status: String,
    /// Its line of the plan.
    pub item: String,
    /// What it pays for.
    pub product: String,
    /// At which price.
    pub price: String,
    /// Its periods are the months from here.
    pub anchor: OffsetDateTime,
    /// When the current period began.
    pub period_starts_at: OffsetDateTime,
    /// When it ends.
    pub period_ends_at: OffsetDateTime,
    /// When the subscription ends, if that is decided.
    pub cancel_at: Option<OffsetDateTime>,
    /// What stays paid for a while after a change to something smaller.
    pub kept: Option<Kept>,
    /// What is used beyond the plan's credits, if the customer has ever allowed it.
    pub overage: Option<Overage>,
    /// What pays for it.
    pub card: Option<Card>,
    /// When it began.
    pub created_at: OffsetDateTime,
}

/// What stays paid after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it was.
    pub product: String,
    /// Until then.
    pub until: OffsetDateTime,
}

/// What is paid for by use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overage {
    /// Credits that the customer allows in a period. What is used by then is paid for even when this is lowered.
    pub limit: i64,
}

/// What pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// `visa`; for what is no card the word for it, such as `sepa_debit`.
    pub brand: String,
    /// The last digits of its number.
    pub last4: Option<String>,
    /// Month and year in which it expires.
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
    /// All subscriptions that a customer has ever had to one of these products.
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

    /// All subscriptions of everybody to one of these products that have not ended.
    pub async fn all_subscriptions(&self, products: &[String]) -> Result<Vec<Subscription>, StripeError> {
        let query = vec![("expand[]", "data.default_payment_method".to_owned())];
        let found = self.list("/subscriptions", &query, |found: &SubscriptionWire| &found.id);
        let found = found.await?.into_iter();
        Ok(found.filter_map(|wire| read(wire, products)).collect())
    }

    /// Changes at once to something larger. The difference for the rest of the period, as of `as_of`, is collected, or
    /// nothing changes.
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
        let _: Named = self.post(path(subscription), form).await?;
        Ok(())
    }

    /// Changes to something smaller from the next period on. What is paid for stays until then; Stripe itself keeps that in
    /// mind, so that it can't be lost between two changes.
    pub async fn downgrade(&self, subscription: &Subscription, price: &str) -> Result<(), StripeError> {
        let until = subscription.period_ends_at.unix_timestamp().to_string();
        self.change_price(subscription, price, &subscription.product, &until)
            .await
    }

    /// Takes [`Self::downgrade`] back; `price` is that of what was kept.
    pub async fn undo_downgrade(&self, subscription: &Subscription, price: &str) -> Result<(), StripeError> {
        self.change_price(subscription, price, "", "").await
    }

    /// Nothing is collected or given back. Empty metadata are none.
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
        let _: Named = self.post(path(subscription), form).await?;
        Ok(())
    }

    /// Says how many credits may be used beyond the plan's in each period. The line by which they are paid for is added when
    /// it is needed first, and stays: with it Stripe would forget what is used already.
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
        let _: Named = self.post(path(subscription), form).await?;
        Ok(())
    }

    /// Lets a subscription end with its period.
    pub async fn cancel_at_period_end(&self, subscription: &Subscription) -> Result<(), StripeError> {
        let form = vec![("cancel_at_period_end", "true".to_owned())];
        let _: Named = self.post(path(subscription), form).await?;
        Ok(())
    }

    /// Takes that back.
    pub async fn resume(&self, subscription: &Subscription) -> Result<(), StripeError> {
        let form = vec![("cancel_at_period_end", "false".to_owned())];
        let _: Named = self.post(path(subscription), form).await?;
        Ok(())
    }

    /// Ends a subscription at once; nothing is given back, and what was used beyond the plan's credits is collected.
    pub async fn cancel_now(&self, subscription: &str) -> Result<(), StripeError> {
        let path = format!("/subscriptions/{subscription}");
        let _: Named = self.delete(path, vec![("invoice_now", "true".to_owned())]).await?;
        Ok(())
    }
}

fn path(subscription: &Subscription) -> String {
    format!("/subscriptions/{}", subscription.id)
}

/// `None`: a subscription to something else.
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

/// What can't be read allows nothing.
fn overage_limit(metadata: &MetadataWire) -> i64 {
    let limit = metadata.overage_limit.as_deref();
    limit.and_then(|limit| limit.parse().ok()).unwrap_or(0).max(0)
}

fn kept(metadata: MetadataWire) -> Option<Kept> {
    Some(Kept {
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
