//! Table `idempotency_keys`.

use platen_domain::{
    idempotency::IdempotentRequest,
    ids::{AccountId, RenderId},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::{changes_one, execute},
};

/// Claims a key for a render that is opened in the same transaction. Returns `false` if another request holds it.
///
/// A key is free if it is new or has expired, or if the render that claimed it has ended without a response to store:
/// it failed through an error of the service, was cancelled, or was abandoned by a process that died. The response to
/// an asynchronous render is its acceptance, whatever its outcome, unless it was cancelled.
pub async fn take(
    db: &mut PgConnection,
    account: AccountId,
    request: &IdempotentRequest,
    render: RenderId,
    now: OffsetDateTime,
    expires_at: OffsetDateTime,
) -> Result<bool, StoreError> {
    // A concurrent request waits here for the first one's transaction, and then sees the row as that transaction left
    // it. The render that claimed the key may be too new to be visible: therefore a key is free if its render is seen
    // to have ended, rather than unless it is seen to be in progress.
    let insert = sqlx::query!(
        "insert into idempotency_keys (account_id, key, fingerprint, render_id, expires_at)
         values ($1, $2, $3, $4, $5)
         on conflict on constraint idempotency_keys_pkey do update
         set fingerprint = excluded.fingerprint, render_id = excluded.render_id, answer_id = null,
             answer = null, expires_at = excluded.expires_at
         where idempotency_keys.expires_at <= $6
             or (idempotency_keys.answer_id is null or idempotency_keys.answer is null) and exists (
                 select from renders
                 where renders.id = idempotency_keys.render_id and renders.finished_at is not null
                     and (renders.mode = 'sync' or renders.status = 'cancelled')
             )",
        account.0,
        request.key.as_str(),
        request.fingerprint.as_bytes(),
        render.0,
        expires_at,
        now,
    );
    changes_one(db, insert).await
}

/// The render that holds a key.
#[derive(Debug)]
pub struct Holder {
    /// Fingerprint of the request that claimed the key.
    pub fingerprint: Vec<u8>,
    pub render: RenderId,
}

/// Returns the holder of a request's key.
pub async fn find_holder(
    db: &mut PgConnection,
    account: AccountId,
    request: &IdempotentRequest,
) -> Result<Option<Holder>, StoreError> {
    let holder = sqlx::query_as!(
        Holder,
        "select fingerprint, render_id as render from idempotency_keys where account_id = $1 and key = $2",
        account.0,
        request.key.as_str(),
    );
    Ok(holder.fetch_optional(db).await?)
}

/// The stored response to a request.
pub struct FoundResponse {
    /// The render that produced it.
    pub render: RenderId,
    /// To which its encryption is bound.
    pub id: Uuid,
    /// Encrypted.
    pub sealed: Vec<u8>,
}

/// Returns the stored response to a request with the same key and fingerprint, unless it has expired.
pub async fn find_response(
    db: &PgPool,
    account: AccountId,
    request: &IdempotentRequest,
    now: OffsetDateTime,
) -> Result<Option<FoundResponse>, StoreError> {
    let response = sqlx::query_as!(
        FoundResponse,
        r#"select render_id as render, answer_id as "id!", answer as "sealed!" from idempotency_keys
           where account_id = $1 and key = $2 and fingerprint = $3 and answer_id is not null and answer is not null
            and expires_at > $4"#,
        account.0,
        request.key.as_str(),
        request.fingerprint.as_bytes(),
        now,
    );
    Ok(response.fetch_optional(db).await?)
}

/// Returns the asynchronous render that an earlier request with the same key and fingerprint created, unless it was
/// cancelled.
pub async fn find_accepted(
    db: &PgPool,
    account: AccountId,
    request: &IdempotentRequest,
    now: OffsetDateTime,
) -> Result<Option<RenderId>, StoreError> {
    let render = sqlx::query_scalar!(
        "select renders.id from idempotency_keys join renders on renders.id = idempotency_keys.render_id
         where idempotency_keys.account_id = $1 and key = $2 and fingerprint = $3 and expires_at > $4
            and renders.mode = 'async' and renders.status <> 'cancelled'",
        account.0,
        request.key.as_str(),
        request.fingerprint.as_bytes(),
        now,
    );
    Ok(render.fetch_optional(db).await?.map(RenderId))
}

/// A response that is stored, but not yet returned to repeated requests.
#[derive(Debug, Clone, Copy)]
pub struct StoredResponse {
    /// To which its encryption is bound.
    pub id: Uuid,
    /// Size of the encrypted response.
    pub bytes: i64,
}

/// Stores an encrypted response with the key that a render has claimed. Large ones take a while, so this is done before the
/// transaction that records the outcome, which locks credits; [`set_response`] makes it valid.
pub async fn write_response(
    db: &PgPool,
    account: AccountId,
    render: RenderId,
    sealed: &[u8],
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update idempotency_keys set answer = $3 where account_id = $1 and render_id = $2 and answer_id is null",
        account.0,
        render.0,
        sealed,
    );
    execute(db, update).await
}

/// Makes a render's stored response the one of the key that it claimed. The commit fails if the account has no storage left
/// for it.
pub async fn set_response(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    response: StoredResponse,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update idempotency_keys set answer_id = $3, answer_bytes = $4 where account_id = $1 and render_id = $2",
        account.0,
        render.0,
        response.id,
        response.bytes,
    );
    execute(db, update).await
}

/// Deletes the stored response of a render that has ended otherwise.
pub async fn discard_response(db: &PgPool, account: AccountId, render: RenderId) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update idempotency_keys set answer = null where account_id = $1 and render_id = $2 and answer_id is null",
        account.0,
        render.0,
    );
    execute(db, update).await
}

/// Frees a key whose stored response is unreadable.
pub async fn forget_response(db: &PgPool, account: AccountId, response: Uuid) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update idempotency_keys set answer_id = null, answer = null where account_id = $1 and answer_id = $2",
        account.0,
        response,
    );
    execute(db, update).await
}

/// Deletes the expired keys of all accounts with their responses.
pub async fn delete_expired(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    execute(
        db,
        sqlx::query!("delete from idempotency_keys where expires_at <= $1", now),
    )
    .await
}
