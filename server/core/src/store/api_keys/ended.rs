//! Deletion of keys that were revoked or have expired.

use platen_domain::ids::AccountId;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{count_changes, execute},
};

/// Deletes keys of all accounts that were revoked or expired longer ago than the retention of their plans, and that no
/// render and no batch refers to any more. Deletes up to `at_most` keys and returns how many.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    let delete = sqlx::query!(
        "delete from api_keys where id in (
            select api_keys.id
            from api_keys
            join accounts on accounts.id = api_keys.account_id
            join plans on plans.name = accounts.plan
            where least(api_keys.revoked_at, api_keys.expires_at)
                    < $1::timestamptz - plans.retention_days * interval '1 day'
                and not exists (select from renders where renders.api_key_id = api_keys.id)
                and not exists (select from batches where batches.api_key_id = api_keys.id)
            limit $2
            for update of api_keys skip locked
         )",
        now,
        at_most,
    );
    count_changes(db, delete).await
}

/// Deletes an account's oldest ended keys that no render and no batch refers to, except for the newest `keep`. An account that
/// constantly creates and revokes keys therefore can't fill the table before their retention ends.
pub async fn delete_surplus(
    db: &mut PgConnection,
    account: AccountId,
    now: OffsetDateTime,
    keep: i64,
) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from api_keys where id in (
            select id from api_keys
            where account_id = $1 and least(revoked_at, expires_at) <= $2
                and not exists (select from renders where renders.api_key_id = api_keys.id)
                and not exists (select from batches where batches.api_key_id = api_keys.id)
            order by id desc
            offset $3
         )",
        account.0,
        now,
        keep,
    );
    execute(db, delete).await
}
