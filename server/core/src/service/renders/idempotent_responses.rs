//! Encrypted responses to idempotent requests, stored with their keys for repetitions.

use platen_domain::{
    encryption::{EncryptionError, Place},
    idempotency::{self, IdempotentRequest},
    ids::{AccountId, RenderId},
    render::idempotent_response::{IdempotentResponse, Unreadable},
    storage::{StorageFull, StorageResource},
};
use sqlx::PgConnection;
use time::OffsetDateTime;
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
        idempotency_keys::{self, FoundResponse, StoredResponse},
    },
};

/// Error of storing or reading an idempotent response or a queued request.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
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

/// Encrypts the outcome of a render and stores it with the key that the render has claimed, if the account has room for it.
pub(super) async fn write(
    app: &Services,
    account: AccountId,
    render: RenderId,
    outcome: IdempotentResponse,
    now: OffsetDateTime,
) -> Result<(IdempotentResponse, StoredResponse), ContentError> {
    let key = data_key(&app.db, &app.secret_keys, account, now).await?;
    let storage = account_storage::find(&app.db, account).await?;
    let id = Uuid::new_v4();
    let sealing = spawn_blocking(move || {
        let encrypted = key.encrypt(
            &Place::idempotent_response(account, id),
            rand::random(),
            outcome.to_bytes()?,
        )?;
        storage.room_for(StorageResource::ResponseBytes, encrypted.len())?;
        Ok::<_, ContentError>((outcome, encrypted))
    });
    let (outcome, encrypted) = sealing.await??;
    idempotency_keys::write_response(&app.db, account, render, &encrypted).await?;
    let bytes = i64::try_from(encrypted.len()).unwrap_or(i64::MAX);
    Ok((outcome, StoredResponse { id, bytes }))
}

/// Deletes the stored response of a render that has ended otherwise. Failures are logged.
pub(super) async fn discard(app: &Services, account: AccountId, render: RenderId) {
    if let Err(error) = idempotency_keys::discard_response(&app.db, account, render).await {
        tracing::warn!(%error, "an unrecorded response could not be deleted; it is deleted with its key");
    }
}

/// Returns the stored response to this request and its render. If it is unreadable, releases the key and returns `None`.
pub(super) async fn find(
    app: &Services,
    account: AccountId,
    request: &IdempotentRequest,
    now: OffsetDateTime,
) -> Result<Option<(RenderId, IdempotentResponse)>, StoreError> {
    let Some(stored) = idempotency_keys::find_response(&app.db, account, request, now).await? else {
        return Ok(None);
    };
    let (render, id) = (stored.render, stored.id);
    match read(app, account, stored, now).await {
        Ok(outcome) => Ok(Some((render, outcome))),
        Err(error) => {
            tracing::error!(%error, response = %id, "stored response is unreadable; rendering again");
            idempotency_keys::forget_response(&app.db, account, id).await?;
            Ok(None)
        }
    }
}

async fn read(
    app: &Services,
    account: AccountId,
    stored: FoundResponse,
    now: OffsetDateTime,
) -> Result<IdempotentResponse, ContentError> {
    let key = data_key(&app.db, &app.secret_keys, account, now).await?;
    let opening = spawn_blocking(move || {
        let opened = key.decrypt(&Place::idempotent_response(account, stored.id), stored.sealed)?;
        Ok(IdempotentResponse::from_bytes(&opened.into())?)
    });
    opening.await?
}
