//! The catalog: products and prices at Stripe, and their mirror in the database.

use platen_billing::{
    catalogue::{NewPrice, Price},
    client::Stripe,
    metering::NewMeteredPrice,
};
use sqlx::PgPool;

use crate::{
    service::billing::{Billing, BillingError},
    store::{
        error::StoreError,
        offers::{self, Mirrored, PackOffer, PlanOffer},
    },
};

/// Result of syncing one price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synced {
    /// Key by which the price is found at Stripe.
    pub lookup_key: String,
    /// The price's id at Stripe.
    pub price: String,
    /// Amount in the smallest unit of the currency.
    pub amount: i64,
    /// Currency code of three lower-case letters.
    pub currency: String,
    /// Whether the price was missing and has been created.
    pub created: bool,
}

/// Lookup key of the price of overage at Stripe, which is stated for 1,000 credits.
const OVERAGE_KEY: &str = "platen_overage_monthly";

/// Returns the lookup key of a plan's price at Stripe.
pub fn lookup_key_of_plan(product: &str) -> String {
    format!("{product}_monthly")
}

/// Creates the prices that are missing at Stripe and stores those that exist, as Stripe has them. A price whose product
/// or interval differs from its key is logged and omitted.
pub async fn sync(billing: &Billing) -> Result<Vec<Synced>, BillingError> {
    let till = billing.till()?;
    let offered = list_offered(&billing.db).await?;
    let found = find(&till.stripe, &offered).await?;
    let mut done = Vec::new();
    for one in &offered {
        let known = found.iter().find(|price| price.lookup_key == one.lookup_key);
        let price = match known {
            Some(price) => price.clone(),
            None => till.stripe.create_price(one).await?,
        };
        if price.monthly != one.monthly || price.product != one.product {
            tracing::warn!(
                lookup_key = price.lookup_key,
                price = price.id,
                "a price at Stripe doesn't match its lookup key; skipped"
            );
            continue;
        }
        write_down(&billing.db, one, &price).await?;
        done.push(Synced {
            lookup_key: price.lookup_key,
            price: price.id,
            amount: price.amount,
            currency: price.currency,
            created: known.is_none(),
        });
    }
    done.push(sync_overage(&billing.db, &till.stripe).await?);
    Ok(done)
}

async fn sync_overage(db: &PgPool, stripe: &Stripe) -> Result<Synced, BillingError> {
    let offered = offers::find_overage(db).await?;
    let known = stripe.find_metered_price(OVERAGE_KEY).await?;
    let created = known.is_none();
    let price = if let Some(price) = known {
        price
    } else {
        let new = NewMeteredPrice {
            lookup_key: OVERAGE_KEY,
            product: &offered.product,
            name: "Platen, credits beyond the plan",
            amount: offered.amount,
            currency: &offered.currency,
            meter: &stripe.overage_meter().await?,
        };
        stripe.create_metered_price(&new).await?
    };
    let mirrored = Mirrored {
        product: &offered.product,
        price: &price.id,
        amount: price.amount,
        currency: &price.currency,
    };
    offers::update_overage(db, &mirrored, &price.meter).await?;
    Ok(Synced {
        lookup_key: OVERAGE_KEY.to_owned(),
        price: price.id,
        amount: price.amount,
        currency: price.currency,
        created,
    })
}

/// Returns the lookup keys of prices that are missing at Stripe or differ from the database.
pub async fn missing(billing: &Billing) -> Result<Vec<String>, BillingError> {
    let till = billing.till()?;
    let offered = list_offered(&billing.db).await?;
    let found = find(&till.stripe, &offered).await?;
    let plans = offers::list_plans(&billing.db).await?;
    let packs = offers::list_packs(&billing.db).await?;
    let prices = plans.iter().map(|plan| (&plan.product, &plan.price));
    let here: Vec<_> = prices
        .chain(packs.iter().map(|pack| (&pack.product, &pack.price)))
        .collect();
    let is_there = |one: &NewPrice| {
        let price = found.iter().find(|price| price.lookup_key == one.lookup_key);
        price.is_some_and(|price| here.contains(&(&one.product, &Some(price.id.clone()))))
    };
    let missing = offered.iter().filter(|one| !is_there(one));
    let mut missing: Vec<String> = missing.map(|one| one.lookup_key.clone()).collect();
    let there = till.stripe.find_metered_price(OVERAGE_KEY).await?;
    let here = offers::find_overage(&billing.db).await?.metered;
    if there.is_none() || there.map(|price| price.id) != here.map(|metered| metered.price) {
        missing.push(OVERAGE_KEY.to_owned());
    }
    Ok(missing)
}

/// Returns the prices at which plans and packs are sold.
async fn list_offered(db: &PgPool) -> Result<Vec<NewPrice>, StoreError> {
    let plans = offers::list_plans(db).await?.into_iter().map(price_of_plan);
    let packs = offers::list_packs(db).await?.into_iter().map(price_of_pack);
    Ok(plans.chain(packs).collect())
}

async fn find(stripe: &Stripe, offered: &[NewPrice]) -> Result<Vec<Price>, BillingError> {
    let keys: Vec<String> = offered.iter().map(|one| one.lookup_key.clone()).collect();
    Ok(stripe.find_prices(&keys).await?)
}

async fn write_down(db: &PgPool, offered: &NewPrice, price: &Price) -> Result<(), StoreError> {
    let mirrored = Mirrored {
        product: &offered.product,
        price: &price.id,
        amount: price.amount,
        currency: &price.currency,
    };
    if offered.monthly {
        offers::update_plan(db, &mirrored).await
    } else {
        offers::update_pack(db, &mirrored).await
    }
}

fn price_of_plan(plan: PlanOffer) -> NewPrice {
    NewPrice {
        lookup_key: lookup_key_of_plan(&plan.product),
        name: format!("Platen {}", plan.name),
        product: plan.product,
        amount: plan.amount,
        currency: plan.currency,
        monthly: true,
    }
}

fn price_of_pack(pack: PackOffer) -> NewPrice {
    NewPrice {
        lookup_key: pack.product.clone(),
        name: format!("Platen, {} credits", pack.credits),
        product: pack.product,
        amount: pack.amount,
        currency: pack.currency,
        monthly: false,
    }
}
