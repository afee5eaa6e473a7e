//! Plans for accounts.

use platen_domain::plan::Plan;
use sqlx::PgPool;

use crate::store::{error::StoreError, plans};

/// Returns all plans, the smallest first.
pub async fn list(db: &PgPool) -> Result<Vec<Plan>, StoreError> {
    plans::list(db).await
}
