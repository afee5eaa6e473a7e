//! Table `batches`.

pub mod outcomes;
pub mod rows;
pub mod uploads;

use platen_domain::{
    batch::{Batch, BatchState, Hold, columns::ColumnMapping},
    idempotency::IdempotentRequest,
    ids::{AccountId, ApiKeyId, BatchId},
    page::PageRequest,
    render::log::first_id_at,
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
    db: impl PgExecutor<'_>,
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

/// Returns whether the content of a batch is stored, without which no row can be opened. It is deleted all at once.
pub async fn has_content(db: impl PgExecutor<'_>, account: AccountId, id: BatchId) -> Result<bool, StoreError> {
    let found = sqlx::query_scalar!(
        r#"select exists (select from batches where account_id = $1 and id = $2 and sealed <> '') as "exists!""#,
        account.0,
        id.0,
    );
    Ok(found.fetch_one(db).await?)
}

/// Deletes of the content of a batch that has ended what no retry needs: all, or pieces without a failed row.
pub async fn delete_unneeded(db: &mut PgConnection, account: AccountId, id: BatchId) -> Result<(), StoreError> {
    let is_unneeded = sqlx::query_scalar!(
        r#"select exists (
            select from batches join accounts on accounts.id = batches.account_id
            where account_id = $1 and batches.id = $2
                and (state = 'cancelled' or state = 'ended' and (failed = 0 or not keep_content))
         ) as "exists!""#,
        account.0,
        id.0,
    );
    if is_unneeded.fetch_one(&mut *db).await? {
        return delete_content(db, account, id).await;
    }
    // Counted for each piece: a join of ranges would compare all rows with all pieces.
    let delete = sqlx::query!(
        "delete from batch_pieces pieces
         where account_id = $1 and batch_id = $2
            and exists (select from batches where id = $2 and state = 'ended')
            and 0 = (
                select count(*) from batch_rows
                where batch_rows.batch_id = $2 and number >= first_row and number < first_row + pieces.rows
                    and batch_rows.state is not distinct from 'failed'
            )",
        account.0,
        id.0,
    );
    execute(db, delete).await
}

async fn delete_content(db: &mut PgConnection, account: AccountId, id: BatchId) -> Result<(), StoreError> {
    let delete = sqlx::query!(
        "with emptied as (
            update batches set sealed = '', callback = null, columns = '{}', webhook_target = null, webhook_address = null
            where account_id = $1 and id = $2
            returning id
         )
         delete from batch_pieces using emptied where batch_id = emptied.id",
        account.0,
        id.0,
    );
    execute(db, delete).await
}

/// Returns how many bytes [`discard_ended`] can delete.
pub async fn discardable_bytes(db: &PgPool, account: AccountId, before: OffsetDateTime) -> Result<i64, StoreError> {
    let bytes = sqlx::query_scalar!(
        r#"select coalesce(sum(octet_length(sealed) + (
                select coalesce(sum(octet_length(batch_pieces.sealed)), 0) from batch_pieces where batch_id = batches.id
            )), 0)::bigint as "bytes!"
         from batches
         where account_id = $1 and state = 'ended' and ended_at < $2 and sealed <> ''
            and not exists (select from jobs where jobs.batch_id = batches.id)"#,
        account.0,
        before,
    );
    Ok(bytes.fetch_one(db).await?)
}

/// Deletes the content of the account's first batch that ended before `before` and still has content, if its end is announced.
/// Returns `false` if there is none.
pub async fn discard_ended(db: &PgPool, account: AccountId, before: OffsetDateTime) -> Result<bool, StoreError> {
    let mut transaction = tx::begin(db).await?;
    let first = sqlx::query_scalar!(
        "select id from batches
         where account_id = $1 and state = 'ended' and ended_at < $2 and sealed <> ''
            and not exists (select from jobs where jobs.batch_id = batches.id)
         order by ended_at limit 1
         for no key update skip locked",
        account.0,
        before,
    );
    let Some(first) = first.fetch_optional(&mut *transaction).await? else {
        return Ok(false);
    };
    delete_content(&mut transaction, account, BatchId(first)).await?;
    tx::commit(transaction).await?;
    Ok(true)
}

/// Which live or test batches of an account that have ended stay stored.
#[derive(Debug, Clone, Copy)]
pub struct RetainedBatches {
    /// How many of those that nothing refers to any more: the ones that ended last.
    pub latest: i64,
    /// Requests with the idempotency keys of batches that were created since then may be repeated.
    pub replayable_since: OffsetDateTime,
    /// How many of those batches, and of others whose webhooks are being sent.
    pub replayable: i64,
    /// How many opened rows they have together.
    pub replayable_rows: i64,
}

/// Returns accounts that have more live or test batches (`false`) that have ended than `most`.
pub async fn list_crowded(db: &PgPool, most: i64) -> Result<Vec<(AccountId, bool)>, StoreError> {
    let rows = sqlx::query!(
        "select account_id, livemode from batches where ended_at is not null
         group by account_id, livemode having count(*) > $1",
        most,
    );
    let rows = rows.fetch_all(db).await?;
    Ok(rows
        .into_iter()
        .map(|row| (AccountId(row.account_id), row.livemode))
        .collect())
}

/// Deletes the account's oldest live or test batches that have ended beyond those that are retained: at most two, because each of
/// them may have many rows, but more than are created at a time. Returns their number.
pub async fn delete_surplus(
    db: &mut PgConnection,
    account: AccountId,
    livemode: bool,
    retained: RetainedBatches,
) -> Result<u64, StoreError> {
    let delete = sqlx::query!(
        "delete from batches where id in (
            select id from (
                select id, ended_at, is_in_use, row_number() over newest as place, sum(opened) over newest as opened
                from (
                    select id, ended_at, opened,
                        idempotency_key is not null and inserted_at >= $4
                            or exists (
                                select from webhook_deliveries
                                where batch_id = batches.id and webhook_deliveries.state = 'sending'
                            ) as is_in_use
                    from batches
                    where account_id = $1 and livemode = $2 and ended_at is not null
                        -- The next turn of a cancelled one cancels its renders.
                        and succeeded + failed >= opened
                ) ended
                window newest as (partition by is_in_use order by ended_at desc rows unbounded preceding)
            ) ranked
            where case
                when is_in_use then place > $5::bigint or opened > $6::bigint
                else place > $3::bigint
            end
            order by ended_at limit 2
         )
            -- A retry may have locked it first.
            and ended_at is not null",
        account.0,
        livemode,
        retained.latest,
        retained.replayable_since,
        retained.replayable,
        retained.replayable_rows,
    );
    count_changes(db, delete).await
}

/// When batches are too old.
#[derive(Debug, Clone, Copy)]
pub struct OldBatches {
    /// Those that ended before.
    pub ended: OffsetDateTime,
    /// Those that have waited for rows since before, and to which no upload has begun since.
    pub opened: OffsetDateTime,
    /// Those of test keys that were created before.
    pub tests: OffsetDateTime,
}

/// Deletes an old batch of any account. Returns `false` if there is none.
pub async fn delete_old(db: &PgPool, old: OldBatches) -> Result<bool, StoreError> {
    let delete = sqlx::query!(
        "delete from batches where id in (
            select id from batches
            where ended_at < $1 or state = 'open' and inserted_at < $2 and (upload is null or upload < $4)
                or not livemode and inserted_at < $3
            limit 1
         )
            -- A retry or an upload may have locked it first.
            and (
                ended_at < $1 or state = 'open' and inserted_at < $2 and (upload is null or upload < $4)
                or not livemode and inserted_at < $3
            )",
        old.ended,
        old.opened,
        old.tests,
        first_id_at(old.opened),
    );
    changes_one(db, delete).await
}

/// Cancels a batch of any account that has not ended, and was created before `before` and not retried since. Returns the account and the
/// batch; `None` if there is none.
pub async fn cancel_overdue(
    db: &mut PgConnection,
    before: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<Option<(AccountId, BatchId)>, StoreError> {
    let cancelled = sqlx::query!(
        "update batches set state = 'cancelled', ended_at = $2, hold = null
         where id = (
                select id from batches where ended_at is null and coalesce(retried_at, inserted_at) < $1 limit 1
            )
            -- Another transaction may have ended or retried it meanwhile.
            and ended_at is null and coalesce(retried_at, inserted_at) < $1
         returning account_id, id",
        before,
        now,
    );
    let cancelled = cancelled.fetch_optional(db).await?;
    Ok(cancelled.map(|row| (AccountId(row.account_id), BatchId(row.id))))
}
