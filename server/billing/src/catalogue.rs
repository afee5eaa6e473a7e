//! Products and their prices.

use miniserde::Deserialize;

use crate::{
    client::{Stripe, StripeError},
    wire::Named,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    pub id: String,
    /// Lookup key that the service has assigned.
    pub lookup_key: String,
    /// Id of the product.
    pub product: String,
    /// In the smallest unit of the currency, such as cents.
    pub amount: i64,
    /// ISO 4217 code in lower case, such as `eur`.
    pub currency: String,
    /// Whether it is charged every month, rather than once.
    pub monthly: bool,
}

/// A price to create, with its product.
#[derive(Debug, Clone)]
pub struct NewPrice {
    /// Lookup key. It never changes, while the price that it refers to may.
    pub lookup_key: String,
    /// Id of the product.
    pub product: String,
    /// Name of the product on invoices.
    pub name: String,
    /// In the smallest unit of the currency.
    pub amount: i64,
    /// ISO 4217 code in lower case.
    pub currency: String,
    /// Whether it is charged every month, rather than once.
    pub monthly: bool,
}

#[derive(Deserialize)]
struct PriceWire {
    id: String,
    lookup_key: Option<String>,
    product: String,
    unit_amount: Option<i64>,
    currency: String,
    recurring: Option<RecurringWire>,
}

#[derive(Deserialize)]
struct RecurringWire {
    interval: String,
    interval_count: i64,
}

impl Stripe {
    /// Returns the active prices that these lookup keys refer to. Keys without a price are omitted.
    pub async fn find_prices(&self, lookup_keys: &[String]) -> Result<Vec<Price>, StripeError> {
        let mut found = Vec::new();
        // Stripe accepts ten keys per request.
        for keys in lookup_keys.chunks(10) {
            let mut query = vec![("active", "true".to_owned())];
            query.extend(keys.iter().map(|key| ("lookup_keys[]", key.clone())));
            let prices = self.list("/prices", &query, |price: &PriceWire| &price.id).await?;
            found.extend(prices.into_iter().filter_map(read));
        }
        Ok(found)
    }

    /// Creates a price, and its product if that does not exist.
    pub async fn create_price(&self, new: &NewPrice) -> Result<Price, StripeError> {
        self.create_missing_product(&new.product, &new.name).await?;
        let mut form = vec![
            ("product", new.product.clone()),
            ("lookup_key", new.lookup_key.clone()),
            ("unit_amount", new.amount.to_string()),
            ("currency", new.currency.clone()),
            ("tax_behavior", "exclusive".to_owned()),
        ];
        if new.monthly {
            form.push(("recurring[interval]", "month".to_owned()));
        }
        let made: PriceWire = self.post("/prices".to_owned(), form).await?;
        Ok(Price {
            lookup_key: new.lookup_key.clone(),
            id: made.id,
            product: new.product.clone(),
            amount: new.amount,
            currency: new.currency.clone(),
            monthly: new.monthly,
        })
    }

    pub(crate) async fn create_missing_product(&self, product: &str, name: &str) -> Result<(), StripeError> {
        let known = self.get::<Named>(format!("/products/{product}"), Vec::new()).await;
        match known {
            Ok(_) => Ok(()),
            Err(StripeError::NotFound(_)) => {
                let form = vec![("id", product.to_owned()), ("name", name.to_owned())];
                let _: Named = self.post("/products".to_owned(), form).await?;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns `None` for a price without a lookup key, or whose amount depends on the quantity.
fn read(price: PriceWire) -> Option<Price> {
    Some(Price {
        id: price.id,
        lookup_key: price.lookup_key?,
        product: price.product,
        amount: price.unit_amount?,
        currency: price.currency,
        monthly: price
            .recurring
            .is_some_and(|recurring| recurring.interval == "month" && recurring.interval_count == 1),
    })
}
