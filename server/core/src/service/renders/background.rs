//! Asynchronous renders: rendering, delivery, recording and charging, and the webhook, for a claimed job.

use std::time::Duration;

use bytes::Bytes;
use platen_domain::{
    batch::Hold,
    credits::{self, Meter, NotEnoughCredits},
    encryption::{DataKey, Place, Wrapped},
    ids::{AccountId, RenderId},
    job::{CRASHES, JobKind},
    render::history::RenderMode,
    sentence::sentence,
    storage::StorageResource,
};
use platen_engine::{
    job::Lane,
    render_log::{RenderLog, Seen},
};
use serde_json::Value;
use sqlx::PgConnection;
use time::OffsetDateTime;
use tokio::task::spawn_blocking;

use crate::{
    clock,
    grouping::Grouping,
    memory::Reservation,
    render_request::{RenderTerms, stored::StoredRequest},
    service::{
        Services,
        callbacks::{self, WebhookResult},
        metrics::outcome::Outcome,
        renders::{
            accessibility,
            charge::{available_credits, record_queued_success, reserve_price},
            deliver::{DeliveryError, deliver, deliver_to_client, take_back},
            failure::{FailureReason, Retry},
            idempotent_responses::ContentError,
            links, make, note,
            thumbnails::{self, PagesToDraw},
            watermark,
        },
    },
    store::{
        error::StoreError,
        jobs::{self, RenderJob, held},
        render_contents::EncryptedContent,
        renders::{
            self, Ending, Success,
            charges::{Bill, Completion, QueuedCompletion},
            queued::{self, QueuedRender},
        },
        tx,
    },
};

/// Delay before a render that found no slot or memory is claimed again.
const NO_PLACE: Duration = Duration::from_secs(1);
/// Delay before a render that is held for lack of storage or credits is tried again even without more of them.
const LONGEST_HOLD: Duration = Duration::from_hours(24);
/// Maximum size of a stored request that is loaded together with others, in bytes. Memory is reserved for each only afterwards.
const LARGEST_TOGETHER: i32 = 64 << 10;

/// Renders a claimed job and records its outcome. `stopping` returns whether the service is shutting down; failures are
/// then not attributed to the render. Dropping the future ends the engine's work without releasing the job.
pub async fn render(app: &Services, job: &RenderJob, stopping: impl Fn() -> bool) -> Result<(), StoreError> {
    let Some(queued) = find(app, job).await? else {
        jobs::complete(&app.db, &job.claim).await?;
        return Ok(());
    };
    let object = queued.object;
    let log = RenderLog::default();
    let mut printed = Printed::default();
    let outcome = finish(app, job, queued, &log, &mut printed).await;
    let Err(reason) = outcome else {
        app.metrics.render_ended(RenderMode::Async, Outcome::Succeeded);
        return Ok(());
    };
    if job.is_of_batch && hold(app, job, &reason, &printed).await? {
        return Ok(());
    }
    let retry = match reason.class().retry {
        // The cause may be the end of the service.
        Retry::Later if stopping() => Retry::NotCounted,
        retry => retry,
    };
    match retry {
        Retry::Ended => tracing::info!("the job was lost; the outcome of its render is dropped"),
        Retry::NotCounted => release(app, job, NO_PLACE, None).await?,
        Retry::Later if release_failed(app, job, &reason).await? => {
            tracing::warn!(error = %reason, failures = job.claim.failures + 1, "not rendered; retrying later");
        }
        Retry::Later | Retry::Never => {
            let failed = fail(app, job, &reason, &log.seen()).await?;
            // Another worker that holds the job may have stored the same document already.
            if let Some(object) = object.filter(|_| failed) {
                take_back(app, object).await;
            }
        }
    }
    Ok(())
}

/// Queued renders that are looked up together.
pub(in crate::service) type QueuedLookups = Grouping<(AccountId, RenderId), Option<QueuedRender>, StoreError>;

async fn find(app: &Services, job: &RenderJob) -> Result<Option<QueuedRender>, StoreError> {
    let wanted = (job.account, job.render);
    let finding = app
        .groups
        .queued_lookups
        .process(&app.db, wanted, |db, renders| async move {
            queued::list(&db, &renders, Some(LARGEST_TOGETHER)).await
        });
    let found = finding.await?;
    if found.as_ref().is_some_and(|queued| queued.is_too_large) {
        return Ok(queued::list(&app.db, &[wanted], None).await?.pop().flatten());
    }
    Ok(found)
}

/// Releases a job for a retry after `delay`. `failure` is the reason why the attempt failed; an attempt without one
/// doesn't count.
async fn release(app: &Services, job: &RenderJob, delay: Duration, failure: Option<&str>) -> Result<(), StoreError> {
    jobs::release(&app.db, &job.claim, Some(delay), failure).await?;
    app.jobs.changed(job.account, job.render);
    Ok(())
}

/// Releases a job for a retry after a transient failure. Returns `false` if it has no attempts left.
async fn release_failed(app: &Services, job: &RenderJob, reason: &FailureReason) -> Result<bool, StoreError> {
    let Some(delay) = JobKind::Render.delay(job.claim.failures, rand::random()) else {
        return Ok(false);
    };
    release(app, job, delay, Some(&reason.to_string())).await?;
    Ok(true)
}

/// What is known of a document; nothing until it is printed.
#[derive(Default)]
struct Printed {
    bytes: i64,
    /// In credits.
    price: i64,
}

/// Holds the render of a batch if its document failed for lack of storage or credits, unless it needs more than the account has in all.
/// Returns whether it is held. A document that is in its store already is overwritten by the next one.
async fn hold(app: &Services, job: &RenderJob, reason: &FailureReason, printed: &Printed) -> Result<bool, StoreError> {
    let account = job.account;
    let (hold, needed, most) = match reason {
        FailureReason::StorageFull(full) if full.resource == StorageResource::DocumentBytes => {
            (Hold::Storage, printed.bytes.max(1), full.limit)
        }
        FailureReason::Credits(NotEnoughCredits::OverKeyLimit { limit, .. }) => (Hold::Credits, printed.price, *limit),
        FailureReason::Credits(_) => {
            let mut db = app.db.acquire().await?;
            let credits = available_credits(&mut db, account, None, clock::now()).await?;
            (Hold::Credits, printed.price, credits.total)
        }
        _ => return Ok(false),
    };
    if needed > most || !held::hold(&app.db, account, &job.claim, (hold, needed), LONGEST_HOLD).await? {
        return Ok(false);
    }
    tracing::info!(
        hold = hold.into_str(),
        needed,
        "render held: too little storage or credits"
    );
    app.jobs.changed(account, job.render);
    Ok(true)
}

/// Decrypts the request, renders and delivers the document, and records the success. Notes the document as soon as it is printed.
async fn finish(
    app: &Services,
    job: &RenderJob,
    mut queued: QueuedRender,
    log: &RenderLog,
    printed: &mut Printed,
) -> Result<(), FailureReason> {
    if job.claim.crashes >= CRASHES {
        return Err(FailureReason::Poisonous);
    }
    check_room(&queued, 1)?;
    let content = queued.content.take().ok_or(FailureReason::Ended)?;
    let (request, mut memory) = open(app, job, content).await?;
    let StoredRequest {
        render: mut request,
        destination,
    } = request;
    request.set_versions(&queued.options);
    let caller = platen_engine::job::Caller {
        account: job.account.0,
        concurrency: queued.concurrency,
    };
    let terms = RenderTerms {
        id: job.render,
        lane: Lane::Background,
        watermark: watermark(queued.livemode),
        deadline: app.config.jobs.deadline,
        pages: app.config.jobs.page_limit,
        document_bytes: app.config.memory.largest_document(queued.body_bytes),
    };
    let rendered = make(app, caller, request, terms, &mut memory, log, None).await;
    let seen = log.seen();
    note(app, RenderMode::Async, &rendered, &seen);
    let mut document = rendered?;
    let bill = Bill {
        render: job.render,
        livemode: queued.livemode,
        meter: Meter::AsyncRender,
        price: credits::price(document.page_count),
    };
    *printed = Printed {
        bytes: i64::try_from(document.pdf.len()).unwrap_or(i64::MAX),
        price: bill.price,
    };
    if bill.livemode && bill.price > queued.reserved {
        let mut db = app.db.acquire().await.map_err(StoreError::from)?;
        reserve_price(&mut db, job.account, job.render, bill.price, clock::now()).await?;
    }
    let success = Success::from(&document);
    let pdf = Bytes::from(std::mem::take(&mut document.pdf));
    memory.shrink_to(pdf.len() as u64);
    check_room(&queued, pdf.len())?;
    let stored = match (queued.object, destination) {
        (Some(object), _) => {
            let mut stored = deliver(app, object, pdf.clone()).await?;
            if let Some(seconds) = queued.link_seconds {
                let lifetime = time::Duration::seconds(seconds.into());
                links::replace_address(app, job.account, job.render, lifetime, &mut stored.result).await?;
            }
            stored
        }
        (None, Some(destination)) => deliver_to_client(app, job.account, &destination, pdf.clone()).await?,
        (None, None) => return Err(FailureReason::Ended),
    };
    let callback_body = callbacks::body(WebhookResult::Success(stored.result.clone()), clock::now());
    let completion = Completion {
        bill,
        success,
        seen,
        queued: Some(QueuedCompletion {
            claim: job.claim,
            document: stored,
            callback_body,
        }),
    };
    record_queued_success(app, job, completion).await?;
    let report = accessibility::report(&document);
    app.accessibility_reports.offer(job.account, job.render, &report);
    if queued.object.is_none() || !thumbnails::is_drawn_when_looked_at(app) {
        let wanted = PagesToDraw::of(document.page_count, report.is_notable());
        thumbnails::offer(app, job.account, job.render, wanted, pdf);
    }
    Ok(())
}

/// Fails early if the account has no room for the document. The statement that records it decides.
fn check_room(queued: &QueuedRender, bytes: usize) -> Result<(), FailureReason> {
    if queued.object.is_some() {
        queued.storage.room_for(StorageResource::DocumentBytes, bytes)?;
    }
    Ok(())
}

/// Decrypts the stored request. Returns it with its memory reservation.
async fn open(
    app: &Services,
    job: &RenderJob,
    (EncryptedContent { version, sealed }, data_key): (EncryptedContent, Wrapped),
) -> Result<(StoredRequest, Reservation), FailureReason> {
    let (account, render) = (job.account, job.render);
    let memory = app.memory.try_reserve(account, 2 * sealed.len() as u64)?;
    let key = DataKey::unwrap(data_key, &app.secret_keys, account);
    let key = key.map_err(|error| FailureReason::Content(ContentError::Encryption(error)))?;
    let opening = spawn_blocking(move || {
        let content = key.decrypt(&Place::stored_request(account, render, version), sealed);
        let content = content.map_err(|error| FailureReason::Content(ContentError::Encryption(error)))?;
        StoredRequest::from_bytes(version, &content).map_err(|error| FailureReason::Content(error.into()))
    });
    Ok((opening.await??, memory))
}

/// Ends a render without a document after its job was removed from the queue, and enqueues its webhook.
pub(in crate::service) async fn end(
    db: &mut PgConnection,
    account: AccountId,
    render: RenderId,
    ending: Ending,
    result: WebhookResult,
    seen: &Seen,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    renders::finish(db, account, render, ending, seen, now).await?;
    callbacks::send_later(db, account, render, result, now).await
}

/// Records a failed render, and enqueues its webhook. Returns `false` if another worker holds the job.
async fn fail(app: &Services, job: &RenderJob, reason: &FailureReason, seen: &Seen) -> Result<bool, StoreError> {
    let now = clock::now();
    let error = reason.to_error();
    let mut transaction = tx::begin(&app.db).await?;
    if !jobs::complete(&mut *transaction, &job.claim).await? {
        return Ok(false);
    }
    tracing::warn!(error = %reason, "render failed");
    let failure = failure(&error, reason);
    let ending = Ending::Failed(error);
    end(&mut transaction, job.account, job.render, ending, failure, seen, now).await?;
    tx::commit(transaction).await?;
    app.metrics.render_ended(RenderMode::Async, reason.counted());
    app.jobs.added(JobKind::Callback);
    app.jobs.changed(job.account, job.render);
    Ok(true)
}

/// Returns the webhook's content for a failure: a sentence, the JSON pointer into the request, and the response of the
/// client's store.
fn failure(stored: &Value, reason: &FailureReason) -> WebhookResult {
    let message = sentence(stored["message"].as_str().unwrap_or("internal error"));
    let error = match stored["pointer"].as_str() {
        Some(pointer) if !pointer.is_empty() => format!("{pointer}: {message}"),
        _ => message,
    };
    let result = match reason {
        FailureReason::Delivery(DeliveryError::Client(error)) => error.result(),
        _ => None,
    };
    WebhookResult::Failure { error, result }
}
