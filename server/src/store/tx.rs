//! Transactions. A service function opens one, hands it to the store's functions and commits it.

use sqlx::{PgPool, Postgres, Transaction};

use crate::store::error::StoreError;

/// Begins a transaction; it is rolled back unless it is committed.
pub async fn begin(db: &PgPool) -> Result<Transaction<'static, Postgres>, StoreError> {
    Ok(db.begin().await?)
}

/// As [`begin`], for rows that are worth nothing once the database has crashed: committing does not wait for the disk.
pub async fn begin_volatile(db: &PgPool) -> Result<Transaction<'static, Postgres>, StoreError> {
    Ok(db.begin_with("begin; set local synchronous_commit = off").await?)
}

/// Makes its changes permanent.
pub async fn commit(transaction: Transaction<'static, Postgres>) -> Result<(), StoreError> {
    Ok(transaction.commit().await?)
}
