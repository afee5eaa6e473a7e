//! Tables `key_credit_counters` and `key_credit_usage`: credits of keys that have a limit. Database functions count them:
//! `migrations/20261125000046_key_credit_limits.sql`.

use platen_domain::{
    credits::Period,
    ids::{AccountId, ApiKeyId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::store::{error::StoreError, statement::execute};

/// The counter of a key and of those that it has replaced.
#[derive(Debug, Clone, Copy)]
pub struct CreditCounter(pub(in crate::store) Uuid);

/// Inserts a counter for a key that has none.
pub async fn insert(db: &mut PgConnection, account: AccountId) -> Result<CreditCounter, StoreError> {
    let counter = CreditCounter(Uuid::now_v7());
    let insert = sqlx::query!(
        "insert into key_credit_counters (id, account_id) values ($1, $2)",
        counter.0,
        account.0,
    );
    execute(db, insert).await?;
    Ok(counter)
}

/// Counts the credits that were charged in a locked period while the key had no limit. Renders that have been deleted
/// since are not counted.
pub async fn count_earlier(
    db: &mut PgConnection,
    account: AccountId,
    key: ApiKeyId,
    counter: CreditCounter,
    period: Period,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into key_credit_usage (counter_id, account_id, period_starts_at, used)
         select $3, $1, $4, coalesce(sum(credits), 0)
         from renders
         where account_id = $1 and livemode and status = 'succeeded' and finished_at >= $4 and finished_at < $5
            and api_key_id in (select id from api_keys where account_id = $1 and (id = $2 or credit_counter_id = $3))
         on conflict (counter_id, period_starts_at)
         do update set used = greatest(key_credit_usage.used, excluded.used)",
        account.0,
        key.0,
        counter.0,
        period.starts_at,
        period.ends_at,
    );
    execute(db, insert).await
}
