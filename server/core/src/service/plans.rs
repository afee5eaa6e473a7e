//! Plans for accounts.

use platen_domain::{ids::AccountId, plan::Plan};
use sqlx::PgPool;

use crate::store::{error::StoreError, plans};

/// Returns all plans, the smallest first.
pub async fn list(db: &PgPool) -> Result<Vec<Plan>, StoreError> {
    plans::list(db).await
}

/// Returns the days for which an account's plan retains renders; 0 if the account doesn't exist.
pub async fn retention_days(db: &PgPool, account: AccountId) -> Result<i32, StoreError> {
    Ok(plans::find_retention(db, account).await?.unwrap_or_default())
}
