//! Tables `batches`, `batch_pieces` and `batch_rows`.

use platen_domain::{
    batch::{Batch, BatchState, Hold, ListedRows, RowState, WINDOW, columns::ColumnMapping},
    idempotency::IdempotentRequest,
    ids::{AccountId, ApiKeyId, BatchId, RenderId},
    page::PageRequest,
};
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor, PgPool, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    renders::columns::storable,
    statement::{changes_one, count_changes, execute},
    tx,
};

struct BatchRow {
    id: Uuid,
    name: String,
    state: String,
    hold: Option<String>,
    livemode: bool,
    file_names: Option<String>,
    rows: i32,
    opened: i32,
    succeeded: i32,
    failed: i32,
    inserted_at: OffsetDateTime,
    ended_at: Option<OffsetDateTime>,
}

impl From<BatchRow> for Batch {
    fn from(row: BatchRow) -> Self {
        Self {
            id: BatchId(row.id),
            name: row.name,
            // A constraint guarantees that it is one of them.
            state: row.state.parse().unwrap_or(BatchState::Open),
            hold: row.hold.and_then(|hold| hold.parse().ok()),
            livemode: row.livemode,
            file_names: row.file_names,
            rows: row.rows,
            opened: row.opened,
            succeeded: row.succeeded,
            failed: row.failed,
            inserted_at: row.inserted_at,
            ended_at: row.ended_at,
        }
    }
}

/// The request that each row of a batch completes, as stored.
#[derive(Debug)]
pub struct SealedBatch {
    /// See `StoredRequest::version`.
    pub version: i16,
    /// Encrypted.
    pub sealed: Vec<u8>,
    /// The webhook of each row, encrypted.
    pub callback: Option<Vec<u8>>,
    /// The request without its content.
    pub options: Value,
}

/// The webhook of a batch, which is notified of its end.
#[derive(Debug)]
pub struct BatchWebhook {
    /// Encrypted.
    pub target: Vec<u8>,
    /// The URL, for display.
    pub address: String,
}

/// A batch to be inserted.
#[derive(Debug)]
pub struct NewBatch<'a> {
    pub id: BatchId,
    pub key: Option<ApiKeyId>,
    pub livemode: bool,
    pub name: &'a str,
    /// Pattern of the names of documents in their archive.
    pub file_names: Option<&'a str>,
    pub request: SealedBatch,
    pub webhook: Option<BatchWebhook>,
    pub idempotent: Option<&'a IdempotentRequest>,
}

/// Rows as stored: whole ones, one after the other.
#[derive(Debug)]
pub struct Piece {
    /// Number of its first row.
    pub first_row: i32,
    pub rows: i32,
    /// To which its encryption is bound.
    pub id: Uuid,
    /// Encrypted.
    pub sealed: Vec<u8>,
}

/// Inserts a batch without rows. Returns `false` if its idempotency key is taken.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    new: &NewBatch<'_>,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let insert = sqlx::query!(
        "insert into batches
            (id, account_id, api_key_id, has_key, livemode, name, state, version, sealed, callback, options, idempotency_key,
             fingerprint, inserted_at, file_names, webhook_target, webhook_address)
         values ($1, $2, $3, $3::uuid is not null, $4, $5, 'open', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         on conflict (account_id, idempotency_key) where idempotency_key is not null do nothing",
        new.id.0,
        account.0,
        new.key.map(|key| key.0),
        new.livemode,
        new.name,
        new.request.version,
        new.request.sealed,
        new.request.callback,
        storable(new.request.options.clone()),
        new.idempotent.map(|request| request.key.as_str()),
        new.idempotent.map(|request| request.fingerprint.as_bytes()),
        now,
        new.file_names,
        new.webhook.as_ref().map(|webhook| webhook.target.as_slice()),
        new.webhook.as_ref().map(|webhook| webhook.address.as_str()),
    );
    changes_one(db, insert).await
}

/// Frees an idempotency key that was used before `before`.
pub async fn forget_key(
    db: &mut PgConnection,
    account: AccountId,
    request: &IdempotentRequest,
    before: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update batches set idempotency_key = null, fingerprint = null
         where account_id = $1 and idempotency_key = $2 and inserted_at < $3",
        account.0,
        request.key.as_str(),
        before,
    );
    execute(db, update).await
}

/// Returns the batch that an earlier request with the same idempotency key has created since `since`, and whether the requests are
/// the same.
pub async fn find_by_key(
    db: &PgPool,
    account: AccountId,
    request: &IdempotentRequest,
    since: OffsetDateTime,
) -> Result<Option<(BatchId, bool)>, StoreError> {
    let found = sqlx::query!(
        r#"select id, fingerprint as "fingerprint!" from batches
           where account_id = $1 and idempotency_key = $2 and inserted_at >= $3"#,
        account.0,
        request.key.as_str(),
        since,
    );
    let found = found.fetch_optional(db).await?;
    Ok(found.map(|row| (BatchId(row.id), row.fingerprint == request.fingerprint.as_bytes())))
}

/// Returns how many of an account's batches have not ended, and lets no other transaction count them until the end of this one.
pub async fn count_unfinished(db: &mut PgConnection, account: AccountId) -> Result<i64, StoreError> {
    sqlx::query!(
        "select pg_advisory_xact_lock(hashtext('batches'), hashtext($1::uuid::text))",
        account.0
    )
    .execute(&mut *db)
    .await?;
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from batches where account_id = $1 and ended_at is null"#,
        account.0,
    );
    Ok(count.fetch_one(db).await?)
}

/// A query for batches of the account `$1`.
macro_rules! batches_of {
    ($condition:literal, $account:expr, $($argument:expr),+ $(,)?) => {
        sqlx::query_as!(
            BatchRow,
            "select id, name, state, hold, livemode, file_names, rows, opened, succeeded, failed, inserted_at, ended_at
             from batches where account_id = $1 and " + $condition,
            $account.0,
            $($argument),+
        )
    };
}

/// Returns the batches of an account, the latest first; with `key`, only those of that key.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    key: Option<ApiKeyId>,
    page: PageRequest<BatchId>,
) -> Result<Vec<Batch>, StoreError> {
    let rows = batches_of!(
        "($2::uuid is null or api_key_id = $2) and ($3::uuid is null or id < $3) order by id desc limit $4",
        account,
        key.map(|key| key.0),
        page.after.map(|id| id.0),
        page.limit(),
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(Into::into).collect())
}

/// Returns one batch; with `key`, only one of that key.
pub async fn find(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    key: Option<ApiKeyId>,
) -> Result<Option<Batch>, StoreError> {
    let key = key.map(|key| key.0);
    let row = batches_of!("id = $2 and ($3::uuid is null or api_key_id = $3)", account, id.0, key);
    Ok(row.fetch_optional(db).await?.map(Into::into))
}

/// Like [`find`], and locks the batch.
pub async fn lock(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    key: Option<ApiKeyId>,
) -> Result<Option<Batch>, StoreError> {
    let key = key.map(|key| key.0);
    let row = batches_of!(
        "id = $2 and ($3::uuid is null or api_key_id = $3) for no key update",
        account,
        id.0,
        key,
    );
    Ok(row.fetch_optional(db).await?.map(Into::into))
}

/// Begins an upload of rows to an open batch, and deletes the rows of earlier uploads.
pub async fn begin_upload(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    upload: Uuid,
) -> Result<(), StoreError> {
    let begin = sqlx::query!(
        "update batches set upload = $3 where account_id = $1 and id = $2 and state = 'open'",
        account.0,
        id.0,
        upload,
    );
    if changes_one(&mut *db, begin).await? {
        // A statement of its own, which sees the rows that an earlier upload has just stored.
        let delete = sqlx::query!(
            "delete from batch_pieces where account_id = $1 and batch_id = $2",
            account.0,
            id.0,
        );
        execute(db, delete).await?;
    }
    Ok(())
}

/// Stores rows of an upload. Returns `false` if a later upload has begun, or the batch is no longer open.
pub async fn insert_piece(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    upload: Uuid,
    piece: &Piece,
) -> Result<bool, StoreError> {
    let insert = sqlx::query!(
        "with current as (
            select id from batches where account_id = $1 and id = $2 and upload = $3 and state = 'open' for share
         )
         insert into batch_pieces (batch_id, account_id, first_row, rows, id, sealed)
         select current.id, $1, $4, $5, $6, $7 from current",
        account.0,
        id.0,
        upload,
        piece.first_row,
        piece.rows,
        piece.id,
        piece.sealed,
    );
    changes_one(db, insert).await
}

/// Ends an upload: the batch gets another state. Returns `false` if a later upload has begun, or the batch is no longer open.
pub async fn finish_upload(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    upload: Uuid,
    (rows, sha256): (u32, &[u8]),
    state: BatchState,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update batches set state = $6, rows = $4::integer, sha256 = $5, upload = null
         where account_id = $1 and id = $2 and upload = $3 and state = 'open'
            and $4::integer = (select sum(pieces.rows) from batch_pieces pieces where pieces.batch_id = $2)",
        account.0,
        id.0,
        upload,
        i32::try_from(rows).unwrap_or(i32::MAX),
        sha256,
        state.into_str(),
    );
    changes_one(db, update).await
}

/// Deletes the rows of an upload that has failed.
pub async fn abandon_upload(db: &PgPool, account: AccountId, id: BatchId, upload: Uuid) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from batch_pieces using batches
         where batches.account_id = $1 and batches.id = $2 and upload = $3 and state = 'open' and batch_id = batches.id",
        account.0,
        id.0,
        upload,
    );
    execute(db, delete).await
}

/// Returns the SHA-256 of a batch's rows, once they are complete.
pub async fn find_sha256(db: &PgPool, account: AccountId, id: BatchId) -> Result<Option<Vec<u8>>, StoreError> {
    let sha256 = sqlx::query_scalar!(
        "select sha256 from batches where account_id = $1 and id = $2",
        account.0,
        id.0
    );
    Ok(sha256.fetch_optional(db).await?.flatten())
}

/// Sets the members of the data that columns of the rows become.
pub async fn set_columns(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    columns: &ColumnMapping,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update batches set columns = $3 where account_id = $1 and id = $2",
        account.0,
        id.0,
        Json(columns) as _,
    );
    execute(db, update).await
}

/// Sets the state of a batch, without a hold.
pub async fn set_state(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    state: BatchState,
    ended_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update batches set state = $3, ended_at = $4, hold = null where account_id = $1 and id = $2",
        account.0,
        id.0,
        state.into_str(),
        ended_at,
    );
    execute(db, update).await
}

/// Makes a running batch hold, or go on.
pub async fn set_hold(db: &PgPool, account: AccountId, id: BatchId, hold: Option<Hold>) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update batches set hold = $3
         where account_id = $1 and id = $2 and state = 'running' and hold is distinct from $3",
        account.0,
        id.0,
        hold.map(|hold| hold.into_str()),
    );
    execute(db, update).await
}

/// Makes all failed rows wait to be opened again. Returns their number.
pub async fn repeat_failed(db: &mut PgConnection, account: AccountId, id: BatchId) -> Result<u64, StoreError> {
    let update = sqlx::query!(
        "update batch_rows set state = 'again' where account_id = $1 and batch_id = $2 and state = 'failed'",
        account.0,
        id.0,
    );
    let rows = count_changes(&mut *db, update).await?;
    let update = sqlx::query!(
        "update batches set failed = failed - $3 where account_id = $1 and id = $2",
        account.0,
        id.0,
        i32::try_from(rows).unwrap_or(i32::MAX),
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

/// More rows than are open at once.
const MOST_OPEN: usize = 2 * WINDOW;

/// Records the outcomes of the batch's renders that have ended, and counts them.
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
            set (state, error) = (
                select case when renders.status = 'succeeded' then 'succeeded' else 'failed' end,
                    case
                        when renders.status = 'succeeded' then null
                        when renders.status = 'cancelled' then
                            '{\"code\": \"cancelled\", \"message\": \"The render was cancelled.\"}'::jsonb
                        else renders.error
                    end
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

/// Lets no other transaction resume held renders of an account until the end of this one.
pub async fn lock_held(db: &mut PgConnection, account: AccountId) -> Result<(), StoreError> {
    let lock = sqlx::query!(
        "select pg_advisory_xact_lock(hashtext('held renders'), hashtext($1::uuid::text))",
        account.0
    );
    execute(db, lock).await
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
            (not has_key or api_keys.id is not null and revoked_at is null and (expires_at is null or expires_at > $4))
                as "is_key_valid!",
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

/// Returns the piece that contains a row.
pub async fn find_piece(db: &PgPool, account: AccountId, id: BatchId, row: i32) -> Result<Option<Piece>, StoreError> {
    let piece = sqlx::query_as!(
        Piece,
        "select first_row, rows, id, sealed from batch_pieces
         where account_id = $1 and batch_id = $2 and first_row <= $3
         order by first_row desc limit 1",
        account.0,
        id.0,
        row,
    );
    let piece = piece.fetch_optional(db).await?;
    Ok(piece.filter(|piece| row - piece.first_row < piece.rows))
}

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

/// Claims the paths or file names of rows and records them: rows that have not been recorded before, or those that wait to be
/// opened again. Returns the numbers of those whose paths or file names no other row has; the others are not recorded.
pub async fn claim_rows(
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
    let errors: Vec<_> = rows.iter().map(|row| row.outcome.as_ref().err().cloned()).collect();
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

/// Ends a running batch all of whose rows have ended. Returns whether it has ended.
pub async fn end(
    db: &mut PgConnection,
    account: AccountId,
    id: BatchId,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update batches set state = 'ended', ended_at = $3, hold = null
         where account_id = $1 and id = $2 and state = 'running' and opened = rows
            and not exists (select from batch_rows where batch_id = $2 and batch_rows.state in ('opened', 'again'))",
        account.0,
        id.0,
        now,
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

/// Returns whether the content of a batch is stored, without which no row can be opened. It is deleted all at once.
pub async fn has_content(db: impl PgExecutor<'_>, account: AccountId, id: BatchId) -> Result<bool, StoreError> {
    let found = sqlx::query_scalar!(
        r#"select exists (select from batches where account_id = $1 and id = $2 and sealed <> '') as "exists!""#,
        account.0,
        id.0,
    );
    Ok(found.fetch_one(db).await?)
}

/// Deletes the content of a batch that has ended and of which no row can be opened again.
pub async fn delete_unneeded(db: &mut PgConnection, account: AccountId, id: BatchId) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "with emptied as (
            update batches set sealed = '', callback = null, columns = '{}', webhook_target = null, webhook_address = null
            from accounts
            where batches.account_id = $1 and batches.id = $2 and accounts.id = $1
                and (state = 'cancelled' or state = 'ended' and (failed = 0 or not keep_content))
            returning batches.id
         )
         delete from batch_pieces using emptied where batch_id = emptied.id",
        account.0,
        id.0,
    );
    execute(db, delete).await
}

/// Deletes the account's oldest live or test batch that has ended, if more than `most` have.
pub async fn delete_surplus(
    db: &mut PgConnection,
    account: AccountId,
    livemode: bool,
    most: i64,
) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "delete from batches where id in (
            select id from batches where account_id = $1 and livemode = $2 and ended_at is not null
            order by ended_at desc offset $3 limit 1
         )",
        account.0,
        livemode,
        most,
    );
    execute(db, delete).await
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

/// The outcome of a row.
#[derive(Debug)]
pub struct RowOutcome {
    pub number: i32,
    pub state: RowState,
    pub render: Option<RenderId>,
    /// Path of its delivered document in a client's bucket.
    pub path: Option<String>,
    /// URL of its document in the default storage.
    pub document_url: Option<String>,
    /// `{code, message}`
    pub error: Option<Value>,
}

/// Returns outcomes of rows after the row `after`, in the order of the rows.
pub async fn list_outcomes(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    rows: ListedRows,
    after: i32,
    at_most: i64,
    now: OffsetDateTime,
) -> Result<Vec<RowOutcome>, StoreError> {
    let rows = sqlx::query!(
        r#"select number, state, render_id, batch_rows.error, path as "path?", document_url as "document_url?"
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

/// Returns the size of a batch's documents that are in the default storage.
pub async fn measure_stored(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    now: OffsetDateTime,
) -> Result<StoredSize, StoreError> {
    let size = sqlx::query_as!(
        StoredSize,
        r#"select coalesce(sum(page_count), 0) as "pages!", coalesce(sum(bytes), 0)::bigint as "bytes!",
               coalesce(sum(octet_length(file_name)), 0) as "name_bytes!"
           from batch_rows join renders on renders.id = batch_rows.render_id
           where batch_rows.account_id = $1 and batch_id = $2
               and status = 'succeeded' and object_expires_at > $3"#,
        account.0,
        id.0,
        now,
    );
    Ok(size.fetch_one(db).await?)
}

/// Returns rows after the row `after` whose documents are in the default storage, in the order of the rows.
pub async fn list_stored(
    db: &PgPool,
    account: AccountId,
    id: BatchId,
    after: i32,
    at_most: i64,
    now: OffsetDateTime,
) -> Result<Vec<StoredRow>, StoreError> {
    let rows = sqlx::query_as!(
        StoredRow,
        r#"select number, object_id as "object!", bytes as "bytes!", file_name
           from batch_rows join renders on renders.id = batch_rows.render_id
           where batch_rows.account_id = $1 and batch_id = $2 and number > $3
               and status = 'succeeded' and object_expires_at > $5
           order by number limit $4"#,
        account.0,
        id.0,
        after,
        at_most,
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

/// When batches are too old.
#[derive(Debug, Clone, Copy)]
pub struct OldBatches {
    /// Those that ended before.
    pub ended: OffsetDateTime,
    /// Those that have waited for rows since before.
    pub opened: OffsetDateTime,
    /// Those of test keys that were created before.
    pub tests: OffsetDateTime,
    /// Those that were created before and have not ended.
    pub unfinished: OffsetDateTime,
}

/// Deletes an old batch of any account. Returns `false` if there is none.
pub async fn delete_old(db: &PgPool, old: OldBatches) -> Result<bool, StoreError> {
    let delete = sqlx::query!(
        "delete from batches where id in (
            select id from batches
            where ended_at < $1 or state = 'open' and inserted_at < $2 or not livemode and inserted_at < $3
                or ended_at is null and inserted_at < $4
            limit 1
         )",
        old.ended,
        old.opened,
        old.tests,
        old.unfinished,
    );
    changes_one(db, delete).await
}
