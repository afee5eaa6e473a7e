//! Plans for accounts.

use sqlx::PgPool;

use crate::store::{
    error::StoreError,
    plans::{self, Plan},
};

/// Returns all plans, the smallest first.
pub async fn list(db: &PgPool) -> Result<Vec<Plan>, StoreError> {
    plans::list(db).await
}
