//! Table `overage_uses`: what renders used beyond the credits of their accounts.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    domain::{
        credits::Period,
        ids::{AccountId, RenderId},
    },
    store::error::StoreError,
};

/// What a render used beyond the credits of its account.
pub struct Overage {
    /// The render.
    pub render: RenderId,
    /// The period that it is charged to.
    pub period: Period,
    /// How many; more than none.
    pub credits: i64,
}

/// Writes down what Stripe is to be told. Only accounts that are customers may use anything beyond their credits.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    overage: Overage,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into overage_uses (render_id, customer_id, period_starts_at, credits, used_at)
         select $2, id, $3, $4, $5 from stripe_customers where account_id = $1",
        account.0,
        overage.render.0,
        overage.period.starts_at,
        overage.credits,
        now,
    )
    .execute(db)
    .await?;
    Ok(())
}
