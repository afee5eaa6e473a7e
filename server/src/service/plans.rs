//! What is on offer.

use sqlx::PgPool;

use crate::store::{
    error::StoreError,
    plans::{self, Plan},
};

/// All plans, the smallest first.
pub async fn list(db: &PgPool) -> Result<Vec<Plan>, StoreError> {
    plans::list(db).await
}
