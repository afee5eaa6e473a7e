//! Products and their prices.

use miniserde::Deserialize;

use crate::{
    client::{Stripe, StripeError},
    wire::Named,
};

/// What something costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// Stripe's name for it.
    pub id: String,
    /// Ours.
    pub lookup_key: String,
    /// What is sold at it.
    pub product: String,
    /// In the smallest unit of the currency, such as cents.
    pub amount: i64,
    /// Three small letters, such as `eur`.
    pub currency: String,
    /// Whether it is paid every month, rather than once.
    pub monthly: bool,
}

/// A price that is to be made, with its product.
#[derive(Debug, Clone)]
pub struct NewPrice<'a> {
    /// Ours; it never changes, while the price it leads to may.
    pub lookup_key: &'a str,
    /// Id of the product.
    pub product: &'a str,
    /// What the product is called on invoices.
    pub name: &'a str,
    /// In the smallest unit of the currency.
    pub amount: i64,
    /// Three small letters.
    pub currency: &'a str,
    /// Whether it is paid every month, rather than once.
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
    /// The prices to which these keys lead now; keys that lead nowhere are left out.
    pub async fn find_prices(&self, lookup_keys: &[String]) -> Result<Vec<Price>, StripeError> {
        let mut found = Vec::new();
        // Stripe takes ten keys at once.
        for keys in lookup_keys.chunks(10) {
            let mut query = vec![("active", "true".to_owned())];
            query.extend(keys.iter().map(|key| ("lookup_keys[]", key.clone())));
            let prices = self.list("/prices", &query, |price: &PriceWire| &price.id).await?;
            found.extend(prices.into_iter().filter_map(read));
        }
        Ok(found)
    }

    /// Makes a price, and its product where there is none.
    pub async fn create_price(&self, new: &NewPrice<'_>) -> Result<Price, StripeError> {
        self.create_missing_product(new.product, new.name).await?;
        let mut form = vec![
            ("product", new.product.to_owned()),
            ("lookup_key", new.lookup_key.to_owned()),
            ("unit_amount", new.amount.to_string()),
            ("currency", new.currency.to_owned()),
            ("tax_behavior", "exclusive".to_owned()),
        ];
        if new.monthly {
            form.push(("recurring[interval]", "month".to_owned()));
        }
        let made: PriceWire = self.post("/prices".to_owned(), form).await?;
        Ok(Price {
            lookup_key: new.lookup_key.to_owned(),
            id: made.id,
            product: new.product.to_owned(),
            amount: new.amount,
            currency: new.currency.to_owned(),
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

/// `None`: a price without a key of ours, or one that depends on how much is taken.
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
