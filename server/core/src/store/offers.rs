//! The catalog: plans with a Stripe product, and tables `credit_packs` and `overage_offers`.

use platen_domain::billing::Subscription;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

/// A plan for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOffer {
    pub name: String,
    /// Id of the Stripe product.
    pub product: String,
    /// Credits per month.
    pub credits: i64,
    /// Price per month, in the smallest unit of the currency.
    pub amount: i64,
    /// ISO 4217 code in lower case.
    pub currency: String,
    /// Id of the Stripe price for new customers; `None` until `platen billing sync` has run.
    pub price: Option<String>,
    /// Maximum overage of one period, in credits.
    pub overage_limit: i64,
}

/// A pack of credits for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackOffer {
    /// Id of the Stripe product.
    pub product: String,
    pub credits: i64,
    /// Price, in the smallest unit of the currency.
    pub amount: i64,
    /// ISO 4217 code in lower case.
    pub currency: String,
    /// See [`PlanOffer::price`].
    pub price: Option<String>,
}

/// The price of overage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverageOffer {
    /// Id of the Stripe product.
    pub product: String,
    /// Price of 1,000 credits, in the smallest unit of the currency.
    pub amount: i64,
    /// ISO 4217 code in lower case.
    pub currency: String,
    /// Stripe's price and meter; see [`PlanOffer::price`].
    pub metered: Option<Metered>,
}

impl OverageOffer {
    /// Returns the price of `credits`, in the smallest unit of the currency, rounded to the nearest unit.
    pub fn cost(&self, credits: i64) -> i64 {
        let thousandths = i128::from(credits) * i128::from(self.amount);
        i64::try_from((thousandths + 500) / 1000).unwrap_or(i64::MAX)
    }
}

/// Ids of a metered price at Stripe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    pub price: String,
    pub meter: String,
}

/// Returns the plans for sale, smallest first.
pub async fn list_plans(db: &PgPool) -> Result<Vec<PlanOffer>, StoreError> {
    let plans = sqlx::query_as!(
        PlanOffer,
        r#"select name, product as "product!", credits, amount, currency, price, overage_limit from plans
           where product is not null order by credits, name"#,
    );
    Ok(plans.fetch_all(db).await?)
}

/// Returns the plan that is sold as this Stripe product.
pub fn of_product<'a>(plans: &'a [PlanOffer], product: &str) -> Option<&'a PlanOffer> {
    plans.iter().find(|plan| plan.product == product)
}

/// Returns the Stripe products of plans.
pub fn products(plans: &[PlanOffer]) -> Vec<String> {
    plans.iter().map(|plan| plan.product.clone()).collect()
}

/// Returns the plan that a subscription pays for at `now`.
pub fn paid_plan<'a>(plans: &'a [PlanOffer], paid: &Subscription, now: OffsetDateTime) -> Option<&'a PlanOffer> {
    of_product(plans, paid.product_at(now)?)
}

/// Returns all credit packs, smallest first.
pub async fn list_packs(db: &PgPool) -> Result<Vec<PackOffer>, StoreError> {
    let packs = sqlx::query_as!(
        PackOffer,
        "select product, credits, amount, currency, price from credit_packs order by credits, product",
    );
    Ok(packs.fetch_all(db).await?)
}

/// Returns the price of overage, which is the same for all plans.
pub async fn find_overage(db: &PgPool) -> Result<OverageOffer, StoreError> {
    let row = sqlx::query!("select product, amount, currency, price, meter from overage_offers");
    let row = row.fetch_one(db).await?;
    Ok(OverageOffer {
        product: row.product,
        amount: row.amount,
        currency: row.currency,
        metered: row.price.zip(row.meter).map(|(price, meter)| Metered { price, meter }),
    })
}

/// The current price of a product at Stripe.
pub struct Mirrored<'a> {
    /// Id of the Stripe product.
    pub product: &'a str,
    /// Id of the Stripe price.
    pub price: &'a str,
    /// In the smallest unit of the currency.
    pub amount: i64,
    /// ISO 4217 code in lower case.
    pub currency: &'a str,
}

/// Stores Stripe's price of a plan.
pub async fn update_plan(db: &PgPool, mirrored: &Mirrored<'_>) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update plans set price = $2, amount = $3, currency = $4 where product = $1",
        mirrored.product,
        mirrored.price,
        mirrored.amount,
        mirrored.currency,
    );
    execute(db, update).await
}

/// Stores Stripe's price of a credit pack.
pub async fn update_pack(db: &PgPool, mirrored: &Mirrored<'_>) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update credit_packs set price = $2, amount = $3, currency = $4 where product = $1",
        mirrored.product,
        mirrored.price,
        mirrored.amount,
        mirrored.currency,
    );
    execute(db, update).await
}

/// Stores Stripe's price of 1,000 credits of overage, and the meter that counts them.
pub async fn update_overage(db: &PgPool, mirrored: &Mirrored<'_>, meter: &str) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update overage_offers set price = $2, amount = $3, currency = $4, meter = $5 where product = $1",
        mirrored.product,
        mirrored.price,
        mirrored.amount,
        mirrored.currency,
        meter,
    );
    execute(db, update).await
}
