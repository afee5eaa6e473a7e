//! Table `batch_rows`: opens rows, and records how their renders have ended.

use platen_domain::{
    batch::{BatchState, Hold, WINDOW, columns::ColumnMapping},
    ids::{AccountId, ApiKeyId, BatchId, RenderId},
};
use serde_json::Value;
use sqlx::{PgConnection, PgPool, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    batches::SealedBatch,
    error::StoreError,
    renders::columns::storable,
    statement::{changes_one, count_changes, execute},
    tx,
};

/// More rows than are open at once.
const MOST_OPEN: usize = 2 * WINDOW;

/// A row that is opened, or can't be.
#[derive(Debug, Clone)]
pub struct OpenedRow {
    pub number: i32,
    /// Its render; or why there is none.
    pub outcome: Result<RenderId, Value>,
    /// SHA-256 of its path in a client's bucket, or of its file name in lower case.
    pub path_sha256: Option<Vec<u8>>,
    /// Name of its document in the archive.
    pub file_name: Option<String>,
}

/// A batch that a worker advances.
#[derive(Debug)]
pub struct Work {
    pub state: BatchState,
    pub key: Option<ApiKeyId>,
    /// Whether the key, if there is one, is still valid.
    pub is_key_valid: bool,
    pub livemode: bool,
    pub rows: i32,
    pub opened: i32,
    /// Number of unfinished renders.
    pub unfinished: i64,
    /// When the newest of them was queued.
    pub last_queued_at: Option<OffsetDateTime>,
    /// Why renders of the batch are held, or were before they were resumed.
    pub holds: Vec<Hold>,
    /// Rows that wait to be opened again, the first of them.
    pub again: Vec<i32>,
    /// Members of the data that columns of the rows become.
    pub columns: ColumnMapping,
    /// Pattern of the names of documents in their archive.
    pub file_names: Option<String>,
    pub request: SealedBatch,
}

impl Work {
    /// Whether nothing but the renders of opened rows is left to do.
    pub fn only_awaits_renders(&self) -> bool {
        self.unfinished > 0 && self.has_no_more_rows()
    }

    /// Whether all rows are opened, and none waits to be opened again.
    pub fn has_no_more_rows(&self) -> bool {
        self.opened == self.rows && self.again.is_empty()
    }
}

/// Records the outcomes of the batch's renders that have ended, with the paths of their documents, and counts them.
pub async fn settle(db: &PgPool, account: AccountId, id: BatchId) -> Result<(), StoreError> {
    let mut transaction = tx::begin_by_index(db).await?;
    let update = sqlx::query!(
        "with open as materialized (
            -- In order, for a scan of the index that removes entries of rows that have ended. `is not distinct from` excludes the
            -- index by account. A join with `batch_rows` would be planned as if few rows were open.
            select number, render_id from batch_rows
            where account_id is not distinct from $1 and batch_id = $2 and state = 'opened'
            order by number limit $3
         ), ended as (
            select number, renders.id as render_id
            from open left join renders on renders.id = open.render_id
            where renders.id is null or renders.finished_at is not null
         ), settled as (
            update batch_rows
            set (state, error, path) = (
                select case when renders.status = 'succeeded' then 'succeeded' else 'failed' end,
                    case
                        when renders.status = 'succeeded' then null
                        -- By a process of the previous release; others delete no render before this.
                        when renders.id is null then jsonb_build_object(
                            'code', 'render_deleted', 'message',
                            'The render was deleted before its outcome was recorded. Its document may exist, so the row is not retried.'
                        )
                        when renders.status = 'cancelled' then
                            '{\"code\": \"cancelled\", \"message\": \"The render was cancelled.\"}'::jsonb
                        else renders.error
                    end,
                    case when renders.status = 'succeeded' then renders.options #>> '{destination,path}' end
                from (values (batch_rows.render_id)) as opened (id) left join renders using (id)
            )
            where batch_id = $2 and state = 'opened' and number = any(array(select number from ended))
                and (render_id is null or render_id = any(array(select render_id from ended)))
            returning state
         ), counted as (
            select count(*) filter (where state = 'succeeded') as succeeded, count(*) filter (where state = 'failed') as failed
            from settled
         )
         update batches set succeeded = batches.succeeded + counted.succeeded, failed = batches.failed + counted.failed
         from counted
         where account_id = $1 and id = $2 and counted.succeeded + counted.failed > 0",
        account.0,
        id.0,
        i64::try_from(MOST_OPEN).unwrap_or(i64::MAX),
    );
    execute(&mut *transaction, update).await?;
    tx::commit(transaction).await
}

/// Returns a batch with up to `most_again` rows that wait to be opened again.
pub async fn find_work(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    most_again: usize,
    now: OffsetDateTime,
) -> Result<Option<Work>, StoreError> {
    let mut transaction = tx::begin_by_index(db).await?;
    let row = sqlx::query!(
        r#"with unfinished as materialized (
            -- As in `settle`.
            select render_id from batch_rows
            where account_id is not distinct from $1 and batch_id = $2 and batch_rows.state = 'opened'
            order by number limit $5
         )
         select state, api_key_id, batches.livemode, rows, opened, version, sealed, callback, options, file_names,
            columns as "columns: Json<ColumnMapping>",
            (
                -- The successor of a replaced key may do the same.
                not has_key or api_keys.id is not null and revoked_at is null
                    and (expires_at is null or expires_at > $4 or replaced_at is not null)
            ) as "is_key_valid!",
            (select count(*) from unfinished) as "unfinished!",
            (
                select max(inserted_at) from renders where id = any(array(select render_id from unfinished))
            ) as last_queued_at,
            array(
                select distinct jobs.hold from jobs
                where jobs.account_id = $1 and jobs.hold is not null and exists (
                    select from batch_rows where batch_rows.render_id = jobs.render_id and batch_id = $2
                )
            ) as "holds!: Vec<String>",
            array(
                select number from batch_rows
                where batch_id = batches.id and batch_rows.state = 'again' order by number limit $3
            ) as "again!"
         from batches left join api_keys on api_keys.id = batches.api_key_id
         where batches.account_id = $1 and batches.id = $2"#,
        account.0,
        id.0,
        i64::try_from(most_again).unwrap_or(i64::MAX),
        now,
        i64::try_from(MOST_OPEN).unwrap_or(i64::MAX),
    );
    let row = row.fetch_optional(&mut *transaction).await?;
    tx::commit(transaction).await?;
    Ok(row.map(|row| Work {
        state: row.state.parse().unwrap_or(BatchState::Open),
        key: row.api_key_id.map(ApiKeyId),
        is_key_valid: row.is_key_valid,
        livemode: row.livemode,
        rows: row.rows,
        opened: row.opened,
        unfinished: row.unfinished,
        last_queued_at: row.last_queued_at,
        holds: row.holds.iter().filter_map(|hold| hold.parse().ok()).collect(),
        again: row.again,
        columns: row.columns.0,
        file_names: row.file_names,
        request: SealedBatch {
            version: row.version,
            sealed: row.sealed,
            callback: row.callback,
            options: row.options,
        },
    }))
}

/// Claims the paths or file names of rows and records them: rows that have not been recorded before, or those that wait to be
/// opened again. Returns the numbers of those whose paths or file names no other row has; the others are not recorded.
pub async fn claim(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    rows: &[OpenedRow],
) -> Result<Vec<i32>, StoreError> {
    let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
    let renders: Vec<_> = rows
        .iter()
        .map(|row| row.outcome.as_ref().ok().map(|id| id.0))
        .collect();
    let errors = rows.iter().map(|row| row.outcome.as_ref().err().cloned());
    let errors: Vec<_> = errors.map(|error| error.map(storable)).collect();
    let paths: Vec<_> = rows.iter().map(|row| row.path_sha256.clone()).collect();
    let names: Vec<_> = rows.iter().map(|row| row.file_name.clone()).collect();
    // A row that is opened again keeps its path. Numbers instead of `not exists`, for which all rows of the batch would be read.
    let claimed = sqlx::query_scalar!(
        r#"with given as (
            select *,
                path_sha256 is null or row_number() over (partition by path_sha256 order by number) = 1 as is_first
            from unnest($3::integer[], $4::uuid[], $5::jsonb[], $6::bytea[], $7::text[])
                as given (number, render_id, error, path_sha256, file_name)
         ), opened_again as (
            update batch_rows
            set render_id = given.render_id, error = given.error, path_sha256 = given.path_sha256, file_name = given.file_name,
                state = case when given.render_id is null then 'failed' else 'opened' end
            from given
            where batch_id = $2 and account_id = $1 and batch_rows.number = given.number and is_first
                -- As in `settle`.
                and batch_rows.state is not distinct from 'again'
                and 0 = (
                    select count(*) from batch_rows other
                    where other.batch_id = $2 and other.path_sha256 = given.path_sha256 and other.number <> given.number
                )
            returning batch_rows.number
         ), opened as (
            insert into batch_rows (batch_id, account_id, number, render_id, state, error, path_sha256, file_name)
            select $2, $1, number, render_id, case when render_id is null then 'failed' else 'opened' end, error, path_sha256,
                file_name
            from given
            where is_first
                and 0 = (
                    select count(*) from batch_rows known where known.batch_id = $2 and known.number = given.number
                )
            on conflict (batch_id, path_sha256) where path_sha256 is not null do nothing
            returning number
         )
         select number as "number!" from opened_again union all select number from opened"#,
        account.0,
        id.0,
        &numbers,
        &renders as &[Option<Uuid>],
        &errors as &[Option<Value>],
        &paths as &[Option<Vec<u8>>],
        &names as &[Option<String>],
    );
    Ok(claimed.fetch_all(db).await?)
}

/// Counts rows that are being opened in the same transaction: `more` after the first `opened`, and failed ones. Returns `false` if
/// the batch no longer runs, if another process has opened rows, or if the columns of the rows were changed while it was paused.
pub async fn advance(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    (opened, more): (i32, i32),
    failed: i32,
    columns: &ColumnMapping,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update batches set opened = opened + $4, failed = failed + $5, hold = null
         where account_id = $1 and id = $2 and opened = $3 and state = 'running' and columns = $6",
        account.0,
        id.0,
        opened,
        more,
        failed,
        Json(columns) as _,
    );
    changes_one(db, update).await
}

/// Returns whether no row of a batch has an unfinished render.
pub async fn are_settled(db: &mut PgConnection, account: AccountId, id: BatchId) -> Result<bool, StoreError> {
    let settled = sqlx::query_scalar!(
        r#"select not exists (
            select from batch_rows where account_id = $1 and batch_id = $2 and state = 'opened'
         ) as "settled!""#,
        account.0,
        id.0,
    );
    Ok(settled.fetch_one(db).await?)
}

/// Returns renders of a batch that have not ended.
pub async fn list_unfinished(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    at_most: i64,
) -> Result<Vec<RenderId>, StoreError> {
    let renders = sqlx::query_scalar!(
        "select renders.id from batch_rows join renders on renders.id = batch_rows.render_id
         where batch_rows.account_id = $1 and batch_id = $2 and state = 'opened' and finished_at is null
         limit $3",
        account.0,
        id.0,
        at_most,
    );
    Ok(renders.fetch_all(db).await?.into_iter().map(RenderId).collect())
}

/// Returns whether [`repeat_failed`] would find a row.
pub async fn can_repeat_failed(db: &PgPool, account: AccountId, id: BatchId) -> Result<bool, StoreError> {
    let found = sqlx::query_scalar!(
        r#"select exists (
            select from batch_rows
            where account_id = $1 and batch_id = $2 and state = 'failed'
                and error is not null and error ->> 'code' is distinct from 'render_deleted'
         ) as "exists!""#,
        account.0,
        id.0,
    );
    Ok(found.fetch_one(db).await?)
}

/// Makes all failed rows wait to be opened again, except those whose renders may have succeeded. Returns their number.
pub async fn repeat_failed(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    let update = sqlx::query!(
        "update batch_rows set state = 'again'
         where account_id = $1 and batch_id = $2 and state = 'failed'
            -- As in `settle`. Processes of the previous release record no error.
            and error is not null and error ->> 'code' is distinct from 'render_deleted'",
        account.0,
        id.0,
    );
    let rows = count_changes(&mut *db, update).await?;
    let update = sqlx::query!(
        "update batches set failed = failed - $3, retried_at = $4 where account_id = $1 and id = $2",
        account.0,
        id.0,
        i32::try_from(rows).unwrap_or(i32::MAX),
        now,
    );
    execute(db, update).await?;
    Ok(rows)
}

/// Makes the rows fail that wait to be opened again.
pub async fn fail_waiting(db: &mut PgConnection, account: AccountId, id: BatchId) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "with failed as (
            update batch_rows set state = 'failed' where account_id = $1 and batch_id = $2 and state = 'again' returning number
         )
         update batches set failed = failed + (select count(*) from failed) where account_id = $1 and id = $2",
        account.0,
        id.0,
    );
    execute(db, update).await
}
