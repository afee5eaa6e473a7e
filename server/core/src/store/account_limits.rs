//! View `account_limits`: the limits of each account, from its plan or set by an operator, and whether the account is
//! suspended.

use platen_domain::{
    ids::AccountId,
    plan::{OwnLimits, PlanLimits, StorageLimits},
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use crate::store::{error::StoreError, statement::changes_one};

/// Returns the limits of an account's requests. `None` if the account doesn't exist.
pub async fn find(db: &PgPool, id: AccountId) -> Result<Option<PlanLimits>, StoreError> {
    let row = sqlx::query!(
        r#"select concurrency as "concurrency!", rate_per_minute as "rate_per_minute!", body_bytes as "body_bytes!",
               sync_deadline_seconds as "sync_deadline_seconds!"
           from account_limits where account_id = $1"#,
        id.0,
    )
    .map(|row| {
        PlanLimits::from_columns(
            row.concurrency,
            row.rate_per_minute,
            row.body_bytes,
            row.sync_deadline_seconds,
        )
    });
    Ok(row.fetch_optional(db).await?)
}

fn storage_column(limits: &StorageLimits) -> Value {
    let members = limits
        .iter()
        .map(|(resource, limit)| (resource.into_str().to_owned(), Value::from(*limit)));
    Value::Object(members.collect())
}

/// Replaces the limits that are set for an account. Returns `false` if the account doesn't exist.
pub async fn update(db: &mut PgConnection, id: AccountId, limits: &OwnLimits) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update accounts
         set concurrency = $2, rate_per_minute = $3, body_bytes = $4, sync_deadline_seconds = $5, storage_limits = $6
         where id = $1",
        id.0,
        limits.concurrency,
        limits.rate_per_minute,
        limits.body_bytes,
        limits.sync_deadline_seconds,
        storage_column(&limits.storage),
    );
    changes_one(db, update).await
}
