//! What is for sale: plans that have a product, and tables `credit_packs` and `overage_offers`.

use sqlx::PgPool;

use crate::store::error::StoreError;

/// A plan that can be bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOffer {
    /// Name of the plan.
    pub name: String,
    /// Stripe's product.
    pub product: String,
    /// Credits of each month.
    pub credits: i64,
    /// What a month costs, in the smallest unit of the currency.
    pub amount: i64,
    /// Three small letters.
    pub currency: String,
    /// What new customers pay; `None`: `platen billing sync` has not run.
    pub price: Option<String>,
    /// The most credits that may be used beyond those in one period.
    pub overage_limit: i64,
}

/// Credits that can be bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackOffer {
    /// Stripe's product.
    pub product: String,
    /// How many.
    pub credits: i64,
    /// What they cost, in the smallest unit of the currency.
    pub amount: i64,
    /// Three small letters.
    pub currency: String,
    /// See [`PlanOffer::price`].
    pub price: Option<String>,
}

/// What credits beyond those of the plan cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverageOffer {
    /// Stripe's product.
    pub product: String,
    /// What 1,000 of them cost, in the smallest unit of the currency.
    pub amount: i64,
    /// Three small letters.
    pub currency: String,
    /// Stripe's names for the price and for what counts them; see [`PlanOffer::price`].
    pub metered: Option<Metered>,
}

impl OverageOffer {
    /// What so many credits come to, in the smallest unit of the currency.
    pub fn cost(&self, credits: i64) -> i64 {
        let thousandths = i128::from(credits) * i128::from(self.amount);
        i64::try_from((thousandths + 500) / 1000).unwrap_or(i64::MAX)
    }
}

/// How Stripe knows something that is paid for by use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    /// The price.
    pub price: String,
    /// What counts.
    pub meter: String,
}

/// All plans that can be bought, the smallest first.
pub async fn list_plans(db: &PgPool) -> Result<Vec<PlanOffer>, StoreError> {
    let plans = sqlx::query_as!(
        PlanOffer,
        r#"select name, product as "product!", credits, amount, currency, price, overage_limit from plans
           where product is not null order by credits, name"#,
    );
    Ok(plans.fetch_all(db).await?)
}

/// The one of these plans that a product is.
pub fn of_product<'a>(plans: &'a [PlanOffer], product: &str) -> Option<&'a PlanOffer> {
    plans.iter().find(|plan| plan.product == product)
}

/// All packs, the smallest first.
pub async fn list_packs(db: &PgPool) -> Result<Vec<PackOffer>, StoreError> {
    let packs = sqlx::query_as!(
        PackOffer,
        "select product, credits, amount, currency, price from credit_packs order by credits, product",
    );
    Ok(packs.fetch_all(db).await?)
}

/// What credits beyond those of the plan cost; the same for every plan.
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

/// What a product costs from now on.
pub struct Mirrored<'a> {
    /// Stripe's product.
    pub product: &'a str,
    /// Stripe's price.
    pub price: &'a str,
    /// In the smallest unit of the currency.
    pub amount: i64,
    /// Three small letters.
    pub currency: &'a str,
}

/// Writes down what Stripe asks for a plan.
pub async fn update_plan(db: &PgPool, mirrored: &Mirrored<'_>) -> Result<(), StoreError> {
    sqlx::query!(
        "update plans set price = $2, amount = $3, currency = $4 where product = $1",
        mirrored.product,
        mirrored.price,
        mirrored.amount,
        mirrored.currency,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Writes down what Stripe asks for a pack.
pub async fn update_pack(db: &PgPool, mirrored: &Mirrored<'_>) -> Result<(), StoreError> {
    sqlx::query!(
        "update credit_packs set price = $2, amount = $3, currency = $4 where product = $1",
        mirrored.product,
        mirrored.price,
        mirrored.amount,
        mirrored.currency,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Writes down what Stripe asks for 1,000 credits beyond those of a plan, and what counts them there.
pub async fn update_overage(db: &PgPool, mirrored: &Mirrored<'_>, meter: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "update overage_offers set price = $2, amount = $3, currency = $4, meter = $5 where product = $1",
        mirrored.product,
        mirrored.price,
        mirrored.amount,
        mirrored.currency,
        meter,
    )
    .execute(db)
    .await?;
    Ok(())
}
