//! Table `credit_periods`: what each account may spend in a month, and has spent. Who locks a period's row decides about
//! its credits until the transaction ends.

use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::{
    domain::{
        credits::{Balance, Period},
        ids::AccountId,
    },
    store::error::StoreError,
};

/// The credits of the period around `now`, its row locked. `None`: there is no row yet; [`insert_period`] makes it.
pub async fn lock(
    db: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Option<Balance>, StoreError> {
    // Not `for update`: rows of `usage_days` refer to it.
    let row = sqlx::query!(
        r#"select starts_at, ends_at, allowance + granted as "total!", used
         from credit_periods
         where account_id = $1 and starts_at <= $2 and ends_at > $2
         for no key update"#,
        account.0,
        now,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Balance {
        period: Period {
            starts_at: row.starts_at,
            ends_at: row.ends_at,
        },
        total: row.total,
        used: row.used,
    }))
}

/// From when on an account's periods are counted. Its row is locked, so that its plan stays as it is meanwhile.
pub async fn lock_anchor(db: &mut PgConnection, account: AccountId) -> Result<OffsetDateTime, StoreError> {
    let anchor = sqlx::query_scalar!(
        "select period_anchor from accounts where id = $1 for no key update",
        account.0,
    );
    Ok(anchor.fetch_one(db).await?)
}

/// Adds a period with the credits that the account's plan brings, unless it is there already.
pub async fn insert_period(db: &mut PgConnection, account: AccountId, period: Period) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into credit_periods (account_id, starts_at, ends_at, allowance)
         select accounts.id, $2, $3, coalesce(accounts.credits, plans.credits)
         from accounts join plans on plans.name = accounts.plan
         where accounts.id = $1
         on conflict (account_id, starts_at) do nothing",
        account.0,
        period.starts_at,
        period.ends_at,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Gives a period that is locked the credits that the account's plan brings now; of those that are used up none is taken
/// away.
pub async fn update_allowance(db: &mut PgConnection, account: AccountId, period: Period) -> Result<(), StoreError> {
    sqlx::query!(
        "update credit_periods
         set allowance = greatest(coalesce(accounts.credits, plans.credits), used - granted)
         from accounts join plans on plans.name = accounts.plan
         where accounts.id = $1 and account_id = $1 and starts_at = $2",
        account.0,
        period.starts_at,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Adds credits to a period.
pub async fn grant(db: &mut PgConnection, account: AccountId, period: Period, credits: i64) -> Result<(), StoreError> {
    sqlx::query!(
        "update credit_periods set granted = granted + $3 where account_id = $1 and starts_at = $2",
        account.0,
        period.starts_at,
        credits,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Takes credits off a period that is locked and has them.
pub async fn charge(db: &mut PgConnection, account: AccountId, period: Period, credits: i64) -> Result<(), StoreError> {
    sqlx::query!(
        "update credit_periods set used = used + $3 where account_id = $1 and starts_at = $2",
        account.0,
        period.starts_at,
        credits,
    )
    .execute(db)
    .await?;
    Ok(())
}
