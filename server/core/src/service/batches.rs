//! Batches: creating them, uploading their rows, and controlling them. Workers open the rows ([`opening`]).

pub mod columns;
pub mod documents;
pub mod download;
pub mod opening;
pub mod preview;
pub mod rejected_form;
mod stored_rows;
pub mod upload;

use platen_domain::{
    batch::{Batch, BatchState, ListedRows, MOST_ENDED, MOST_REPLAYABLE, MOST_REPLAYABLE_ROWS, MOST_UNFINISHED},
    callback::{CallbackTarget, shown_address},
    caller::{Access, Caller},
    encryption::{DataKey, EncryptionError, Place},
    idempotency::{self, IdempotentRequest},
    ids::{AccountId, ApiKeyId, BatchId},
    job::JobKind,
    page::{Page, PageRequest},
    storage::{StorageFull, StorageResource},
    validation::Problem,
};
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use time::{Duration, OffsetDateTime};
use tokio::task::{JoinError, spawn_blocking};

use crate::{
    clock,
    memory::MemoryFull,
    render_request::{
        AsynchronousRequest,
        batch::{BatchCreation, of_batch, of_render},
        stored::{StoredRequest, Unreadable},
    },
    service::{
        Services,
        batches::upload::{ROOM_FOR_RENDERS, SealedRows},
        data_keys::{DataKeyError, data_key},
        parsers::Busy,
        renders::{
            enqueue::check_address, idempotent_responses::ContentError, retention::TEST_CONTENT_LIFETIME,
            templates::note_versions,
        },
    },
    store::{
        account_storage,
        batches::{self, BatchWebhook, NewBatch, OldBatches, RetainedBatches, SealedBatch, outcomes::RowOutcome},
        error::StoreError,
        jobs, tx,
    },
};

/// Retention of batches that have ended.
const LIFETIME: Duration = Duration::days(14);
/// How long a batch may take from its creation or last retry, also while it is paused or on hold.
const LONGEST: Duration = Duration::days(28);
/// How long a batch waits for its rows.
const PATIENCE: Duration = Duration::days(1);
/// Maximum size of the request that each row completes, in bytes, because the renders of all rows store it.
const LARGEST_REQUEST: usize = 256 << 10;
const OTHER_MODE: BatchError = BatchError::Conflict("live and test batches are controlled by keys of their own mode");
const ROWS_DELETED: BatchError = BatchError::Conflict(
    "the rows were deleted, because the account stores no content, or because other queued renders needed the storage; create another \
     batch with those that failed",
);
const OUTCOMES_LOST: BatchError =
    BatchError::Conflict("the outcomes of the failed rows were lost, and a retry might deliver their documents twice");

/// Error of an operation on a batch.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The account, or the key, has no such batch.
    #[error("there is no such batch")]
    NotFound,
    /// The request or the rows are invalid.
    #[error("the request body is invalid")]
    Invalid(Vec<Problem>),
    /// The key is restricted to certain templates or channels, and another one created the batch.
    #[error(
        "the API key is restricted to certain templates or channels, and controls only batches that it created; use the key that \
         created this one, an unrestricted key, or the dashboard"
    )]
    OfOtherKey,
    /// The batch is in another state.
    #[error("{0}")]
    Conflict(&'static str),
    /// The account has too many batches that have not ended.
    #[error("the account has {MOST_UNFINISHED} batches that have not ended, the limit; wait for one, or cancel one")]
    TooMany,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for a request with another body")]
    KeyOfOtherRequest,
    /// A storage limit of the account is reached.
    #[error(transparent)]
    StorageFull(#[from] StorageFull),
    /// The memory limit of requests is reached.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// Too many request bodies are being parsed.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The account's data key is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The content can't be encrypted.
    #[error("the content of a batch: {0}")]
    Encryption(#[from] EncryptionError),
    /// The request can't be serialized.
    #[error("the content of a batch: {0}")]
    Serialization(#[from] serde_json::Error),
    /// The stored request can't be read.
    #[error("the content of a batch: {0}")]
    Unreadable(#[from] Unreadable),
    /// The request of a row can't be encrypted.
    #[error("the content of a batch: {0}")]
    Content(#[from] ContentError),
    /// A row is not stored any more.
    #[error("row {0} of the batch is not stored")]
    RowLost(i32),
    /// The thread that encrypted it panicked.
    #[error("the content of a batch: {0}")]
    Interrupted(#[from] JoinError),
    /// The database failed, or the account's storage is full.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates a batch. With rows, it runs; otherwise it waits for them. A repeated idempotent request returns the batch of the first
/// one, and `true`.
pub async fn create(
    app: &Services,
    caller: &Caller,
    creation: BatchCreation,
    idempotent: Option<&IdempotentRequest>,
) -> Result<(Batch, bool), BatchError> {
    let (account, now) = (caller.account, clock::now());
    if let Some(request) = idempotent
        && let Some(replayed) = replayed(app, caller, request, now).await?
    {
        return Ok((replayed, true));
    }
    let BatchCreation {
        name,
        file_names,
        callback,
        mut request,
        rows,
    } = creation;
    if let Some(target) = &callback {
        check_address(app, target).map_err(|problem| BatchError::Invalid(of_batch(vec![problem])))?;
    }
    if let Some(target) = &request.callback {
        check_address(app, target).map_err(|problem| BatchError::Invalid(of_render(vec![problem])))?;
    }
    // Fixes the templates' versions for all rows.
    let noted = note_versions(app, account, &mut request.render).await?;
    noted.map_err(|problems| BatchError::Invalid(of_render(problems)))?;
    let (id, key) = (
        BatchId::generate(),
        data_key(&app.db, &app.secret_keys, account, now).await?,
    );
    let sealing = move || {
        let webhook = callback.map(|target| {
            let place = Place::batch_webhook(account, id);
            Ok::<_, BatchError>(BatchWebhook {
                target: encrypt_target(&key, &place, &target)?,
                address: shown_address(&target.url),
            })
        });
        let request = encrypt_request(&key, account, id, request)?;
        Ok::<_, BatchError>((request, webhook.transpose()?, SealedRows::seal(&key, account, rows)?))
    };
    let (request, webhook, rows) = spawn_blocking(sealing).await??;
    let new = NewBatch {
        id,
        key: caller.key,
        livemode: caller.livemode,
        name: &name,
        file_names: file_names.as_deref(),
        request,
        webhook,
        idempotent,
    };
    let runs = !rows.is_empty();
    let bytes = new.request.sealed.len() + rows.bytes() + ROOM_FOR_RENDERS;
    if runs {
        room_in_queue(&app.db, account, bytes).await??;
    }
    let mut transaction = tx::begin(&app.db).await?;
    if let Some(request) = idempotent {
        batches::forget_key(&mut transaction, account, request, now - idempotency::LIFETIME).await?;
    }
    let has_room = batches::count_unfinished(&mut transaction, account).await? < MOST_UNFINISHED;
    if has_room {
        batches::delete_surplus(&mut transaction, account, caller.livemode, retained(now)).await?;
    }
    if !has_room || !batches::insert(&mut transaction, account, &new, now).await? {
        drop(transaction);
        // A request with the same key may have been faster.
        let replayed = match idempotent {
            Some(request) => replayed(app, caller, request, now).await?,
            None => None,
        };
        let missing = if has_room {
            BatchError::KeyOfOtherRequest
        } else {
            BatchError::TooMany
        };
        return Ok((replayed.ok_or(missing)?, true));
    }
    if runs {
        rows.store(&mut transaction, account, id).await?;
        // As at the end of an upload. What this transaction stores isn't counted yet.
        let storage = account_storage::lock(&mut transaction, account).await?;
        storage.room_for(StorageResource::QueuedBytes, bytes)?;
    }
    tx::commit(transaction).await?;
    if runs {
        app.jobs.added(JobKind::Batch);
    }
    Ok((get(app, caller, id).await?, false))
}

/// Checks that the account's queue has room for as many bytes. If it hasn't, deletes the rows of batches that have ended, which are
/// stored only for a retry, the oldest first, unless that makes too little room.
pub(in crate::service) async fn room_in_queue(
    db: &PgPool,
    account: AccountId,
    bytes: usize,
) -> Result<Result<(), StorageFull>, StoreError> {
    let resource = StorageResource::QueuedBytes;
    let now = clock::now();
    let mut room = account_storage::find(db, account).await?.room_for(resource, bytes);
    if let Err(full) = &room {
        let discardable = batches::discardable_bytes(db, account, now).await?;
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        if (full.used - discardable).saturating_add(bytes) > full.limit {
            return Ok(room);
        }
    }
    while room.is_err() && batches::discard_ended(db, account, now).await? {
        room = account_storage::find(db, account).await?.room_for(resource, bytes);
    }
    Ok(room)
}

/// Returns which batches that have ended stay stored.
fn retained(now: OffsetDateTime) -> RetainedBatches {
    RetainedBatches {
        latest: MOST_ENDED,
        replayable_since: now - idempotency::LIFETIME,
        replayable: MOST_REPLAYABLE,
        replayable_rows: MOST_REPLAYABLE_ROWS,
    }
}

/// Encrypts the request that each row completes.
fn encrypt_request(
    key: &DataKey,
    account: AccountId,
    id: BatchId,
    mut request: AsynchronousRequest,
) -> Result<SealedBatch, BatchError> {
    let options = std::mem::take(&mut request.render.options);
    let callback = request.callback.map(|target| {
        let place = Place::batch_callback(account, id);
        encrypt_target(key, &place, &target)
    });
    let stored = StoredRequest {
        render: request.render,
        destination: request.destination,
    };
    let version = if stored.render.placeholders().next().is_some() {
        StoredRequest::PATTERN_VERSION
    } else {
        stored.version()
    };
    let stored = stored.into_bytes()?;
    if stored.len() > LARGEST_REQUEST {
        let detail = format!(
            "Has {} KiB, and may have {} KiB, because the renders of all rows store it; use templates, and assets of the account",
            stored.len() >> 10,
            LARGEST_REQUEST >> 10
        );
        return Err(BatchError::Invalid(of_render(vec![Problem::invalid("", detail)])));
    }
    Ok(SealedBatch {
        version,
        sealed: key.encrypt(&Place::batch_request(account, id), rand::random(), stored)?,
        callback: callback.transpose()?,
        options,
    })
}

fn encrypt_target(key: &DataKey, place: &Place, target: &CallbackTarget) -> Result<Vec<u8>, BatchError> {
    Ok(key.encrypt(place, rand::random(), serde_json::to_vec(target)?)?)
}

/// Returns the batch of an earlier request with the same idempotency key.
async fn replayed(
    app: &Services,
    caller: &Caller,
    request: &IdempotentRequest,
    now: OffsetDateTime,
) -> Result<Option<Batch>, BatchError> {
    match batches::find_by_key(&app.db, caller.account, request, now - idempotency::LIFETIME).await? {
        // Idempotency keys are those of the account, also where the batch of another API key isn't shown otherwise.
        Some((id, true)) => Ok(batches::find(&app.db, caller.account, id, None).await?),
        Some((_, false)) => Err(BatchError::KeyOfOtherRequest),
        None => Ok(None),
    }
}

/// Returns a page of the account's batches, the latest first. A key that sees only its own renders sees only its own batches.
pub async fn list(
    db: &PgPool,
    caller: &Caller,
    page: PageRequest<BatchId>,
) -> Result<Page<Batch, BatchId>, BatchError> {
    let found = batches::list(db, caller.account, caller.sees_renders_of(), page).await?;
    Ok(page.page(found, |batch| batch.id))
}

/// Returns a batch, or [`BatchError::NotFound`].
pub async fn get(app: &Services, caller: &Caller, id: BatchId) -> Result<Batch, BatchError> {
    let found = batches::find(&app.db, caller.account, id, caller.sees_renders_of()).await?;
    found.ok_or(BatchError::NotFound)
}

/// Returns the key whose batches the caller may control; `None` for all. Restricted keys could otherwise make renders that they may not
/// request.
fn controlled_by(caller: &Caller) -> Option<ApiKeyId> {
    let is_restricted = !caller.templates.everything() || !caller.channels.everything();
    caller.key.filter(|_| is_restricted)
}

/// Locks a batch that the caller controls. Keys of test mode control no live batches, and the other way around.
async fn lock_controlled(db: &mut PgConnection, caller: &Caller, id: BatchId) -> Result<Batch, BatchError> {
    let Some(batch) = batches::lock(&mut *db, caller.account, id, controlled_by(caller)).await? else {
        let seen = batches::find(db, caller.account, id, caller.sees_renders_of()).await?;
        return Err(seen.map_or(BatchError::NotFound, |_| BatchError::OfOtherKey));
    };
    match caller.key {
        Some(_) if batch.livemode != caller.livemode => Err(OTHER_MODE),
        _ => Ok(batch),
    }
}

/// Returns the outcomes of up to `most` rows after the row `after`, in their order; or [`BatchError::NotFound`] if there are none because
/// the batch was deleted. Operators who view the account don't get the addresses of documents.
pub async fn outcomes(
    app: &Services,
    caller: &Caller,
    id: BatchId,
    rows: ListedRows,
    after: i32,
    most: i64,
) -> Result<Vec<RowOutcome>, BatchError> {
    let outcomes = batches::outcomes::list(&app.db, caller.account, id, rows, after, most, clock::now()).await?;
    if outcomes.is_empty() {
        get(app, caller, id).await?;
    }
    let shown = outcomes.into_iter().map(|outcome| RowOutcome {
        document_url: outcome.document_url.filter(|_| caller.access != Access::Looking),
        ..outcome
    });
    Ok(shown.collect())
}

/// Returns whether failed rows can be opened again. After the end of a batch, its failed rows are stored only until an account turns off
/// stored content or needs their room in the queue.
pub async fn can_retry(app: &Services, account: AccountId, batch: &Batch) -> Result<bool, BatchError> {
    let may_be_retried = matches!(
        batch.state,
        BatchState::Running | BatchState::Paused | BatchState::Ended
    );
    Ok(may_be_retried
        && batch.failed > 0
        && batches::has_content(&app.db, account, batch.id).await?
        && batches::rows::can_repeat_failed(&app.db, account, batch.id).await?)
}

/// Opens no more rows until the batch is resumed. Renders that are queued already go on.
pub async fn pause(app: &Services, caller: &Caller, id: BatchId) -> Result<Batch, BatchError> {
    change(app, caller, id, |batch| match batch.state {
        BatchState::Running | BatchState::Paused => Ok(BatchState::Paused),
        _ => Err(BatchError::Conflict("only a running batch can be paused")),
    })
    .await
}

/// Continues a paused batch.
pub async fn resume(app: &Services, caller: &Caller, id: BatchId) -> Result<Batch, BatchError> {
    change(app, caller, id, |batch| match batch.state {
        BatchState::Running | BatchState::Paused => Ok(BatchState::Running),
        _ => Err(BatchError::Conflict("only a paused batch can be resumed")),
    })
    .await
}

/// Opens no more rows, and cancels the renders that have not ended, free of charge.
pub async fn cancel(app: &Services, caller: &Caller, id: BatchId) -> Result<Batch, BatchError> {
    change(app, caller, id, |batch| match batch.state {
        BatchState::Ended => Err(BatchError::Conflict("the batch has ended already")),
        _ => Ok(BatchState::Cancelled),
    })
    .await
}

/// Commits changes of a batch, and makes a worker advance it.
async fn commit_and_advance(
    app: &Services,
    mut transaction: Transaction<'static, Postgres>,
    account: AccountId,
    id: BatchId,
) -> Result<(), StoreError> {
    jobs::advance_batch_now(&mut transaction, account, id).await?;
    tx::commit(transaction).await?;
    app.jobs.added(JobKind::Batch);
    Ok(())
}

/// Changes the state of a batch to that which `next` returns.
async fn change(
    app: &Services,
    caller: &Caller,
    id: BatchId,
    next: impl FnOnce(&Batch) -> Result<BatchState, BatchError>,
) -> Result<Batch, BatchError> {
    let (account, now) = (caller.account, clock::now());
    let mut transaction = tx::begin(&app.db).await?;
    let batch = lock_controlled(&mut transaction, caller, id).await?;
    let state = next(&batch)?;
    if state == batch.state {
        // An operator may have discarded the job that cancels the renders.
        if state == BatchState::Cancelled && !batches::rows::are_settled(&mut transaction, account, id).await? {
            commit_and_advance(app, transaction, account, id).await?;
        }
        return Ok(batch);
    }
    let ended_at = (state == BatchState::Cancelled).then_some(now);
    batches::set_state(&mut transaction, account, id, state, ended_at).await?;
    if state == BatchState::Cancelled {
        batches::rows::fail_waiting(&mut transaction, account, id).await?;
    }
    commit_and_advance(app, transaction, account, id).await?;
    get(app, caller, id).await
}

/// Opens all failed rows once more, with the versions of the templates that the batch has.
pub async fn retry(app: &Services, caller: &Caller, id: BatchId) -> Result<Batch, BatchError> {
    let account = caller.account;
    let mut transaction = tx::begin(&app.db).await?;
    // Before the batch is locked, as by requests that create one and delete others.
    let unfinished = batches::count_unfinished(&mut transaction, account).await?;
    let batch = lock_controlled(&mut transaction, caller, id).await?;
    if !matches!(
        batch.state,
        BatchState::Running | BatchState::Paused | BatchState::Ended
    ) {
        return Err(BatchError::Conflict(
            "only rows of a batch that was not cancelled can be opened again",
        ));
    }
    if batch.failed > 0 && !batches::has_content(&mut *transaction, account, id).await? {
        return Err(ROWS_DELETED);
    }
    if batches::rows::repeat_failed(&mut transaction, account, id, clock::now()).await? == 0 {
        return if batch.failed == 0 {
            Ok(batch)
        } else {
            Err(OUTCOMES_LOST)
        };
    }
    if batch.state == BatchState::Ended {
        if unfinished >= MOST_UNFINISHED {
            return Err(BatchError::TooMany);
        }
        batches::set_state(&mut transaction, account, id, BatchState::Running, None).await?;
    }
    commit_and_advance(app, transaction, account, id).await?;
    get(app, caller, id).await
}

/// Deletes batches whose time is over, with their rows, and cancels those that have taken too long.
pub(in crate::service) async fn purge(app: &Services, now: OffsetDateTime) -> Result<(), StoreError> {
    let old = OldBatches {
        ended: now - LIFETIME,
        opened: now - PATIENCE,
        tests: now - TEST_CONTENT_LIFETIME,
    };
    while batches::delete_old(&app.db, old).await? {}
    for (account, livemode) in batches::list_crowded(&app.db, MOST_ENDED).await? {
        let db = &mut *app.db.acquire().await?;
        while batches::delete_surplus(db, account, livemode, retained(now)).await? > 0 {}
    }
    while cancel_overdue(app, now).await? {}
    Ok(())
}

/// Cancels a batch that has taken too long, as [`cancel`] does. Returns `false` if there is none.
async fn cancel_overdue(app: &Services, now: OffsetDateTime) -> Result<bool, StoreError> {
    let mut transaction = tx::begin(&app.db).await?;
    let Some((account, id)) = batches::cancel_overdue(&mut transaction, now - LONGEST, now).await? else {
        return Ok(false);
    };
    batches::rows::fail_waiting(&mut transaction, account, id).await?;
    commit_and_advance(app, transaction, account, id).await?;
    tracing::info!(batch_id = %id, "batch cancelled: it has taken too long");
    Ok(true)
}
