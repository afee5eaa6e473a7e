//! Tables `callbacks` and `callback_attempts`.

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    domain::{
        failed_work::kept_error,
        ids::{AccountId, RenderId},
    },
    store::error::StoreError,
};

/// Keeps where the callback of a render goes.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    webhook_id: Uuid,
    sealed_target: &[u8],
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into callbacks (render_id, account_id, webhook_id, sealed_target, state)
         values ($1, $2, $3, $4, 'waiting')",
        render.0,
        account.0,
        webhook_id,
        sealed_target,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Writes what is to be told of a render that has ended. `false`: nobody wants to hear of it.
pub async fn write_body(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    body: &str,
) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update callbacks set body = $3, state = 'sending'
         where account_id = $1 and render_id = $2 and state = 'waiting'",
        account.0,
        render.0,
        body,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// A callback that can be sent.
#[derive(Debug)]
pub struct Callback {
    /// What receivers know it by.
    pub webhook_id: Uuid,
    /// Address and headers.
    pub sealed_target: Vec<u8>,
    /// JSON.
    pub body: String,
}

/// The callback of a render that has ended.
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

/// How a callback stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackState {
    /// It is tried, or will be.
    Sending,
    /// It was received.
    Delivered,
    /// It was given up.
    Failed,
}

impl CallbackState {
    /// The word used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

/// Changes how a callback stands that is not given up; what was wrong before makes no difference any more.
pub async fn set_state(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    state: CallbackState,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update callbacks set state = $3, failed_at = null where account_id = $1 and render_id = $2",
        account.0,
        render.0,
        state.as_str(),
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Gives a callback up after so many tries, the last of which failed for this reason; an operator may want to know.
pub async fn fail(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    failures: i32,
    error: &str,
) -> Result<(), StoreError> {
    sqlx::query!(
        "update callbacks set state = 'failed', failed_at = now(), last_error = $3, failures = $4
         where account_id = $1 and render_id = $2",
        account.0,
        render.0,
        kept_error(error),
        failures,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Gives a callback up that is being sent. `false`: it is not.
pub async fn give_up(db: &mut PgConnection, account: AccountId, render: RenderId) -> Result<bool, StoreError> {
    let done = sqlx::query!(
        "update callbacks set state = 'failed' where account_id = $1 and render_id = $2 and state = 'sending'",
        account.0,
        render.0,
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// One try to send a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Of the answer; nothing when there was none.
    pub status: Option<i32>,
    /// Why there was none.
    pub error: Option<String>,
    /// How the answer began.
    pub answer: String,
    /// From the look-up of the address to the answer's end.
    pub duration_ms: i32,
    /// When it began.
    pub inserted_at: OffsetDateTime,
}

/// Tries that are listed of one callback: somebody may send it again and again.
const MOST_ATTEMPTS: i64 = 50;

/// Keeps a try, and forgets those before the newest [`MOST_ATTEMPTS`].
pub async fn insert_attempt(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    sqlx::query!(
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
    )
    .execute(db)
    .await?;
    Ok(())
}

/// How the callback of a render stands, and its tries.
#[derive(Debug)]
pub struct CallbackHistory {
    /// `waiting`, `sending`, `delivered` or `failed`.
    pub state: String,
    /// The oldest first.
    pub attempts: Vec<Attempt>,
}

/// The history of a render's callback. `None`: it has none.
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
    let attempts = sqlx::query_as!(
        Attempt,
        "select status, error, answer, duration_ms, inserted_at from callback_attempts
         where account_id = $1 and render_id = $2 order by id",
        account.0,
        render.0,
    );
    Ok(Some(CallbackHistory {
        state,
        attempts: attempts.fetch_all(db).await?,
    }))
}
