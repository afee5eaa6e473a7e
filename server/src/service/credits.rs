//! Credits: what an account may spend, and what it has spent.

use sqlx::{Connection, PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    domain::{
        credits::{Balance, Period},
        csv,
        ids::AccountId,
    },
    store::{
        credits,
        error::StoreError,
        usage::{self, PeriodUsage},
    },
};

/// The head of the file that [`rows`] fills; the words are the API's.
pub const COLUMNS: [&str; 4] = ["day", "meter", "livemode", "credits"];

/// What an account has used in the period around `now`.
pub async fn usage(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<PeriodUsage, StoreError> {
    if let Some(usage) = usage::find(db, account, now).await? {
        return Ok(usage);
    }
    make_period(&mut *db.acquire().await?, account, now).await?;
    let usage = usage::find(db, account, now).await?;
    Ok(usage.ok_or(sqlx::Error::RowNotFound)?)
}

/// The same as rows of a file, the oldest day first.
pub async fn rows(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<String, StoreError> {
    let days = usage(db, account, now).await?.days;
    let rows = days.iter().map(|used| {
        let [day, livemode, credits] =
            [&used.day as &dyn ToString, &used.livemode, &used.credits].map(ToString::to_string);
        csv::row(&[&day, &used.meter, &livemode, &credits])
    });
    Ok(rows.collect())
}

/// Makes the row of the period around `now`, in a transaction, or a part of the one that is under way.
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
    insert_period(transaction, account, now).await?;
    let balance = credits::lock(transaction, account, now).await?;
    Ok(balance.ok_or(sqlx::Error::RowNotFound)?)
}
