//! Deliveries of events to webhook endpoints, and to webhooks of batches. They are sent, retried and recorded like the webhooks of requests.

use platen_domain::{
    callback::{Attempt, CallbackTarget},
    encryption::Place,
    ids::{AccountId, DeliveryId, EndpointId, RenderId},
    job::{CRASHES, JobKind},
    webhook_endpoint::{FAILS_FOR, TEST_EVENT, event_body},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    clock,
    service::{
        Services,
        callbacks::{ResendError, Sent, StopError, TryError, post_signed},
        data_keys::data_key,
        metrics::outcome::CallbackOutcome,
        renders::idempotent_responses::ContentError,
        webhook_endpoints::disable_failing,
        webhook_secrets,
    },
    store::{
        callbacks::CallbackState,
        error::StoreError,
        jobs::{self, DeliveryJob},
        tx,
        webhook_deliveries::{self, PendingDelivery, Receiver},
        webhook_endpoints::{self, LockedEndpoint},
    },
};

/// Rows that one statement of the purge deletes.
const BATCH: i64 = 500;

/// Delivers the event of a claimed job, and records the attempt.
pub async fn send(app: &Services, job: &DeliveryJob) -> Result<(), StoreError> {
    let Some(delivery) = webhook_deliveries::find(&app.db, job.account, job.delivery).await? else {
        jobs::complete(&app.db, &job.claim).await?;
        return Ok(());
    };
    let sent = if job.claim.crashes >= CRASHES {
        (None, Sent::Never("the service crashed during each attempt".into()))
    } else if delivery.is_disabled() && delivery.event != TEST_EVENT {
        (None, Sent::Never("the endpoint was disabled".into()))
    } else {
        match attempt(app, job, &delivery).await {
            Ok(attempt) => {
                tracing::info!(status = attempt.status, error = attempt.error, "webhook attempt ended");
                let sent = Sent::by(&attempt);
                (Some(attempt), sent)
            }
            Err(error) => {
                tracing::error!(%error, "webhook could not be delivered");
                (None, Sent::NotYet("internal error; see the log of the service".into()))
            }
        }
    };
    let (attempt, sent) = sent;
    settle(app, job, &delivery, attempt, sent).await
}

async fn attempt(app: &Services, job: &DeliveryJob, delivery: &PendingDelivery) -> Result<Attempt, TryError> {
    let key = data_key(&app.db, &app.secret_keys, job.account, clock::now())
        .await
        .map_err(ContentError::from)?;
    let opened = |place, encrypted: &[u8]| key.decrypt(place, encrypted.to_vec()).map_err(ContentError::from);
    let target = match &delivery.receiver {
        Receiver::Endpoint { id, url, .. } => {
            let url = opened(&Place::webhook_endpoint(job.account, *id), url)?;
            CallbackTarget {
                url: String::from_utf8_lossy(&url).parse().map_err(TryError::Url)?,
                headers: Vec::new(),
            }
        }
        Receiver::Batch { id, target } => {
            serde_json::from_slice(&opened(&Place::batch_webhook(job.account, *id), target)?)?
        }
    };
    let (event, data) = (delivery.event.as_str(), delivery.data.clone());
    let body = event_body(delivery.event_id, event, delivery.inserted_at, data);
    let secrets = webhook_secrets::in_use(&app.db, &app.secret_keys, job.account, clock::now()).await?;
    Ok(post_signed(app, &secrets, &target, job.delivery.0, body).await)
}

/// Records an attempt, and completes the job, schedules a retry, or discards the job after the last one. Disables the
/// endpoint if it has failed for days.
async fn settle(
    app: &Services,
    job: &DeliveryJob,
    delivery: &PendingDelivery,
    attempt: Option<Attempt>,
    sent: Sent,
) -> Result<(), StoreError> {
    let now = clock::now();
    let (account, id) = (job.account, job.delivery);
    let endpoint = match delivery.receiver {
        Receiver::Endpoint { id, .. } => Some(id),
        Receiver::Batch { .. } => None,
    };
    // Tests are neither repeated nor held against the endpoint.
    let is_test = delivery.event == TEST_EVENT;
    let mut transaction = tx::begin(&app.db).await?;
    let db = &mut *transaction;
    // The endpoint is locked before the job.
    if let (Sent::Received, Some(endpoint)) = (&sent, endpoint) {
        webhook_endpoints::note_success(db, account, endpoint).await?;
    }
    let has_failed = attempt.is_some() && matches!(sent, Sent::NotYet(_)) && !is_test;
    let is_disabled = match endpoint {
        Some(endpoint) if has_failed => note_failure(db, account, endpoint, now).await?,
        _ => false,
    };
    let again = match &sent {
        Sent::NotYet(_) if !is_test && !is_disabled => JobKind::Delivery.delay(job.claim.failures, rand::random()),
        _ => None,
    };
    let (held, outcome) = match (sent, again) {
        (Sent::NotYet(error), Some(delay)) => {
            let held = jobs::release(&mut *db, &job.claim, Some(delay), Some(&error)).await?;
            (held, CallbackOutcome::Retried)
        }
        (Sent::Received, _) => {
            let held = jobs::complete(&mut *db, &job.claim).await?;
            if held {
                webhook_deliveries::set_state(db, account, id, CallbackState::Delivered).await?;
            }
            (held, CallbackOutcome::Delivered)
        }
        (Sent::NotYet(error) | Sent::Never(error), _) => {
            let held = jobs::complete(&mut *db, &job.claim).await?;
            if held && (is_test || is_disabled || delivery.is_disabled()) {
                webhook_deliveries::stop(db, account, id, Some(&error)).await?;
            } else if held {
                let tries = job.claim.failures + job.claim.crashes + i32::from(attempt.is_some());
                webhook_deliveries::fail(db, account, id, tries, &error).await?;
            }
            (held, CallbackOutcome::GivenUp)
        }
    };
    if let Some(attempt) = attempt {
        webhook_deliveries::insert_attempt(db, account, id, &attempt).await?;
    }
    tx::commit(transaction).await?;
    app.jobs.delivery_changed(account, id, delivery.render.map(RenderId));
    if held {
        app.metrics.callback_tried(outcome);
    }
    Ok(())
}

/// Records a failed attempt with its endpoint. Returns whether the endpoint is disabled: since before, or because it has
/// now failed for [`FAILS_FOR`].
async fn note_failure(
    db: &mut PgConnection,
    account: AccountId,
    endpoint: EndpointId,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let locked = webhook_endpoints::lock(db, account, endpoint).await?;
    match locked {
        None
        | Some(LockedEndpoint {
            disabled_at: Some(_), ..
        }) => Ok(true),
        Some(LockedEndpoint {
            failing_since: None, ..
        }) => {
            webhook_endpoints::note_failure(db, account, endpoint, now).await?;
            Ok(false)
        }
        Some(LockedEndpoint {
            failing_since: Some(since),
            address,
            ..
        }) if now - since >= FAILS_FOR => {
            disable_failing(db, account, endpoint, address, now).await?;
            Ok(true)
        }
        Some(_) => Ok(false),
    }
}

/// Sends an event to its receiver again, at once, whatever the status of the delivery.
pub async fn resend(app: &Services, account: AccountId, id: DeliveryId) -> Result<(), ResendError> {
    let delivery = webhook_deliveries::find(&app.db, account, id).await?;
    let delivery = delivery.ok_or(ResendError::None)?;
    if delivery.is_disabled() && delivery.event != TEST_EVENT {
        return Err(ResendError::Disabled);
    }
    let mut transaction = tx::begin(&app.db).await?;
    if !jobs::retry_delivery_now(&mut transaction, account, id).await? {
        return Err(ResendError::UnderWay);
    }
    webhook_deliveries::set_state(&mut transaction, account, id, CallbackState::Sending).await?;
    tx::commit(transaction).await?;
    app.jobs.added(JobKind::Delivery);
    app.jobs.delivery_changed(account, id, delivery.render.map(RenderId));
    Ok(())
}

/// Stops the delivery of an event. An attempt in progress may still succeed, and is recorded.
pub async fn stop(app: &Services, account: AccountId, id: DeliveryId) -> Result<(), StopError> {
    let delivery = webhook_deliveries::find(&app.db, account, id).await?;
    let delivery = delivery.ok_or(StopError::None)?;
    let mut transaction = tx::begin(&app.db).await?;
    jobs::delete_delivery(&mut transaction, account, id).await?;
    if !webhook_deliveries::stop(&mut transaction, account, id, None).await? {
        return Err(StopError::NotSending);
    }
    tx::commit(transaction).await?;
    app.jobs.delivery_changed(account, id, delivery.render.map(RenderId));
    Ok(())
}

/// Deletes deliveries of all accounts that no render belongs to, after the retention of their plans.
pub async fn purge(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    while webhook_deliveries::delete_old(db, now, BATCH).await? > 0 {}
    Ok(())
}
