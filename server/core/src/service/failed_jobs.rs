//! Dead letters and failing jobs, for operators: listing, retrying and discarding them. Discarded work ends with a
//! status that clients can handle. Work that a worker holds is left alone.

use std::num::NonZeroU16;

use platen_domain::{
    audit_log::{AuditActor, AuditEvent, Reason},
    failed_jobs::{Done, FailedJob, FailedJobFilter, MOST_AT_ONCE, WorkCursor, WorkName, counted, listed},
    health::failure_kind::FailureKind,
    ids::{AccountId, DeliveryId, ExportId, RenderId},
    job::JobKind,
    page::{Page, PageRequest},
    render::history::RenderMode,
    sentence::sentence,
};
use platen_engine::render_log::Seen;
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

use crate::{
    service::{Services, callbacks::WebhookResult, exports, metrics::outcome::Outcome, renders::background},
    store::{
        audit_log,
        error::StoreError,
        failed_jobs::{self, TreatedJob, again, discarded},
        renders::Ending,
        tx,
    },
};

/// Entries of a page. The limit keeps the selection short enough for the URL to which the form redirects.
const PAGE: NonZeroU16 = NonZeroU16::MIN.saturating_add(24);
/// Error that clients get for a discarded render.
const ENDED: &str = "an operator of the service ended this render after it had failed";

/// Returns a page of 25 failing jobs, the latest failure first.
pub async fn page(
    db: &PgPool,
    filter: FailedJobFilter,
    after: Option<WorkCursor>,
) -> Result<Page<FailedJob, WorkCursor>, StoreError> {
    let request = PageRequest::after(after, PAGE);
    let found = failed_jobs::list(db, filter, &request).await?;
    Ok(request.page(found, |work| WorkCursor {
        failed_at: work.failed_at,
        name: work.name.clone(),
    }))
}

/// Returns the number of failing jobs that match the filter.
pub async fn count(db: &PgPool, filter: FailedJobFilter) -> Result<i64, StoreError> {
    failed_jobs::count(db, filter).await
}

/// Selection of an operator.
#[derive(Debug, Clone)]
pub enum Chosen {
    /// The named jobs.
    These(Vec<WorkName>),
    /// All that match the filter, up to [`MOST_AT_ONCE`].
    Found(FailedJobFilter),
}

/// Retries the selection at once, and records one audit event.
pub async fn retry(
    app: &Services,
    actor: &AuditActor,
    chosen: Chosen,
    reason: &Reason,
    now: OffsetDateTime,
) -> Result<Done, StoreError> {
    let mut transaction = tx::begin(&app.db).await?;
    let names = names(&mut transaction, chosen).await?;
    let meant = names.len();
    let retried = again::retry(&mut transaction, names).await?;
    let event = |work, ids| AuditEvent::WorkRetried { work, ids };
    write_down(&mut transaction, actor, &retried, event, reason, now).await?;
    tx::commit(transaction).await?;
    app.jobs.added(JobKind::Render);
    app.jobs.added(JobKind::Callback);
    app.jobs.added(JobKind::Delivery);
    publish(app, renders_of(JobKind::Callback, &retried));
    publish_deliveries(app, &retried);
    Ok(Done {
        meant,
        done: retried.len(),
    })
}

/// Discards the selection, and records one audit event. Renders and exports fail, webhook deliveries stop, mails are
/// deleted, unreported overage is not charged, and customers at Stripe are not mirrored again until their next event.
pub async fn discard(
    app: &Services,
    actor: &AuditActor,
    chosen: Chosen,
    reason: &Reason,
    now: OffsetDateTime,
) -> Result<Done, StoreError> {
    let mut transaction = tx::begin(&app.db).await?;
    let db = &mut *transaction;
    let meant = names(db, chosen).await?;
    let discarded = discarded::discard(db, &meant).await?;
    let renders = renders_of(JobKind::Render, &discarded);
    for (account, render) in &renders {
        let ending = Ending::Failed(json!({"message": ENDED, "code": FailureKind::Internal.into_str()}));
        let result = ended_by_operator();
        background::end(db, *account, *render, ending, result, &Seen::default(), now).await?;
    }
    let exports = failed_jobs::ids_of(JobKind::Export, discarded.iter().map(|job| &job.name));
    for export in exports {
        exports::fail(db, ExportId(export), now).await?;
    }
    let event = |work, ids| AuditEvent::WorkDiscarded { work, ids };
    write_down(db, actor, &discarded, event, reason, now).await?;
    tx::commit(transaction).await?;
    let ended = renders.len() as u64;
    app.metrics
        .renders_ended(RenderMode::Async, Outcome::Failed(FailureKind::Internal), ended);
    app.jobs.added(JobKind::Callback);
    publish(app, renders);
    publish(app, renders_of(JobKind::Callback, &discarded));
    publish_deliveries(app, &discarded);
    Ok(Done {
        meant: meant.len(),
        done: discarded.len(),
    })
}

fn ended_by_operator() -> WebhookResult {
    WebhookResult::Failure {
        error: sentence(ENDED),
        result: None,
    }
}

async fn names(db: &mut PgConnection, chosen: Chosen) -> Result<Vec<WorkName>, StoreError> {
    match chosen {
        Chosen::These(names) => Ok(names),
        Chosen::Found(filter) => failed_jobs::list_names(db, filter, MOST_AT_ONCE).await,
    }
}

/// Returns the accounts and renders of the jobs of a kind.
fn renders_of(kind: JobKind, treated: &[TreatedJob]) -> Vec<(AccountId, RenderId)> {
    let of_kind = treated.iter().filter(|job| job.name.kind == kind);
    of_kind
        .filter_map(|job| job.account.zip(RenderId::parse(&job.name.id)))
        .collect()
}

/// Notifies open pages of the changed renders.
fn publish(app: &Services, renders: Vec<(AccountId, RenderId)>) {
    for (account, render) in renders {
        app.jobs.changed(account, render);
    }
}

/// Notifies open pages of changed deliveries to webhook endpoints.
fn publish_deliveries(app: &Services, treated: &[TreatedJob]) {
    for job in treated.iter().filter(|job| job.name.kind == JobKind::Delivery) {
        if let (Some(account), Some(delivery)) = (job.account, DeliveryId::parse(&job.name.id)) {
            app.jobs.delivery_changed(account, delivery, None);
        }
    }
}

/// Records one audit event, with the account as its subject if all jobs belong to one. `event` receives the counts and the
/// list of the jobs.
async fn write_down(
    db: &mut PgConnection,
    actor: &AuditActor,
    treated: &[TreatedJob],
    event: impl FnOnce(String, String) -> AuditEvent,
    reason: &Reason,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let Some(first) = treated.first() else {
        return Ok(());
    };
    let names: Vec<_> = treated.iter().map(|job| job.name.clone()).collect();
    let account = first
        .account
        .filter(|_| treated.iter().all(|job| job.account == first.account));
    let event = event(counted(&names), listed(&names));
    audit_log::insert(db, actor, account, event, reason.as_str(), now).await
}
