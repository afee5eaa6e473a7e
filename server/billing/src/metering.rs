//! What is paid for by use: Stripe is told of it in events, which a meter adds up for the invoice at the end of the period.

use miniserde::Deserialize;
use time::OffsetDateTime;

use crate::{
    client::{Stripe, StripeError},
    wire::Named,
};

/// By which events find their meter.
const EVENT_NAME: &str = "platen_overage_credits";
/// Stripe's prices are of one; one credit costs less than the smallest unit of most currencies.
const PRICED_AT_ONCE: i64 = 1000;

/// What 1,000 of something cost that is paid for by use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeteredPrice {
    /// Stripe's name for it.
    pub id: String,
    /// What is sold at it.
    pub product: String,
    /// Of 1,000, in the smallest unit of the currency. What Stripe asks beyond its digits is rounded up.
    pub amount: i64,
    /// Three small letters, such as `eur`.
    pub currency: String,
    /// What counts.
    pub meter: String,
}

/// A price that is to be made, with its product.
#[derive(Debug, Clone)]
pub struct NewMeteredPrice<'a> {
    /// Ours; it never changes, while the price it leads to may.
    pub lookup_key: &'a str,
    /// Id of the product.
    pub product: &'a str,
    /// What the product is called on invoices.
    pub name: &'a str,
    /// Of 1,000, in the smallest unit of the currency.
    pub amount: i64,
    /// Three small letters.
    pub currency: &'a str,
    /// What counts, as [`Stripe::overage_meter`] says.
    pub meter: &'a str,
}

/// What a customer has used.
#[derive(Debug, Clone)]
pub struct MeterEvent<'a> {
    /// Ours: Stripe counts what has the same once. It knows that for a day at least.
    pub identifier: &'a str,
    /// Stripe's name for the customer.
    pub customer: &'a str,
    /// How much.
    pub credits: i64,
    /// When; 35 days ago at the earliest. It decides about the invoice.
    pub used_at: OffsetDateTime,
}

#[derive(Deserialize)]
struct MeterWire {
    id: String,
    event_name: String,
}

#[derive(Deserialize)]
struct PriceWire {
    id: String,
    product: String,
    unit_amount_decimal: Option<String>,
    currency: String,
    recurring: Option<RecurringWire>,
}

#[derive(Deserialize)]
struct RecurringWire {
    meter: Option<String>,
}

#[derive(Deserialize)]
struct SummaryWire {
    id: String,
    aggregated_value: f64,
}

#[derive(Deserialize)]
struct EventWire {}

impl Stripe {
    /// Stripe's name for what counts credits beyond those of plans; it is made if there is none.
    pub async fn overage_meter(&self) -> Result<String, StripeError> {
        let query = vec![("status", "active".to_owned())];
        let meters = self.list("/billing/meters", &query, |meter: &MeterWire| &meter.id);
        let mut meters = meters.await?.into_iter();
        if let Some(known) = meters.find(|meter| meter.event_name == EVENT_NAME) {
            return Ok(known.id);
        }
        let form = vec![
            ("display_name", "Credits beyond the plan".to_owned()),
            ("event_name", EVENT_NAME.to_owned()),
            ("default_aggregation[formula]", "sum".to_owned()),
        ];
        let made: Named = self.post("/billing/meters".to_owned(), form).await?;
        Ok(made.id)
    }

    /// The price to which a key leads now. `None`: it leads nowhere, or to a price of another kind.
    pub async fn find_metered_price(&self, lookup_key: &str) -> Result<Option<MeteredPrice>, StripeError> {
        let query = vec![("active", "true".to_owned()), ("lookup_keys[]", lookup_key.to_owned())];
        let prices = self.list("/prices", &query, |price: &PriceWire| &price.id);
        Ok(prices.await?.into_iter().find_map(read))
    }

    /// Makes a price, and its product where there is none.
    pub async fn create_metered_price(&self, new: &NewMeteredPrice<'_>) -> Result<MeteredPrice, StripeError> {
        self.create_missing_product(new.product, new.name).await?;
        let form = vec![
            ("product", new.product.to_owned()),
            ("lookup_key", new.lookup_key.to_owned()),
            ("unit_amount_decimal", of_one(new.amount)),
            ("currency", new.currency.to_owned()),
            ("tax_behavior", "exclusive".to_owned()),
            ("recurring[interval]", "month".to_owned()),
            ("recurring[usage_type]", "metered".to_owned()),
            ("recurring[meter]", new.meter.to_owned()),
        ];
        let made: Named = self.post("/prices".to_owned(), form).await?;
        Ok(MeteredPrice {
            id: made.id,
            product: new.product.to_owned(),
            amount: new.amount,
            currency: new.currency.to_owned(),
            meter: new.meter.to_owned(),
        })
    }

    /// Tells what a customer has used. What Stripe knows already is told.
    pub async fn report_usage(&self, event: &MeterEvent<'_>) -> Result<(), StripeError> {
        let form = vec![
            ("event_name", EVENT_NAME.to_owned()),
            ("identifier", event.identifier.to_owned()),
            ("timestamp", event.used_at.unix_timestamp().to_string()),
            ("payload[stripe_customer_id]", event.customer.to_owned()),
            ("payload[value]", event.credits.to_string()),
        ];
        match self.post::<EventWire>("/billing/meter_events".to_owned(), form).await {
            Ok(EventWire {}) => Ok(()),
            // It has no code of its own.
            Err(StripeError::Refused { message, .. }) if message.contains("already exists with identifier") => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// How much of what a customer has used between two full minutes has been counted.
    pub async fn counted_usage(
        &self,
        meter: &str,
        customer: &str,
        from: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<i64, StripeError> {
        let query = vec![
            ("customer", customer.to_owned()),
            ("start_time", from.unix_timestamp().to_string()),
            ("end_time", until.unix_timestamp().to_string()),
        ];
        let path = format!("/billing/meters/{meter}/event_summaries");
        let summaries = self.list(&path, &query, |summary: &SummaryWire| &summary.id).await?;
        let sum: f64 = summaries.iter().map(|summary| summary.aggregated_value).sum();
        Ok(sum.round() as i64)
    }
}

/// `None`: a price that depends on something else, or has steps.
fn read(price: PriceWire) -> Option<MeteredPrice> {
    Some(MeteredPrice {
        id: price.id,
        product: price.product,
        amount: of_thousand(&price.unit_amount_decimal?)?,
        currency: price.currency,
        meter: price.recurring?.meter?,
    })
}

/// What one costs, by what 1,000 do.
fn of_one(amount: i64) -> String {
    let (whole, rest) = (amount / PRICED_AT_ONCE, amount % PRICED_AT_ONCE);
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:03}").trim_end_matches('0').to_owned()
}

/// What 1,000 cost, by what one does. Digits beyond the third are rounded up: nobody is to pay more than they were shown.
fn of_thousand(decimal: &str) -> Option<i64> {
    let (whole, rest) = decimal.split_once('.').unwrap_or((decimal, ""));
    if !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (kept, beyond) = rest.split_at(rest.len().min(3));
    let thousandths: i64 = format!("{kept:0<3}").parse().ok()?;
    let more = i64::from(beyond.bytes().any(|byte| byte != b'0'));
    let whole: i64 = whole.parse().ok().filter(|whole| *whole >= 0)?;
    whole.checked_mul(PRICED_AT_ONCE)?.checked_add(thousandths + more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_cost_a_thousand_times_as_much_as_one() {
        for (amount, one) in [(1000, "1"), (850, "0.85"), (1, "0.001"), (12_340, "12.34")] {
            assert_eq!(of_one(amount), one);
            assert_eq!(of_thousand(one), Some(amount));
        }
        assert_eq!(of_thousand("0.850000000000"), Some(850));
        assert_eq!(of_thousand("0.0001"), Some(1));
        assert_eq!(["", "-1", "1.x", "1e3"].map(of_thousand), [None; 4]);
    }
}
