//! Credits: what an account may spend, and what it has spent.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        credits::{Balance, Period},
        ids::AccountId,
    },
    service::accounts::{PlanChoice, UnknownPlan, known_plan},
    store::{
        accounts, credits,
        error::StoreError,
        tx,
        usage::{self, PeriodUsage},
    },
};

/// What an account has used in the period around `now`.
pub async fn usage(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<PeriodUsage, StoreError> {
    if let Some(usage) = usage::find(db, account, now).await? {
        return Ok(usage);
    }
    let mut transaction = tx::begin(db).await?;
    lock_balance(&mut transaction, account, now).await?;
    tx::commit(transaction).await?;
    let usage = usage::find(db, account, now).await?;
    Ok(usage.ok_or(sqlx::Error::RowNotFound)?)
}

/// Why an account keeps its plan.
#[derive(Debug, thiserror::Error)]
pub enum SetPlanError {
    /// There is no such plan.
    #[error(transparent)]
    UnknownPlan(#[from] UnknownPlan),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Gives an account another plan, its credits from the current period on. Credits that are used up stay.
pub async fn set_plan(
    db: &PgPool,
    account: AccountId,
    choice: &PlanChoice,
    now: OffsetDateTime,
) -> Result<(), SetPlanError> {
    let mut transaction = tx::begin(db).await?;
    let plan = known_plan(&mut transaction, &choice.plan).await??;
    accounts::update_plan(&mut transaction, account, &plan, choice.credits).await?;
    let balance = lock_balance(&mut transaction, account, now).await?;
    credits::update_allowance(&mut transaction, account, balance.period).await?;
    Ok(tx::commit(transaction).await?)
}

/// Adds credits to the account's current period.
pub async fn grant(db: &PgPool, account: AccountId, credits: i64, now: OffsetDateTime) -> Result<(), StoreError> {
    let mut transaction = tx::begin(db).await?;
    let balance = lock_balance(&mut transaction, account, now).await?;
    credits::grant(&mut transaction, account, balance.period, credits).await?;
    tx::commit(transaction).await
}

/// The account's credits in the period around `now`, locked until the transaction ends. The first who asks in a period
/// makes its row.
pub(super) async fn lock_balance(
    transaction: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Balance, StoreError> {
    if let Some(balance) = credits::lock(transaction, account, now).await? {
        return Ok(balance);
    }
    let anchor = credits::lock_anchor(transaction, account).await?;
    credits::insert_period(transaction, account, Period::around(anchor, now)).await?;
    let balance = credits::lock(transaction, account, now).await?;
    Ok(balance.ok_or(sqlx::Error::RowNotFound)?)
}
