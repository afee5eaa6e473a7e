//! Credits of accounts: balances, and usage by period.

use platen_domain::{
    credits::{Balance, Period},
    csv,
    ids::AccountId,
};
use sqlx::{Connection, PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{
    credits,
    error::StoreError,
    usage::{self, PeriodUsage},
};

/// Header row of the CSV file of [`rows`], with the API's names.
pub const COLUMNS: [&str; 4] = ["day", "meter", "livemode", "credits"];

/// Returns the credits that an account used in the period that contains `now`.
pub async fn usage(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<PeriodUsage, StoreError> {
    if let Some(usage) = usage::find(db, account, now).await? {
        return Ok(usage);
    }
    make_period(&mut *db.acquire().await?, account, now).await?;
    let usage = usage::find(db, account, now).await?;
    Ok(usage.ok_or(sqlx::Error::RowNotFound)?)
}

/// Returns [`usage()`] as rows of a CSV file, the earliest day first.
pub async fn rows(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<String, StoreError> {
    let days = usage(db, account, now).await?.days;
    let rows = days.iter().map(|used| {
        let [day, livemode, credits] =
            [&used.day as &dyn ToString, &used.livemode, &used.credits].map(ToString::to_string);
        csv::row(&[&day, &used.meter, &livemode, &credits])
    });
    Ok(rows.collect())
}

/// Creates the row of the period that contains `now`, in a transaction, or in a savepoint of the caller's.
pub(super) async fn make_period(
    db: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let mut transaction = db.begin().await?;
    insert_period(&mut transaction, account, now).await?;
    Ok(transaction.commit().await?)
}

async fn insert_period(
    transaction: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let anchor = credits::lock_anchor(transaction, account).await?;
    credits::insert_period(transaction, account, Period::around(anchor, now)).await
}

/// Locks and returns the account's balance in the period that contains `now`, and creates the period's row if it is
/// missing. The lock lasts until the transaction ends.
pub(super) async fn lock_balance(
    transaction: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Balance, StoreError> {
    if let Some(balance) = credits::lock(transaction, account, now).await? {
        return Ok(balance);
    }
    insert_period(transaction, account, now).await?;
    let balance = credits::lock(transaction, account, now).await?;
    Ok(balance.ok_or(sqlx::Error::RowNotFound)?)
}
