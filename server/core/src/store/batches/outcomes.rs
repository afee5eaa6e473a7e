//! Outcomes of the rows of batches, and their documents in the default storage.

use platen_domain::{
    batch::{ListedRows, RowState},
    ids::{AccountId, BatchId, RenderId},
};
use serde_json::Value;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::error::StoreError;

/// The outcome of a row.
#[derive(Debug)]
pub struct RowOutcome {
    pub number: i32,
    pub state: RowState,
    pub render: Option<RenderId>,
    /// Path of its delivered document in a client's bucket, also after the render was deleted.
    pub path: Option<String>,
    /// URL of its document in the default storage.
    pub document_url: Option<String>,
    /// `{code, message}`
    pub error: Option<Value>,
}

/// Returns outcomes of rows after the row `after`, in the order of the rows.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    rows: ListedRows,
    after: i32,
    at_most: i64,
    now: OffsetDateTime,
) -> Result<Vec<RowOutcome>, StoreError> {
    let rows = sqlx::query!(
        r#"select number, state, render_id, batch_rows.error, coalesce(batch_rows.path, document.path) as "path?",
            document_url as "document_url?"
         from batch_rows left join lateral (
            select case when renders.status = 'succeeded' then options #>> '{destination,path}' end as path,
                case when object_expires_at > $6 then result ->> 'mediaLink' end as document_url
            from renders where renders.account_id = $1 and renders.id = batch_rows.render_id
            -- By key: without the limit, a join could be planned as a scan of all renders.
            limit 1
         ) document on true
         where batch_rows.account_id = $1 and batch_id = $2 and number > $3 and (not $4 or state = 'failed')
         order by number limit $5"#,
        account.0,
        id.0,
        after,
        rows == ListedRows::Failed,
        at_most,
        now,
    );
    let outcomes = rows.fetch_all(db).await?.into_iter().map(|row| RowOutcome {
        number: row.number,
        state: row.state.parse().unwrap_or(RowState::Opened),
        render: row.render_id.map(RenderId),
        path: row.path,
        document_url: row.document_url,
        error: row.error,
    });
    Ok(outcomes.collect())
}

/// A row whose document is in the default storage.
#[derive(Debug)]
pub struct StoredRow {
    pub number: i32,
    pub render: RenderId,
    /// Name of the object.
    pub object: Uuid,
    pub bytes: i64,
    /// Name in the archive; `None` if it is named by its number.
    pub file_name: Option<String>,
}

/// Size of documents together.
#[derive(Debug, Clone, Copy)]
pub struct StoredSize {
    pub pages: i64,
    pub bytes: i64,
    /// Bytes of their names in the archive.
    pub name_bytes: i64,
}

/// Returns when the last document of the rows that have ended was finished, by the clock of its process.
pub async fn last_finished(db: &PgPool, account: AccountId, id: BatchId) -> Result<Option<OffsetDateTime>, StoreError> {
    let last = sqlx::query_scalar!(
        "select max(finished_at) from batch_rows join renders on renders.id = batch_rows.render_id
         where batch_rows.account_id = $1 and batch_id = $2 and batch_rows.state = 'succeeded'",
        account.0,
        id.0,
    );
    Ok(last.fetch_one(db).await?)
}

/// Returns the size of a batch's documents that were finished until `finished` and are in the default storage at `now`.
pub async fn measure_stored(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    finished: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<StoredSize, StoreError> {
    let size = sqlx::query_as!(
        StoredSize,
        r#"select coalesce(sum(page_count), 0) as "pages!", coalesce(sum(bytes), 0)::bigint as "bytes!",
               coalesce(sum(octet_length(file_name)), 0) as "name_bytes!"
           from batch_rows join renders on renders.id = batch_rows.render_id
           where batch_rows.account_id = $1 and batch_id = $2
               and status = 'succeeded' and finished_at <= $3 and object_expires_at > $4"#,
        account.0,
        id.0,
        finished,
        now,
    );
    Ok(size.fetch_one(db).await?)
}

/// Returns rows after the row `after` whose documents were finished until `finished` and are in the default storage at `now`, in the
/// order of the rows.
pub async fn list_stored(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    after: i32,
    at_most: i64,
    finished: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<Vec<StoredRow>, StoreError> {
    let rows = sqlx::query_as!(
        StoredRow,
        r#"select number, renders.id as render, object_id as "object!", bytes as "bytes!", file_name
           from batch_rows join renders on renders.id = batch_rows.render_id
           where batch_rows.account_id = $1 and batch_id = $2 and number > $3
               and status = 'succeeded' and finished_at <= $5 and object_expires_at > $6
           order by number limit $4"#,
        account.0,
        id.0,
        after,
        at_most,
        finished,
        now,
    );
    Ok(rows.fetch_all(db).await?)
}

/// Returns whether the document of the last row that has succeeded is in the default storage.
pub async fn has_stored(db: &PgPool, account: AccountId, id: BatchId, now: OffsetDateTime) -> Result<bool, StoreError> {
    let found = sqlx::query_scalar!(
        r#"select exists (
            select from (
                select render_id from batch_rows
                where account_id = $1 and batch_id = $2 and state = 'succeeded'
                order by number desc limit 1
            ) last join renders on renders.id = last.render_id
            where object_expires_at > $3
         ) as "exists!""#,
        account.0,
        id.0,
        now,
    );
    Ok(found.fetch_one(db).await?)
}
