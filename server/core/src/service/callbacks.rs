//! Webhooks of renders: the body that reports the outcome, and its signed delivery. The API calls them callbacks.

use std::time::{Duration, Instant};

use http::HeaderName;
use platen_domain::{
    callback::{Attempt, CallbackTarget},
    encryption::{DataKey, Place},
    ids::{AccountId, RenderId},
    job::{CRASHES, JobKind},
    storage::{StorageFull, StorageResource},
    webhook::{WebhookSecret, signatures, webhook_id},
};
use serde_json::{Map, Value};
use sqlx::PgConnection;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::{
    clock,
    grouping::Grouping,
    outbound,
    service::{
        Services,
        data_keys::data_key,
        metrics::outcome::CallbackOutcome,
        renders::idempotent_responses::ContentError,
        webhook_secrets::{self, WebhookSecretError},
    },
    store::{
        account_storage,
        callbacks::{self, Callback, CallbackState, Delivered},
        error::StoreError,
        jobs::{self, RenderJob},
        tx,
    },
};

/// Outcome of a render, as the webhook reports it.
#[derive(Debug)]
pub(super) enum WebhookResult {
    /// The document was stored; holds the store's response.
    Success(Value),
    /// There is no document.
    Failure {
        /// Reason of the failure.
        error: String,
        /// The store's response, if the store refused the document.
        result: Option<Value>,
    },
}

/// Enqueues the webhook of a render, if it has one, in the transaction that ends the render.
pub(super) async fn send_later(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    outcome: WebhookResult,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if callbacks::write_body(db, account, render, &body(outcome, now)).await? {
        jobs::insert_callback(db, account, render).await?;
    }
    Ok(())
}

pub(super) fn body(outcome: WebhookResult, now: OffsetDateTime) -> String {
    let mut body = Map::new();
    let (status, result, error) = match outcome {
        WebhookResult::Success(result) => ("success", Some(result), None),
        WebhookResult::Failure { error, result } => ("failed", result, Some(error)),
    };
    body.insert("status".into(), status.into());
    body.insert("timestamp".into(), now.format(&Rfc3339).ok().into());
    if let Some(result) = result {
        body.insert("result".into(), result);
    }
    if let Some(error) = error {
        body.insert("error".into(), error.into());
    }
    Value::Object(body).to_string()
}

/// Internal error that prevents a delivery.
#[derive(Debug, thiserror::Error)]
pub(super) enum TryError {
    #[error(transparent)]
    Secret(#[from] WebhookSecretError),
    #[error(transparent)]
    Sealed(#[from] ContentError),
    #[error("the webhook's target can't be read: {0}")]
    Target(#[from] serde_json::Error),
    #[error("the endpoint's URL can't be read: {0}")]
    Url(#[source] url::ParseError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Delivers the webhook of a claimed job, and records the attempt.
pub async fn send(app: &Services, job: &RenderJob) -> Result<(), StoreError> {
    let Some(callback) = find(app, job).await? else {
        jobs::complete(&app.db, &job.claim).await?;
        return Ok(());
    };
    if job.claim.crashes >= CRASHES {
        return record_failure(app, job, None, "the service crashed during each attempt", None).await;
    }
    let delay = JobKind::Callback.delay(job.claim.failures, rand::random());
    let attempt = match attempt(app, job, callback).await {
        Ok(attempt) => attempt,
        Err(error) => {
            tracing::error!(%error, "webhook could not be delivered");
            let error = "internal error; see the log of the service";
            return record_failure(app, job, None, error, delay).await;
        }
    };
    tracing::info!(status = attempt.status, error = attempt.error, "webhook attempt ended");
    match Sent::by(&attempt) {
        Sent::Received => record_delivered(app, job, attempt).await,
        Sent::NotYet(error) => record_failure(app, job, Some(attempt), &error, delay).await,
        Sent::Never(error) => record_failure(app, job, Some(attempt), &error, None).await,
    }
}

/// Deliveries that are looked up together.
pub(in crate::service) type CallbackLookups = Grouping<(AccountId, RenderId), Option<Callback>, StoreError>;
/// Accepted deliveries that are recorded together. The outcome is whether the worker still held the job.
pub(in crate::service) type DeliveredCallbacks = Grouping<Delivered, bool, StoreError>;

async fn find(app: &Services, job: &RenderJob) -> Result<Option<Callback>, StoreError> {
    let finding = app
        .groups
        .callback_lookups
        .process(&app.db, (job.account, job.render), |db, renders| async move {
            callbacks::list(&db, &renders, clock::now()).await
        });
    finding.await
}

async fn record_delivered(app: &Services, job: &RenderJob, attempt: Attempt) -> Result<(), StoreError> {
    let recording = app.groups.delivered_callbacks.process(
        &app.db,
        Delivered { job: *job, attempt },
        |db, deliveries| async move { callbacks::record_delivered(&db, &deliveries).await },
    );
    let is_held = recording.await?;
    app.jobs.changed(job.account, job.render);
    if is_held {
        app.metrics.callback_tried(CallbackOutcome::Delivered);
    }
    Ok(())
}

/// Result of an attempt.
pub(super) enum Sent {
    /// The endpoint accepted the webhook.
    Received,
    /// The attempt failed for this reason, and may be retried.
    NotYet(String),
    /// The attempt failed for this reason, and must not be retried.
    Never(String),
}

impl Sent {
    /// Returns the result of an attempt that was made.
    pub(super) fn by(attempt: &Attempt) -> Self {
        match (attempt.status, &attempt.error) {
            (Some(200..=299), _) => Self::Received,
            (Some(status), _) => Self::NotYet(format!("the endpoint responded with {status}")),
            (None, error) => Self::NotYet(error.clone().unwrap_or_default()),
        }
    }
}

async fn attempt(app: &Services, job: &RenderJob, callback: Callback) -> Result<Attempt, TryError> {
    let account = job.account;
    let key = match callback.data_key {
        Some(wrapped) => DataKey::unwrap(wrapped, &app.secret_keys, account).map_err(ContentError::from)?,
        None => data_key(&app.db, &app.secret_keys, account, clock::now())
            .await
            .map_err(ContentError::from)?,
    };
    let secrets = if callback.secrets.is_empty() {
        webhook_secrets::in_use(&app.db, &app.secret_keys, account, clock::now()).await?
    } else {
        webhook_secrets::decrypt(&key, account, callback.secrets)?
    };
    let place = Place::callback_target(account, job.render);
    let target = key
        .decrypt(&place, callback.sealed_target)
        .map_err(ContentError::from)?;
    let target: CallbackTarget = serde_json::from_slice(&target)?;
    Ok(post_signed(app, &secrets, &target, callback.webhook_id, callback.body).await)
}

/// Signs a body with the secrets of an account and posts it. Returns the attempt, to be recorded.
pub(super) async fn post_signed(
    app: &Services,
    secrets: &[WebhookSecret],
    target: &CallbackTarget,
    id: Uuid,
    body: String,
) -> Attempt {
    let inserted_at = clock::now();
    let (id, seconds) = (webhook_id(id), inserted_at.unix_timestamp());
    let headers = vec![
        (
            HeaderName::from_static("webhook-signature"),
            signatures(secrets, &id, seconds, &body),
        ),
        (HeaderName::from_static("webhook-id"), id),
        (HeaderName::from_static("webhook-timestamp"), seconds.to_string()),
    ];
    let started = Instant::now();
    let answer = outbound::callbacks::post(&app.outbound, target, headers, body).await;
    let duration_ms = i32::try_from(started.elapsed().as_millis()).unwrap_or(i32::MAX);
    let (status, error, answer) = match answer {
        Ok(answer) => (Some(i32::from(answer.status)), None, answer.beginning),
        Err(error) => (None, Some(error.to_string()), String::new()),
    };
    Attempt {
        status,
        error,
        answer,
        duration_ms,
        inserted_at,
    }
}

/// Records a failed attempt, and schedules a retry after `delay`, or gives the delivery up without one.
async fn record_failure(
    app: &Services,
    job: &RenderJob,
    attempt: Option<Attempt>,
    error: &str,
    delay: Option<Duration>,
) -> Result<(), StoreError> {
    let mut transaction = tx::begin(&app.db).await?;
    let db = &mut *transaction;
    let (held, outcome) = if delay.is_some() {
        let held = jobs::release(&mut *db, &job.claim, delay, Some(error)).await?;
        (held, CallbackOutcome::Retried)
    } else {
        let held = jobs::complete(&mut *db, &job.claim).await?;
        if held {
            let tries = job.claim.failures + job.claim.crashes + i32::from(attempt.is_some());
            callbacks::fail(db, job.account, job.render, tries, error).await?;
        }
        (held, CallbackOutcome::GivenUp)
    };
    if let Some(attempt) = attempt {
        callbacks::insert_attempt(db, job.account, job.render, &attempt).await?;
    }
    tx::commit(transaction).await?;
    app.jobs.changed(job.account, job.render);
    if held {
        app.metrics.callback_tried(outcome);
    }
    Ok(())
}

/// Error of [`resend`].
#[derive(Debug, thiserror::Error)]
pub enum ResendError {
    /// The render has no webhook.
    #[error("this render has no webhook")]
    None,
    /// The render has not ended.
    #[error("the render hasn't ended yet; its webhook is notified when it ends")]
    NotYet,
    /// An attempt is in progress.
    #[error("the delivery is in progress")]
    UnderWay,
    /// The endpoint is disabled.
    #[error("the webhook endpoint is disabled; enable it first")]
    Disabled,
    /// The account's limit of pending webhooks is reached.
    #[error(transparent)]
    Full(#[from] StorageFull),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Delivers the webhook of an ended render again, at once, whatever its status.
pub async fn resend(app: &Services, account: AccountId, render: RenderId) -> Result<(), ResendError> {
    let history = callbacks::find_history(&app.db, account, render).await?;
    let state = history.ok_or(ResendError::None)?.state;
    if state == "waiting" {
        return Err(ResendError::NotYet);
    }
    let mut transaction = tx::begin(&app.db).await?;
    if !jobs::retry_now(&mut transaction, account, JobKind::Callback, render).await? {
        return Err(ResendError::UnderWay);
    }
    callbacks::set_state(&mut transaction, account, render, CallbackState::Sending).await?;
    // A webhook in state `sending` counts already.
    if state != CallbackState::Sending.into_str() {
        let storage = account_storage::lock(&mut transaction, account).await?;
        storage.room_for(StorageResource::PendingCallbacks, 1)?;
    }
    tx::commit(transaction).await?;
    app.jobs.added(JobKind::Callback);
    app.jobs.changed(account, render);
    Ok(())
}

/// Error of [`stop`].
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// There is no such delivery.
    #[error("there is no such delivery")]
    None,
    /// The webhook is not being delivered.
    #[error("no delivery to this webhook is in progress")]
    NotSending,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Stops the delivery of a render's webhook. An attempt in progress may still succeed, and is recorded.
pub async fn stop(app: &Services, account: AccountId, render: RenderId) -> Result<(), StopError> {
    let mut transaction = tx::begin(&app.db).await?;
    jobs::delete(&mut transaction, account, JobKind::Callback, render).await?;
    if !callbacks::give_up(&mut transaction, account, render).await? {
        return Err(StopError::NotSending);
    }
    tx::commit(transaction).await?;
    app.jobs.changed(account, render);
    Ok(())
}
