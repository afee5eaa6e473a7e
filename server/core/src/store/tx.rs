//! Transactions. A service function begins one, passes it to functions of the store, and commits it.

use sqlx::{PgPool, Postgres, Transaction};

use crate::store::error::StoreError;

/// Begins a transaction, which is rolled back unless it is committed.
pub async fn begin(db: &PgPool) -> Result<Transaction<'static, Postgres>, StoreError> {
    Ok(db.begin().await?)
}

/// Like [`begin`], for rows that are worthless once the database has crashed: the commit doesn't wait for the disk.
pub async fn begin_volatile(db: &PgPool) -> Result<Transaction<'static, Postgres>, StoreError> {
    Ok(db.begin_with("begin; set local synchronous_commit = off").await?)
}

/// Like [`begin`], for statements whose plans must not read whole tables: a plan that was made while few rows matched is kept
/// when there are many.
pub async fn begin_by_index(db: &PgPool) -> Result<Transaction<'static, Postgres>, StoreError> {
    let begin = "begin; set local enable_seqscan = off; set local enable_bitmapscan = off";
    Ok(db.begin_with(begin).await?)
}

/// Like [`begin`], but a statement that waits a second for a lock fails ([`StoreError::is_lock_timeout`]).
pub async fn begin_impatient(db: &PgPool) -> Result<Transaction<'static, Postgres>, StoreError> {
    Ok(db.begin_with("begin; set local lock_timeout = '1s'").await?)
}

pub async fn commit(transaction: Transaction<'static, Postgres>) -> Result<(), StoreError> {
    Ok(transaction.commit().await?)
}
