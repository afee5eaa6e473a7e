//! Tables `callbacks` and `callback_attempts`: webhook deliveries and their attempts.

use platen_domain::{
    callback::Attempt,
    failed_jobs::kept_error,
    ids::{AccountId, DeliveryId, RenderId},
};
use sqlx::{PgConnection, PgPool};
use strum::IntoStaticStr;
use uuid::Uuid;

use crate::store::{
    deliveries,
    error::StoreError,
    statement::{changes_one, execute},
};

/// Stores the encrypted webhook target of a render.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    webhook_id: Uuid,
    sealed_target: &[u8],
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into callbacks (render_id, account_id, webhook_id, sealed_target, state)
         values ($1, $2, $3, $4, 'waiting')",
        render.0,
        account.0,
        webhook_id,
        sealed_target,
    );
    execute(db, insert).await
}

/// Stores the body of the delivery for a render that has ended. Returns `false` if the render has no webhook.
pub async fn write_body(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    body: &str,
) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update callbacks set body = $3, state = 'sending'
         where account_id = $1 and render_id = $2 and state = 'waiting'",
        account.0,
        render.0,
        body,
    );
    changes_one(db, update).await
}

/// A delivery that can be sent.
#[derive(Debug)]
pub struct Callback {
    /// Identifies the delivery to receivers.
    pub webhook_id: Uuid,
    /// Address and headers, encrypted.
    pub sealed_target: Vec<u8>,
    pub body: String,
}

/// Returns the delivery of a render. `None` if the render has no webhook or hasn't ended.
pub async fn find(db: &PgPool, account: AccountId, render: RenderId) -> Result<Option<Callback>, StoreError> {
    let callback = sqlx::query_as!(
        Callback,
        r#"select webhook_id, sealed_target, body as "body!" from callbacks
           where account_id = $1 and render_id = $2 and body is not null"#,
        account.0,
        render.0,
    );
    Ok(callback.fetch_optional(db).await?)
}

/// Status of a delivery. The names are used in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum CallbackState {
    /// Being sent, or waiting for an attempt.
    Sending,
    /// The receiver has accepted it.
    Delivered,
    /// Given up.
    Failed,
}

/// Sets the status of a delivery and clears an earlier failure.
pub async fn set_state(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    state: CallbackState,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update callbacks set state = $3, failed_at = null where account_id = $1 and render_id = $2",
        account.0,
        render.0,
        state.into_str(),
    );
    execute(db, update).await
}

/// Marks a delivery as failed after `failures` attempts. `error` is the reason of the last one, for operators.
pub async fn fail(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    failures: i32,
    error: &str,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update callbacks set state = 'failed', failed_at = now(), last_error = $3, failures = $4
         where account_id = $1 and render_id = $2",
        account.0,
        render.0,
        kept_error(error),
        failures,
    );
    execute(db, update).await
}

/// Gives up a delivery that is being sent. Returns `false` if it isn't.
pub async fn give_up(db: &mut PgConnection, account: AccountId, render: RenderId) -> Result<bool, StoreError> {
    let update = sqlx::query!(
        "update callbacks set state = 'failed' where account_id = $1 and render_id = $2 and state = 'sending'",
        account.0,
        render.0,
    );
    changes_one(db, update).await
}

/// Attempts stored for one delivery, because users can resend it any number of times.
pub(super) const MOST_ATTEMPTS: i64 = 50;

/// Stores an attempt, and deletes those before the newest [`MOST_ATTEMPTS`].
pub async fn insert_attempt(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let statement = sqlx::query!(
        "with surplus as (
            delete from callback_attempts where id in (
                select id from callback_attempts where account_id = $3 and render_id = $2 order by id desc offset $9
            )
         )
         insert into callback_attempts (id, render_id, account_id, status, error, answer, duration_ms, inserted_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        Uuid::now_v7(),
        render.0,
        account.0,
        attempt.status,
        attempt.error,
        attempt.answer,
        attempt.duration_ms,
        attempt.inserted_at,
        MOST_ATTEMPTS - 1,
    );
    execute(db, statement).await
}

/// Status and attempts of a delivery.
#[derive(Debug)]
pub struct CallbackHistory {
    /// `waiting`, `sending`, `delivered` or `failed`.
    pub state: String,
    /// Oldest first.
    pub attempts: Vec<Attempt>,
}

/// Returns status and attempts of a render's delivery. `None` if the render has no webhook.
pub async fn find_history(
    db: &PgPool,
    account: AccountId,
    render: RenderId,
) -> Result<Option<CallbackHistory>, StoreError> {
    let state = sqlx::query_scalar!(
        "select state from callbacks where account_id = $1 and render_id = $2",
        account.0,
        render.0,
    );
    let Some(state) = state.fetch_optional(db).await? else {
        return Ok(None);
    };
    let attempts = deliveries::list_attempts(db, account, &[DeliveryId(render.0)])
        .await?
        .into_iter();
    Ok(Some(CallbackHistory {
        state,
        attempts: attempts.map(|(_, attempt)| attempt).collect(),
    }))
}
