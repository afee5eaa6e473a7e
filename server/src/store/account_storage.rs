//! Table `account_storage`: what each account stores, by resource. Triggers count, in the transactions that change rows, and
//! refuse what would pass a limit ([`full`]).

use std::error::Error;

use platen_app::model::storage::{StorageFull, StorageResource, StorageUse};
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor, postgres::PgDatabaseError};

use crate::{domain::ids::AccountId, store::error::StoreError};

/// What the names of the constraints begin with that a refusal violates.
const CONSTRAINT: &str = "account_storage_";

/// What an account stores, and may store.
#[derive(Debug)]
pub struct AccountStorage {
    pub(super) used: Value,
    pub(super) limits: Value,
}

impl AccountStorage {
    /// Every resource, in the order of the dashboard.
    pub fn uses(&self) -> impl Iterator<Item = StorageUse> {
        StorageResource::ALL.into_iter().map(|resource| self.of(resource))
    }

    /// Refuses so much more of a resource. Only a transaction that has [`lock`]ed the row can rely on the answer.
    pub fn room_for(&self, resource: StorageResource, more: usize) -> Result<(), StorageFull> {
        let StorageUse { used, limit, .. } = self.of(resource);
        if used.saturating_add(i64::try_from(more).unwrap_or(i64::MAX)) > limit {
            return Err(StorageFull { resource, used, limit });
        }
        Ok(())
    }

    fn of(&self, resource: StorageResource) -> StorageUse {
        let number = |column: &Value| column[resource.name()].as_i64();
        StorageUse {
            resource,
            used: number(&self.used).unwrap_or_default(),
            limit: number(&self.limits).unwrap_or(i64::MAX),
        }
    }
}

/// What an account stores at this moment. An account that is gone stores nothing and may.
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

/// As [`find`], and keeps others from storing anything for the account until the transaction ends. The last lock that a
/// transaction takes. Does not see what the transaction itself stores.
pub async fn lock(db: &mut PgConnection, account: AccountId) -> Result<AccountStorage, StoreError> {
    sqlx::query!(
        "select account_id from account_storage where account_id = $1 for no key update",
        account.0
    )
    .fetch_optional(&mut *db)
    .await?;
    find(db, account).await
}

/// The limit that refused a statement or a commit, if that is the reason of an error, or of what caused it.
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
        resource: StorageResource::from_name(name)?,
        used: used.parse().ok()?,
        limit: limit.parse().ok()?,
    })
}
