//! Table `accessibility_reports`: encrypted accessibility reports of renders.

use platen_domain::ids::{AccountId, RenderId};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{error::StoreError, statement::count_changes};

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

/// Deletes reports of all accounts whose renders were accepted longer ago than the retention of their plans; the row of a
/// render may remain for its document. Deletes up to `at_most` reports and returns how many.
pub async fn delete_old(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    let delete = sqlx::query!(
        "delete from accessibility_reports where render_id in (
            select old.render_id
            from accounts
            join plans on plans.name = accounts.plan
            cross join lateral (
                select accessibility_reports.render_id
                from renders join accessibility_reports on accessibility_reports.render_id = renders.id
                where renders.account_id = accounts.id
                    and renders.inserted_at < $1::timestamptz - plans.retention_days * interval '1 day'
                limit $2
            ) old
            limit $2
         )",
        now,
        at_most,
    );
    count_changes(db, delete).await
}

/// Deletes the reports of an account's renders that were accepted up to `before`. Deletes up to `at_most` reports and
/// returns how many.
pub async fn delete_of_account(
    db: &PgPool,
    account: AccountId,
    before: OffsetDateTime,
    at_most: i64,
) -> Result<u64, StoreError> {
    let delete = sqlx::query!(
        "delete from accessibility_reports where render_id in (
            select accessibility_reports.render_id
            from accessibility_reports join renders on renders.id = accessibility_reports.render_id
            where accessibility_reports.account_id = $1 and renders.inserted_at <= $2
            limit $3
         )",
        account.0,
        before,
        at_most,
    );
    count_changes(db, delete).await
}
