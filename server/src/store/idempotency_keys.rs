//! Table `idempotency_keys`.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        idempotency::IdempotentRequest,
        ids::{AccountId, RenderId},
    },
    store::error::StoreError,
};

/// Takes a key for a render that is about to be opened in the same transaction. `false`: another request has it.
///
/// A key is free when it is new or has expired, or when the render that took it has ended without an outcome that is
/// kept: failed by our fault, cancelled, or left behind by a process that died. For a render that nobody waits for, the
/// outcome is that it was accepted, whatever became of it, unless it was cancelled.
pub async fn take(
    db: &mut PgConnection,
    account: AccountId,
    request: &IdempotentRequest,
    render: RenderId,
    now: OffsetDateTime,
    expires_at: OffsetDateTime,
) -> Result<bool, StoreError> {
    // Whoever comes second waits here for the first one's transaction, and then sees the row as that left it. The render
    // that took the key may be too new to be seen: so a key is free if its render is seen to have ended, not unless it is
    // seen to be under way.
    let done = sqlx::query!(
        "insert into idempotency_keys (account_id, key, fingerprint, render_id, expires_at)
         values ($1, $2, $3, $4, $5)
         on conflict on constraint idempotency_keys_pkey do update
         set fingerprint = excluded.fingerprint, render_id = excluded.render_id, answer_id = null,
             expires_at = excluded.expires_at
         where idempotency_keys.expires_at <= $6
             or idempotency_keys.answer_id is null and exists (
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
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Who has a key.
#[derive(Debug)]
pub struct Holder {
    /// What was asked for.
    pub fingerprint: Vec<u8>,
    /// The render that took the key.
    pub render: RenderId,
}

/// Who has the key of a request.
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

/// The outcome that is kept for a request.
#[derive(Debug)]
pub struct Answer {
    /// The render that had it.
    pub render: RenderId,
    /// Names the file.
    pub id: Uuid,
}

/// Finds what is kept for this very request.
pub async fn find_answer(
    db: &PgPool,
    account: AccountId,
    request: &IdempotentRequest,
    now: OffsetDateTime,
) -> Result<Option<Answer>, StoreError> {
    let row = sqlx::query!(
        r#"select render_id, answer_id as "answer_id!" from idempotency_keys
           where account_id = $1 and key = $2 and fingerprint = $3 and answer_id is not null and expires_at > $4"#,
        account.0,
        request.key.as_str(),
        request.fingerprint.as_bytes(),
        now,
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Answer {
        render: RenderId(row.render_id),
        id: row.answer_id,
    }))
}

/// The render for which this very request was accepted before, if nobody waits for it and it was not cancelled.
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

/// A file that holds an outcome.
#[derive(Debug, Clone, Copy)]
pub struct StoredResponse {
    /// Its name.
    pub id: Uuid,
    /// Its size.
    pub bytes: i64,
}

/// Names the stored outcome of a render that took a key. The account may have no room for it.
pub async fn set_answer(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    response: StoredResponse,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update idempotency_keys set answer_id = $3, answer_bytes = $4 where account_id = $1 and render_id = $2",
        account.0,
        render.0,
        response.id,
        response.bytes,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Frees a key whose kept outcome is lost.
pub async fn forget_answer(db: &PgPool, account: AccountId, answer: Uuid) -> Result<(), StoreError> {
    sqlx::query!(
        "update idempotency_keys set answer_id = null where account_id = $1 and answer_id = $2",
        account.0,
        answer,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes the keys of all accounts that have expired. Returns what was kept for them.
pub async fn delete_expired(db: &PgPool, now: OffsetDateTime) -> Result<Vec<Uuid>, StoreError> {
    let answers = sqlx::query_scalar!(
        "delete from idempotency_keys where expires_at <= $1 returning answer_id",
        now
    );
    Ok(answers.fetch_all(db).await?.into_iter().flatten().collect())
}

/// Which of these outcomes no key of any account names.
pub async fn list_unnamed(db: &PgPool, answers: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
    let unnamed = sqlx::query_scalar!(
        r#"select answer as "answer!" from unnest($1::uuid[]) as kept (answer)
           where not exists (select from idempotency_keys where answer_id = kept.answer)"#,
        answers,
    );
    Ok(unnamed.fetch_all(db).await?)
}
