//! What accounts store, beside the limits of their plans.

use platen_app::model::storage::StorageUse;
use sqlx::PgPool;

use crate::{
    domain::ids::AccountId,
    store::{account_storage, error::StoreError},
};

/// Every resource of an account, in the order of the dashboard.
pub async fn list(db: &PgPool, account: AccountId) -> Result<Vec<StorageUse>, StoreError> {
    Ok(account_storage::find(db, account).await?.uses().collect())
}
