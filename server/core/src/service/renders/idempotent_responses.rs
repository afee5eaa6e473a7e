//! Encrypted responses to idempotent requests, stored for repetitions.

use std::{io, time::SystemTime};

use platen_domain::{
    encryption::{EncryptionError, Place},
    idempotency::{self, IdempotentRequest},
    ids::{AccountId, RenderId},
    render::idempotent_response::{IdempotentResponse, Unreadable},
    storage::{StorageFull, StorageResource},
};
use sqlx::PgConnection;
use time::{Duration, OffsetDateTime};
use tokio::task::{JoinError, spawn_blocking};
use uuid::Uuid;

use crate::{
    render_request::stored,
    service::{
        Services,
        data_keys::{DataKeyError, data_key},
    },
    store::{
        account_storage,
        error::StoreError,
        idempotency_keys::{self, StoredResponse},
    },
};

/// Age from which a file without a row is deleted. Files are written shortly before the rows that name them.
const UNNAMED: Duration = Duration::HOUR;

/// Error of storing or reading an idempotent response or a queued request.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The data folder failed.
    #[error("stored response: {0}; PLATEN_DATA_DIR sets the data folder")]
    File(#[from] io::Error),
    /// It can't be encrypted or decrypted.
    #[error("stored response: {0}")]
    Encryption(#[from] EncryptionError),
    /// The stored response can't be parsed.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The stored request can't be written.
    #[error("the stored request can't be written: {0}")]
    Unwritable(#[from] serde_json::Error),
    /// The stored request can't be read.
    #[error(transparent)]
    UnreadableRequest(#[from] stored::Unreadable),
    /// The data key is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The account's storage limit is reached.
    #[error(transparent)]
    Full(#[from] StorageFull),
    /// The thread panicked.
    #[error("stored response: {0}")]
    Interrupted(#[from] JoinError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Holder of an idempotency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyHolder {
    /// The render that claimed the key.
    ThisRender,
    /// An earlier render of the same request.
    SameRequest(RenderId),
    /// A render of another request.
    OtherRequest,
}

/// Claims a request's idempotency key for a render that is opened in the same transaction. Returns the key's holder.
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

/// Encrypts an outcome and writes it to a file, if the account has room for it. Returns the outcome and the file.
pub(super) async fn write(
    app: &Services,
    account: AccountId,
    outcome: IdempotentResponse,
    now: OffsetDateTime,
) -> Result<(IdempotentResponse, StoredResponse), ContentError> {
    let key = data_key(&app.db, &app.secret_keys, account, now).await?;
    let storage = account_storage::find(&app.db, account).await?;
    let (files, id) = (app.responses.clone(), Uuid::new_v4());
    spawn_blocking(move || {
        let encrypted = key.encrypt(
            &Place::idempotent_response(account, id),
            rand::random(),
            outcome.to_bytes()?,
        )?;
        storage.room_for(StorageResource::ResponseBytes, encrypted.len())?;
        files.write(id, &encrypted)?;
        let bytes = i64::try_from(encrypted.len()).unwrap_or(i64::MAX);
        Ok((outcome, StoredResponse { id, bytes }))
    })
    .await?
}

/// Removes a file that no row will name. Failures are logged.
pub(super) async fn discard(app: &Services, response: StoredResponse) {
    let files = app.responses.clone();
    let removed = spawn_blocking(move || files.remove(response.id)).await;
    if let Err(error) = removed.map_err(ContentError::from).and_then(|done| Ok(done?)) {
        tracing::warn!(%error, "file of an unrecorded response could not be removed; the purge removes it");
    }
}

/// Returns the stored response to this request and its render. If the file is lost, releases the key and returns
/// `None`.
pub(super) async fn find(
    app: &Services,
    account: AccountId,
    request: &IdempotentRequest,
    now: OffsetDateTime,
) -> Result<Option<(RenderId, IdempotentResponse)>, StoreError> {
    let Some(stored) = idempotency_keys::find_response(&app.db, account, request, now).await? else {
        return Ok(None);
    };
    match read(app, account, stored.id, now).await {
        Ok(outcome) => Ok(Some((stored.render, outcome))),
        Err(error) => {
            tracing::error!(%error, response = %stored.id, "stored response is unreadable; rendering again");
            idempotency_keys::forget_response(&app.db, account, stored.id).await?;
            Ok(None)
        }
    }
}

async fn read(
    app: &Services,
    account: AccountId,
    id: Uuid,
    now: OffsetDateTime,
) -> Result<IdempotentResponse, ContentError> {
    let key = data_key(&app.db, &app.secret_keys, account, now).await?;
    let files = app.responses.clone();
    spawn_blocking(move || {
        let encrypted = files.read(id)?;
        Ok(IdempotentResponse::from_bytes(
            &key.decrypt(&Place::idempotent_response(account, id), encrypted)?.into(),
        )?)
    })
    .await?
}

/// Deletes expired keys with their responses, and files that a crash has left without a key.
pub async fn purge(app: &Services, now: OffsetDateTime) -> Result<(), ContentError> {
    let mut gone = idempotency_keys::delete_expired(&app.db, now).await?;
    let files = app.responses.clone();
    let old = SystemTime::from(now - UNNAMED);
    let written = spawn_blocking(move || files.list_written_before(old)).await??;
    gone.extend(idempotency_keys::list_unnamed(&app.db, &written).await?);
    let files = app.responses.clone();
    Ok(spawn_blocking(move || gone.into_iter().try_for_each(|id| files.remove(id))).await??)
}
