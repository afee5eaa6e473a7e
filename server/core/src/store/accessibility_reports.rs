//! Table `accessibility_reports`: encrypted accessibility reports of renders.

use platen_domain::ids::{AccountId, RenderId};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{delete_content_of_account, delete_old_content},
};

/// Stores encrypted reports of an account's renders, as far as the account stores content and has room.
pub async fn insert(db: &PgPool, account: AccountId, reports: Vec<(RenderId, Vec<u8>)>) -> Result<(), StoreError> {
    let (ids, sealed): (Vec<_>, Vec<_>) = reports.into_iter().map(|(render, sealed)| (render.0, sealed)).unzip();
    let insert = sqlx::query!(
        "select store_accessibility_reports($1, $2, $3)",
        account.0,
        &ids,
        &sealed
    );
    insert.fetch_one(db).await?;
    Ok(())
}

/// Returns the encrypted report of an account's render.
pub async fn find(db: &PgPool, account: AccountId, render: RenderId) -> Result<Option<Vec<u8>>, StoreError> {
    let sealed = sqlx::query_scalar!(
        "select sealed from accessibility_reports where account_id = $1 and render_id = $2",
        account.0,
        render.0,
    );
    Ok(sealed.fetch_optional(db).await?)
}

/// Deletes reports of all accounts that are past the retention of their plans, up to `at_most` renders, and returns the
/// number of deleted ones. The row of a render may remain for its document.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    delete_old_content!(db, "accessibility_reports", now, at_most)
}

/// Deletes the reports of an account's ended renders that were accepted up to `before`, up to `at_most` renders, and
/// returns the number of deleted ones.
pub async fn delete_of_account(
    db: &PgPool,
    account: AccountId,
    before: OffsetDateTime,
    at_most: i64,
) -> Result<u64, StoreError> {
    delete_content_of_account!(db, "accessibility_reports", account, before, at_most)
}
