//! What goes of templates once the plan's retention is over: versions that were never published, and deleted templates.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{error::StoreError, template_versions, templates};

/// Rows deleted by one statement, so that nobody waits long for their locks.
const BATCH: i64 = 200;

/// Deletes, of all accounts, what is older than their plans' retention. The newest version of a template stays, since it is
/// what its editor opens; a deleted template stays as long as a render that may name one of its versions.
pub async fn purge(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    while template_versions::delete_unpublished(db, now, BATCH).await? > 0 {}
    while templates::delete_ended(db, now, BATCH).await? > 0 {}
    Ok(())
}
