//! View `account_limits`: the limits of each account, from its plan or set by an operator, and whether the account is
//! suspended.

use std::{collections::BTreeMap, fmt};

use platen_domain::{ids::AccountId, plan::PlanLimits, storage::StorageResource};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};

use crate::store::error::StoreError;

/// Returns the limits of an account's requests. `None` if the account doesn't exist.
pub async fn find(db: &PgPool, id: AccountId) -> Result<Option<PlanLimits>, StoreError> {
    let row = sqlx::query!(
        r#"select concurrency as "concurrency!", rate_per_minute as "rate_per_minute!", body_bytes as "body_bytes!",
               sync_deadline_seconds as "sync_deadline_seconds!"
           from account_limits where account_id = $1"#,
        id.0,
    );
    let row = row.fetch_optional(db).await?;
    Ok(row.map(|row| {
        PlanLimits::from_columns(
            row.concurrency,
            row.rate_per_minute,
            row.body_bytes,
            row.sync_deadline_seconds,
        )
    }))
}

/// Limits that an operator has set for one account. `None` means that the plan's limit applies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnLimits {
    /// Renders that may run or wait at once.
    pub concurrency: Option<i32>,
    /// Requests per minute.
    pub rate_per_minute: Option<i32>,
    /// Maximum size of a request body, in bytes.
    pub body_bytes: Option<i32>,
    /// Maximum duration of a synchronous render, in seconds.
    pub sync_deadline_seconds: Option<i32>,
    /// Limits of stored resources; a missing resource has the plan's limit.
    pub storage: StorageLimits,
}

/// Storage limits by resource: bytes or rows, see [`StorageResource`].
pub type StorageLimits = BTreeMap<StorageResource, i64>;

/// Used in logs.
impl fmt::Display for OwnLimits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = [
            (self.concurrency, "at a time"),
            (self.rate_per_minute, "requests a minute"),
            (self.body_bytes, "bytes a request"),
            (self.sync_deadline_seconds, "seconds a render"),
        ];
        let set = limits
            .into_iter()
            .filter_map(|(limit, unit)| Some(format!("{} {unit}", limit?)));
        let stored = self.storage.iter();
        let set = set.chain(stored.map(|(resource, limit)| format!("{} {limit}", resource.name())));
        let set = set.collect::<Vec<_>>().join(", ");
        formatter.write_str(if set.is_empty() { "the plan's" } else { &set })
    }
}

fn storage_column(limits: &StorageLimits) -> Value {
    let members = limits
        .iter()
        .map(|(resource, limit)| (resource.name().to_owned(), Value::from(*limit)));
    Value::Object(members.collect())
}

/// Reads a column written by [`update`]. Resources that this build doesn't know are ignored.
pub(super) fn read_storage(column: &Value) -> StorageLimits {
    let members = column.as_object().into_iter().flatten();
    let limits = members.filter_map(|(name, limit)| Some((StorageResource::from_name(name)?, limit.as_i64()?)));
    limits.collect()
}

/// Replaces the limits that are set for an account. Returns `false` if the account doesn't exist.
pub async fn update(db: &mut PgConnection, id: AccountId, limits: &OwnLimits) -> Result<bool, StoreError> {
    let done = sqlx::query!(
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
    Ok(done.execute(db).await?.rows_affected() == 1)
}
