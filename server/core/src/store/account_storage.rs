//! Table `account_storage`: what each account stores, by resource. Triggers count in the transactions that change rows,
//! and reject changes that would exceed a limit ([`full`]).

use std::error::Error;

use platen_domain::{
    ids::AccountId,
    storage::{StorageFull, StorageResource, StorageUse},
};
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor, postgres::PgDatabaseError};

use crate::store::error::StoreError;

/// Prefix of the constraint names that a rejection reports.
const CONSTRAINT: &str = "account_storage_";

/// Storage usage and limits of an account.
#[derive(Debug, Clone)]
pub struct AccountStorage {
    pub(super) used: Value,
    pub(super) limits: Value,
}

impl AccountStorage {
    /// Returns the usage of every resource, in the order of the dashboard.
    pub fn uses(&self) -> impl Iterator<Item = StorageUse> {
        StorageResource::ALL.into_iter().map(|resource| self.of(resource))
    }

    /// Checks that `more` of a resource fits within the limit. The result is reliable only in a transaction that has
    /// called [`lock`].
    pub fn room_for(&self, resource: StorageResource, more: usize) -> Result<(), StorageFull> {
        let StorageUse { used, limit, .. } = self.of(resource);
        if used.saturating_add(i64::try_from(more).unwrap_or(i64::MAX)) > limit {
            return Err(StorageFull { resource, used, limit });
        }
        Ok(())
    }

    /// Returns the usage of a resource.
    pub fn of(&self, resource: StorageResource) -> StorageUse {
        let number = |column: &Value| column[resource.into_str()].as_i64();
        StorageUse {
            resource,
            used: number(&self.used).unwrap_or_default(),
            limit: number(&self.limits).unwrap_or(i64::MAX),
        }
    }
}

/// Returns an account's current usage and limits. An account that doesn't exist has no usage and no limits.
pub async fn find(db: impl PgExecutor<'_>, account: AccountId) -> Result<AccountStorage, StoreError> {
    let storage = sqlx::query_as!(
        AccountStorage,
        r#"select used, storage_limits as "limits!"
           from account_storage join account_limits using (account_id)
           where account_id = $1"#,
        account.0,
    );
    let storage = storage.fetch_optional(db).await?;
    Ok(storage.unwrap_or(AccountStorage {
        used: Value::Null,
        limits: Value::Null,
    }))
}

/// Like [`find`], but prevents other transactions from storing anything for the account until this one ends. Must be
/// the last lock that a transaction takes. The result doesn't include what the transaction itself stores.
pub async fn lock(db: &mut PgConnection, account: AccountId) -> Result<AccountStorage, StoreError> {
    sqlx::query!(
        "select account_id from account_storage where account_id = $1 for no key update",
        account.0
    )
    .fetch_optional(&mut *db)
    .await?;
    find(db, account).await
}

/// Returns the exceeded limit if `error`, or any of its sources, is the rejection of a statement or commit by a storage
/// limit.
pub fn full(error: &(dyn Error + 'static)) -> Option<StorageFull> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(full) = error.downcast_ref::<StorageFull>() {
            return Some(*full);
        }
        if let Some(sqlx::Error::Database(refusal)) = error.downcast_ref() {
            return refused(refusal.try_downcast_ref()?);
        }
        cause = error.source();
    }
    None
}

fn refused(refusal: &PgDatabaseError) -> Option<StorageFull> {
    let name = refusal.constraint()?.strip_prefix(CONSTRAINT)?;
    let (limit, used) = refusal.detail()?.split_once(' ')?;
    Some(StorageFull {
        resource: name.parse().ok()?,
        used: used.parse().ok()?,
        limit: limit.parse().ok()?,
    })
}
