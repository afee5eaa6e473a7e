//! Storage use of accounts, and the limits of their plans.

use platen_domain::{ids::AccountId, storage::StorageUse};
use sqlx::PgPool;

use crate::store::{account_storage, error::StoreError};

/// Returns the use of every resource by an account, in the dashboard's order.
pub async fn list(db: &PgPool, account: AccountId) -> Result<Vec<StorageUse>, StoreError> {
    Ok(account_storage::find(db, account).await?.uses().collect())
}
