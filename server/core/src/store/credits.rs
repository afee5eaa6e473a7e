//! Table `credit_periods`: credits and usage of each account by month. The transaction that locks a period's row
//! decides about its credits.

use platen_domain::{
    credits::{Balance, Period},
    ids::AccountId,
};
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::execute};

/// Locks the period around `now` and returns its balance. `None` if the period has no row yet; [`insert_period`]
/// inserts it.
pub async fn lock(
    db: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Option<Balance>, StoreError> {
    // Not `for update`, because rows of `usage_days` refer to it.
    let row = sqlx::query!(
        r#"select starts_at, ends_at, allowance + granted + bought as "own!", overage_limit, used, overage_used
         from credit_periods
         where account_id = $1 and starts_at <= $2 and ends_at > $2
         for no key update"#,
        account.0,
        now,
    )
    .map(|row| Balance {
        period: Period {
            starts_at: row.starts_at,
            ends_at: row.ends_at,
        },
        own: row.own,
        overage_limit: row.overage_limit,
        used: row.used,
        overage_used: row.overage_used,
    });
    Ok(row.fetch_optional(db).await?)
}

/// Returns the time from which an account's periods are counted. Locks the account's row, so that its plan doesn't
/// change.
pub async fn lock_anchor(db: &mut PgConnection, account: AccountId) -> Result<OffsetDateTime, StoreError> {
    let anchor = sqlx::query_scalar!(
        "select period_anchor from accounts where id = $1 for no key update",
        account.0,
    );
    Ok(anchor.fetch_one(db).await?)
}

/// Inserts a period with the credits of the account's plan, unless it exists. Bought credits that are left move to it
/// from the previous period: they are used last. Requires [`lock_anchor`].
pub async fn insert_period(db: &mut PgConnection, account: AccountId, period: Period) -> Result<(), StoreError> {
    let statement = sqlx::query!(
        "with former as (
             select starts_at, least(bought, allowance + granted + bought - used + overage_used) as rest
             from credit_periods
             where account_id = $1 and starts_at < $2
             order by starts_at desc limit 1
             for no key update
         ), made as (
             insert into credit_periods (account_id, starts_at, ends_at, allowance, bought, overage_limit)
             select accounts.id, $2, $3, coalesce(accounts.credits, plans.credits),
                 coalesce((select rest from former), 0), accounts.overage_limit
             from accounts join plans on plans.name = accounts.plan
             where accounts.id = $1
             on conflict (account_id, starts_at) do nothing
             returning bought
         )
         update credit_periods set bought = credit_periods.bought - made.bought
         from former, made
         where account_id = $1 and credit_periods.starts_at = former.starts_at and made.bought > 0",
        account.0,
        period.starts_at,
        period.ends_at,
    );
    execute(db, statement).await
}

/// Sets the allowance of a locked period to that of the account's current plan. Used credits are never taken away, nor
/// are granted or bought ones.
pub async fn update_allowance(db: &mut PgConnection, account: AccountId, period: Period) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update credit_periods
         set allowance = greatest(coalesce(accounts.credits, plans.credits), least(allowance, used - overage_used - granted))
         from accounts join plans on plans.name = accounts.plan
         where accounts.id = $1 and account_id = $1 and starts_at = $2",
        account.0,
        period.starts_at,
    );
    execute(db, update).await
}

/// Returns the overage limit of an account. Locks the account's row, like [`lock_anchor`].
pub async fn lock_overage_limit(db: &mut PgConnection, account: AccountId) -> Result<i64, StoreError> {
    let limit = sqlx::query_scalar!(
        "select overage_limit from accounts where id = $1 for no key update",
        account.0,
    );
    Ok(limit.fetch_one(db).await?)
}

/// Sets the overage limit of a locked period and of all later ones. Overage that has been used remains.
pub async fn update_overage_limit(
    db: &mut PgConnection,
    account: AccountId,
    period: Period,
    limit: i64,
) -> Result<(), StoreError> {
    sqlx::query!("update accounts set overage_limit = $2 where id = $1", account.0, limit)
        .execute(&mut *db)
        .await?;
    let update = sqlx::query!(
        "update credit_periods set overage_limit = greatest($3, overage_used) where account_id = $1 and starts_at = $2",
        account.0,
        period.starts_at,
        limit,
    );
    execute(db, update).await
}

/// Adds granted credits to a period.
pub async fn grant(db: &mut PgConnection, account: AccountId, period: Period, credits: i64) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update credit_periods set granted = granted + $3 where account_id = $1 and starts_at = $2",
        account.0,
        period.starts_at,
        credits,
    );
    execute(db, update).await
}

/// Sets the time from which an account's periods are counted.
pub async fn update_anchor(
    db: &mut PgConnection,
    account: AccountId,
    anchor: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update accounts set period_anchor = $2 where id = $1",
        account.0,
        anchor
    );
    execute(db, update).await
}

/// Changes the end of a locked period.
pub async fn update_end(
    db: &mut PgConnection,
    account: AccountId,
    period: Period,
    ends_at: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update credit_periods set ends_at = $3 where account_id = $1 and starts_at = $2",
        account.0,
        period.starts_at,
        ends_at,
    );
    execute(db, update).await
}

/// Adds bought credits to a period.
pub async fn add_bought(
    db: &mut PgConnection,
    account: AccountId,
    period: Period,
    credits: i64,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update credit_periods set bought = bought + $3 where account_id = $1 and starts_at = $2",
        account.0,
        period.starts_at,
        credits,
    );
    execute(db, update).await
}

/// Takes up to `credits` bought credits back from a locked period, but none that are used, and none of the `reserved`
/// ones. Returns how many were taken.
pub async fn take_bought(
    db: &mut PgConnection,
    account: AccountId,
    period: Period,
    credits: i64,
    reserved: i64,
) -> Result<i64, StoreError> {
    let taken = sqlx::query_scalar!(
        r#"with takes as (
               select starts_at, greatest(0, least($3, bought, allowance + granted + bought - used + overage_used - $4)) as credits
               from credit_periods
               where account_id = $1 and starts_at = $2
           )
           update credit_periods set bought = bought - takes.credits
           from takes
           where account_id = $1 and credit_periods.starts_at = takes.starts_at
           returning takes.credits as "credits!""#,
        account.0,
        period.starts_at,
        credits,
        reserved,
    );
    Ok(taken.fetch_one(db).await?)
}
