//! Metered usage, reported to Stripe in events, which a meter sums for the invoice at the end of the period.

use miniserde::Deserialize;
use time::OffsetDateTime;

use crate::{
    client::{Stripe, StripeError},
    wire::Named,
};

/// Name that assigns events to their meter.
const EVENT_NAME: &str = "platen_overage_credits";
/// Units that an amount is the price of. Stripe's prices are per unit, but one credit costs less than the smallest unit
/// of most currencies.
const PRICED_AT_ONCE: i64 = 1000;

/// A metered price of 1,000 units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeteredPrice {
    pub id: String,
    /// Id of the product.
    pub product: String,
    /// Price of 1,000 units, in the smallest unit of the currency. Further digits of Stripe's price are rounded up.
    pub amount: i64,
    /// ISO 4217 code in lower case, such as `eur`.
    pub currency: String,
    /// Id of the meter.
    pub meter: String,
}

/// A metered price to create, with its product.
#[derive(Debug, Clone)]
pub struct NewMeteredPrice<'a> {
    /// Lookup key. It never changes, while the price that it refers to may.
    pub lookup_key: &'a str,
    /// Id of the product.
    pub product: &'a str,
    /// Name of the product on invoices.
    pub name: &'a str,
    /// Price of 1,000 units, in the smallest unit of the currency.
    pub amount: i64,
    /// ISO 4217 code in lower case.
    pub currency: &'a str,
    /// Id of the meter, from [`Stripe::overage_meter`].
    pub meter: &'a str,
}

/// Usage by a customer.
#[derive(Debug, Clone)]
pub struct MeterEvent<'a> {
    /// Identifier that the service chooses. Stripe counts events with the same identifier once, and remembers it for at
    /// least a day.
    pub identifier: &'a str,
    /// Id of the customer at Stripe.
    pub customer: &'a str,
    pub credits: i64,
    /// When the credits were used, at most 35 days ago. Determines the invoice on which they appear.
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
    /// Returns the id of the meter for credits beyond those of plans, and creates the meter if it does not exist.
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

    /// Returns the active price that a lookup key refers to; `None` if there is none, or if it is not metered.
    pub async fn find_metered_price(&self, lookup_key: &str) -> Result<Option<MeteredPrice>, StripeError> {
        let query = vec![("active", "true".to_owned()), ("lookup_keys[]", lookup_key.to_owned())];
        let prices = self.list("/prices", &query, |price: &PriceWire| &price.id);
        Ok(prices.await?.into_iter().find_map(read))
    }

    /// Creates a metered price, and its product if that does not exist.
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

    /// Reports usage to Stripe. Succeeds without effect if Stripe already has an event with this identifier.
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
            // Stripe has no error code for this.
            Err(StripeError::Refused { message, .. }) if message.contains("already exists with identifier") => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the usage of a customer that Stripe has counted between two times, which must be full minutes.
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

/// Returns `None` for a price that is not metered, or that is tiered.
fn read(price: PriceWire) -> Option<MeteredPrice> {
    Some(MeteredPrice {
        id: price.id,
        product: price.product,
        amount: of_thousand(&price.unit_amount_decimal?)?,
        currency: price.currency,
        meter: price.recurring?.meter?,
    })
}

/// Returns the price of one unit, as a decimal, from that of 1,000.
fn of_one(amount: i64) -> String {
    let (whole, rest) = (amount / PRICED_AT_ONCE, amount % PRICED_AT_ONCE);
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:03}").trim_end_matches('0').to_owned()
}

/// Returns the price of 1,000 units from the decimal price of one; `None` if that is malformed or negative. Digits
/// beyond the third are rounded up, so that customers never pay more than the price shown.
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
