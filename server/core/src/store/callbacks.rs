//! Tables `callbacks` and `callback_attempts`: webhook deliveries and their attempts.

use std::{
    collections::{HashMap, HashSet},
    iter::zip,
};

use platen_domain::{
    callback::Attempt,
    encryption::Wrapped,
    failed_jobs::kept_error,
    ids::{AccountId, DeliveryId, RenderId},
};
use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use strum::IntoStaticStr;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::store::{
    deliveries,
    error::StoreError,
    jobs::RenderJob,
    statement::{changes_one, execute},
};

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
#[derive(Debug, Clone)]
pub struct Callback {
    /// Identifies the delivery to receivers.
    pub webhook_id: Uuid,
    /// Address and headers, encrypted.
    pub sealed_target: Vec<u8>,
    pub body: String,
    /// The account's data key; `None` before its first use.
    pub data_key: Option<Wrapped>,
    /// The account's signing secrets in use, encrypted, the current one first: ids and contents. Empty before the first use.
    pub secrets: Vec<(Uuid, Vec<u8>)>,
}

/// Returns the deliveries of renders, in their order. `None` if a render has no webhook or hasn't ended.
pub async fn list(
    db: &PgPool,
    renders: &[(AccountId, RenderId)],
    now: OffsetDateTime,
) -> Result<Vec<Option<Callback>>, StoreError> {
    let (accounts, ids): (Vec<_>, Vec<_>) = renders.iter().map(|(account, render)| (account.0, render.0)).unzip();
    let callbacks = sqlx::query!(
        r#"select callbacks.render_id, webhook_id, sealed_target, body as "body!", data_key.secret_key_id as "secret_key_id?",
            data_key.wrapped_key as "wrapped_key?", secrets.ids, secrets.contents
         from unnest($1::uuid[], $2::uuid[]) as wanted (account_id, render_id)
         join callbacks using (account_id, render_id)
         left join account_keys data_key on data_key.account_id = wanted.account_id
         cross join lateral (
            select array_agg(id order by expires_at desc nulls first) as ids,
                array_agg(sealed order by expires_at desc nulls first) as contents
            from webhook_secrets
            where account_id = wanted.account_id and (expires_at is null or expires_at > $3)
         ) secrets
         where body is not null"#,
        &accounts,
        &ids,
        now,
    );
    let callbacks = callbacks.fetch_all(db).await?.into_iter().map(|row| {
        let data_key = row.secret_key_id.zip(row.wrapped_key);
        let callback = Callback {
            webhook_id: row.webhook_id,
            sealed_target: row.sealed_target,
            body: row.body,
            data_key: data_key.map(|(secret_key_id, sealed)| Wrapped { secret_key_id, sealed }),
            secrets: zip(row.ids.unwrap_or_default(), row.contents.unwrap_or_default()).collect(),
        };
        (row.render_id, callback)
    });
    let callbacks: HashMap<_, _> = callbacks.collect();
    // A render may be looked up twice at once, after a lost claim.
    Ok(renders
        .iter()
        .map(|(_, render)| callbacks.get(&render.0).cloned())
        .collect())
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
            delete from callback_attempts where account_id = $3 and id in (
                select id from callback_attempts where render_id = $2 order by id desc offset $9
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

/// A delivery that the receiver has accepted.
#[derive(Debug, Clone)]
pub struct Delivered {
    pub job: RenderJob,
    pub attempt: Attempt,
}

/// Records accepted deliveries with their attempts, and deletes their jobs. Returns whether each job was still held by its
/// claim; the state of others is left unchanged.
pub async fn record_delivered(db: &PgPool, deliveries: &[Delivered]) -> Result<Vec<bool>, StoreError> {
    let records = deliveries.iter().map(|Delivered { job, attempt }| {
        json!({
            "account_id": job.account.0,
            "render_id": job.render.0,
            "job_id": job.claim.job,
            "claim": job.claim.id,
            "attempt_id": Uuid::now_v7(),
            "status": attempt.status,
            "error": attempt.error,
            "answer": attempt.answer,
            "duration_ms": attempt.duration_ms,
            "inserted_at": attempt.inserted_at.format(&Rfc3339).ok(),
        })
    });
    let held = sqlx::query_scalar!(
        r#"with delivered as materialized (
            select * from jsonb_to_recordset($1) as record (
                account_id uuid, render_id uuid, job_id uuid, claim uuid, attempt_id uuid, status integer, error text,
                answer text, duration_ms integer, inserted_at timestamptz
            )
         ),
         held as materialized (
            select jobs.id, delivered.account_id, delivered.render_id
            from delivered join jobs on jobs.id = delivered.job_id and jobs.claim = delivered.claim
            order by jobs.id for update of jobs
         ),
         completed as (
            delete from jobs using held where jobs.id = held.id returning held.account_id, held.render_id
         ),
         marked as (
            update callbacks set state = 'delivered', failed_at = null
            from completed
            where callbacks.account_id = completed.account_id and callbacks.render_id = completed.render_id
         ),
         surplus as (
            delete from callback_attempts using delivered cross join lateral (
                select id from callback_attempts where render_id = delivered.render_id order by id desc offset $2
            ) old
            where callback_attempts.account_id = delivered.account_id and callback_attempts.id = old.id
         ),
         attempts as (
            insert into callback_attempts (id, render_id, account_id, status, error, answer, duration_ms, inserted_at)
            select attempt_id, render_id, account_id, status, error, answer, duration_ms, inserted_at from delivered
         )
         select render_id as "render_id!" from completed"#,
        records.collect::<Value>(),
        MOST_ATTEMPTS - 1,
    );
    let held: HashSet<_> = held.fetch_all(db).await?.into_iter().collect();
    Ok(deliveries
        .iter()
        .map(|delivery| held.contains(&delivery.job.render.0))
        .collect())
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
