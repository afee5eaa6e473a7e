//! Deletion of unpublished versions and deleted templates after the plan's retention.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{error::StoreError, template_versions, templates};

/// Rows that one statement deletes, so that it doesn't hold locks for long.
const BATCH: i64 = 200;

/// Deletes unpublished versions and deleted templates of all accounts past their plans' retention. The newest version
/// of a template remains, because the editor opens it; a deleted template remains while a render may refer to one of
/// its versions.
pub async fn purge(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    while template_versions::delete_unpublished(db, now, BATCH).await? > 0 {}
    while templates::delete_ended(db, now, BATCH).await? > 0 {}
    Ok(())
}
