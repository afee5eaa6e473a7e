//! What is for sale: plans that have a product, and table `credit_packs`.

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

/// All plans that can be bought, the smallest first.
pub async fn list_plans(db: &PgPool) -> Result<Vec<PlanOffer>, StoreError> {
    let plans = sqlx::query_as!(
        PlanOffer,
        r#"select name, product as "product!", credits, amount, currency, price from plans
           where product is not null order by credits, name"#,
    );
    Ok(plans.fetch_all(db).await?)
}

/// All packs, the smallest first.
pub async fn list_packs(db: &PgPool) -> Result<Vec<PackOffer>, StoreError> {
    let packs = sqlx::query_as!(
        PackOffer,
        "select product, credits, amount, currency, price from credit_packs order by credits, product",
    );
    Ok(packs.fetch_all(db).await?)
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
