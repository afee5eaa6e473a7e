//! Outcomes that are kept, sealed, for requests that come again.

use std::{io, time::SystemTime};

use platen_app::model::storage::{StorageFull, StorageResource};
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use tokio::task::{JoinError, spawn_blocking};
use uuid::Uuid;

use crate::{
    domain::{
        idempotency::{self, IdempotentRequest},
        ids::{AccountId, RenderId},
        render::{
            kept::{KeptOutcome, Unreadable},
            stored,
        },
        sealing::{Place, SealingError},
    },
    service::account_keys::{DataKeyError, data_key},
    state::AppState,
    store::{
        account_storage,
        error::StoreError,
        idempotency_keys::{self, StoredResponse},
    },
};

/// A file is written before the row that names it, and not long before.
const UNNAMED: Duration = Duration::HOUR;

/// Why an outcome is not kept or not found.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The data folder fails.
    #[error("a kept answer: {0}; PLATEN_DATA_DIR chooses the data folder")]
    File(#[from] io::Error),
    /// It does not open.
    #[error("a kept answer: {0}")]
    Sealing(#[from] SealingError),
    /// Its content makes no sense.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The stored request can't be written.
    #[error("the stored request can't be written: {0}")]
    Unwritable(#[from] serde_json::Error),
    /// The stored request can't be read.
    #[error(transparent)]
    UnreadableRequest(#[from] stored::Unreadable),
    /// No key to seal it with.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The account has no room for it.
    #[error(transparent)]
    Full(#[from] StorageFull),
    /// The thread died.
    #[error("a kept answer: {0}")]
    Interrupted(#[from] JoinError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Who has an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyHolder {
    /// The render that asked.
    ThisRender,
    /// An earlier render that was asked for in the same words.
    SameRequest(RenderId),
    /// The render of another request.
    OtherRequest,
}

/// Takes the key of a request for a render that is opened in the same transaction, or says who has it.
pub(super) async fn take_key(
    db: &mut PgConnection,
    account: AccountId,
    request: &IdempotentRequest,
    render: RenderId,
    now: OffsetDateTime,
) -> Result<KeyHolder, StoreError> {
    let expires_at = now + idempotency::LIFETIME;
    if idempotency_keys::take(db, account, request, render, now, expires_at).await? {
        return Ok(KeyHolder::ThisRender);
    }
    let holder = idempotency_keys::find_holder(db, account, request).await?;
    Ok(match holder {
        Some(holder) if holder.fingerprint == request.fingerprint.as_bytes() => KeyHolder::SameRequest(holder.render),
        _ => KeyHolder::OtherRequest,
    })
}

/// Encrypts an outcome and writes it to a file, if the account has room for it; returns both.
pub(super) async fn write(
    app: &AppState,
    account: AccountId,
    outcome: KeptOutcome,
    now: OffsetDateTime,
) -> Result<(KeptOutcome, StoredResponse), KeepError> {
    let key = data_key(&app.db, &app.secret_keys, account, now).await?;
    let storage = account_storage::find(&app.db, account).await?;
    let (files, id) = (app.answers.clone(), Uuid::new_v4());
    spawn_blocking(move || {
        let sealed = key.seal(&Place::kept_answer(account, id), rand::random(), outcome.to_bytes()?)?;
        storage.room_for(StorageResource::ResponseBytes, sealed.len())?;
        files.write(id, &sealed)?;
        let bytes = i64::try_from(sealed.len()).unwrap_or(i64::MAX);
        Ok((outcome, StoredResponse { id, bytes }))
    })
    .await?
}

/// Removes a file that no row will name.
pub(super) async fn discard(app: &AppState, response: StoredResponse) {
    let files = app.answers.clone();
    let removed = spawn_blocking(move || files.remove(response.id)).await;
    if let Err(error) = removed.map_err(KeepError::from).and_then(|done| Ok(done?)) {
        tracing::warn!(%error, "a response that was not stored is still there; the purge removes it");
    }
}

/// What is kept for this very request, and the render that had it. What is lost frees the key.
pub(super) async fn find(
    app: &AppState,
    account: AccountId,
    request: &IdempotentRequest,
    now: OffsetDateTime,
) -> Result<Option<(RenderId, KeptOutcome)>, StoreError> {
    let Some(answer) = idempotency_keys::find_answer(&app.db, account, request, now).await? else {
        return Ok(None);
    };
    match read(app, account, answer.id, now).await {
        Ok(outcome) => Ok(Some((answer.render, outcome))),
        Err(error) => {
            tracing::error!(%error, answer = %answer.id, "a kept answer is lost; it is rendered anew");
            idempotency_keys::forget_answer(&app.db, account, answer.id).await?;
            Ok(None)
        }
    }
}

async fn read(app: &AppState, account: AccountId, id: Uuid, now: OffsetDateTime) -> Result<KeptOutcome, KeepError> {
    let key = data_key(&app.db, &app.secret_keys, account, now).await?;
    let files = app.answers.clone();
    spawn_blocking(move || {
        let sealed = files.read(id)?;
        Ok(KeptOutcome::from_bytes(
            &key.open(&Place::kept_answer(account, id), sealed)?.into(),
        )?)
    })
    .await?
}

/// Forgets the keys that have expired and what was kept for them, and removes what a crash has left without a key.
pub async fn purge(app: &AppState, now: OffsetDateTime) -> Result<(), KeepError> {
    let mut gone = idempotency_keys::delete_expired(&app.db, now).await?;
    let files = app.answers.clone();
    let old = SystemTime::from(now - UNNAMED);
    let written = spawn_blocking(move || files.list_written_before(old)).await??;
    gone.extend(idempotency_keys::list_unnamed(&app.db, &written).await?);
    let files = app.answers.clone();
    Ok(spawn_blocking(move || gone.into_iter().try_for_each(|id| files.remove(id))).await??)
}
