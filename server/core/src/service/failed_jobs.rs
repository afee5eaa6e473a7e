//! Dead letters and failing jobs, for operators: listing, retrying and discarding them. Discarded work ends with a
//! status that clients can handle. Work that a worker holds is left alone.

use std::{collections::BTreeSet, num::NonZeroU16};

use platen_domain::{
    audit_log::{AuditActor, AuditEvent, Reason},
    failed_jobs::{Done, FailedJob, MOST_AT_ONCE, WorkCursor, WorkKind, WorkName, counted, listed},
    health::failure_kind::FailureKind,
    ids::{AccountId, RenderId},
    job::JobKind,
    page::{Page, PageRequest},
    render::history::RenderMode,
    sentence::sentence,
};
use platen_engine::render_log::Seen;
use serde_json::json;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    service::{Services, callbacks::WebhookResult, exports, metrics::outcome::Outcome, renders::background},
    store::{
        audit_log,
        error::StoreError,
        failed_jobs::{self, FailedJobFilter, again, discarded},
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
    let mut round = Round::begin(&app.db, chosen).await?;
    let Round {
        transaction,
        ids,
        treated,
        ..
    } = &mut round;
    let db = &mut **transaction;
    let renders = again::retry_jobs(db, JobKind::Render, &ids.renders).await?;
    treated.add_renders(WorkKind::Render, &renders);
    let mut callbacks = again::retry_jobs(db, JobKind::Callback, &ids.callbacks).await?;
    callbacks.extend(again::resend_callbacks(db, &ids.callbacks).await?);
    treated.add_renders(WorkKind::Callback, &callbacks);
    for mail in again::retry_mails(db, &ids.mails).await? {
        treated.add(WorkKind::Mail, mail.to_string(), None);
    }
    for (account, export) in again::retry_exports(db, &ids.exports).await? {
        treated.add(WorkKind::Export, export.to_string(), Some(account));
    }
    for event in again::retry_usage(db, &ids.usage).await? {
        treated.add(WorkKind::Usage, event.to_string(), None);
    }
    for customer in again::retry_customers(db, &ids.customers).await? {
        treated.add(WorkKind::Customer, customer, None);
    }
    let event = |work, ids| AuditEvent::WorkRetried { work, ids };
    let done = round.finish(actor, event, reason, now).await?;
    app.jobs.added(JobKind::Render);
    app.jobs.added(JobKind::Callback);
    publish(app, callbacks);
    Ok(done)
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
    let mut round = Round::begin(&app.db, chosen).await?;
    let Round {
        transaction,
        ids,
        treated,
        ..
    } = &mut round;
    let db = &mut **transaction;
    let renders = discarded::delete_jobs(db, JobKind::Render, &ids.renders).await?;
    for (account, render) in &renders {
        let ending = Ending::Failed(json!({"message": ENDED}));
        background::end(
            db,
            *account,
            *render,
            ending,
            ended_by_operator(),
            &Seen::default(),
            now,
        )
        .await?;
    }
    treated.add_renders(WorkKind::Render, &renders);
    let without_job = discarded::delete_jobs(db, JobKind::Callback, &ids.callbacks).await?;
    let without_job: Vec<_> = without_job.iter().map(|(_, render)| render.0).collect();
    let callbacks = discarded::give_callbacks_up(db, &ids.callbacks, &without_job).await?;
    treated.add_renders(WorkKind::Callback, &callbacks);
    for mail in discarded::delete_mails(db, &ids.mails).await? {
        treated.add(WorkKind::Mail, mail.to_string(), None);
    }
    for export in discarded::give_exports_up(db, &ids.exports, now).await? {
        treated.add(WorkKind::Export, export.id.to_string(), Some(export.account));
        if let Some(asker) = export.asker {
            exports::notify_of_failure(db, &asker, now).await?;
        }
    }
    for event in discarded::give_usage_up(db, &ids.usage).await? {
        treated.add(WorkKind::Usage, event.to_string(), None);
    }
    for customer in discarded::leave_customers(db, &ids.customers).await? {
        treated.add(WorkKind::Customer, customer, None);
    }
    let event = |work, ids| AuditEvent::WorkDiscarded { work, ids };
    let done = round.finish(actor, event, reason, now).await?;
    let ended = renders.len() as u64;
    app.metrics
        .renders_ended(RenderMode::Async, Outcome::Failed(FailureKind::Internal), ended);
    app.jobs.added(JobKind::Callback);
    publish(app, renders);
    publish(app, callbacks);
    Ok(done)
}

fn ended_by_operator() -> WebhookResult {
    WebhookResult::Failure {
        error: sentence(ENDED),
        result: None,
    }
}

/// Work that is retried or discarded in one transaction, and recorded in one audit event.
struct Round {
    transaction: Transaction<'static, Postgres>,
    meant: Vec<WorkName>,
    ids: Ids,
    treated: Treated,
}

impl Round {
    async fn begin(db: &PgPool, chosen: Chosen) -> Result<Self, StoreError> {
        let mut transaction = tx::begin(db).await?;
        let meant = match chosen {
            Chosen::These(names) => names,
            Chosen::Found(filter) => failed_jobs::list_names(&mut transaction, filter, MOST_AT_ONCE).await?,
        };
        Ok(Self {
            transaction,
            ids: Ids::of(&meant),
            meant,
            treated: Treated::default(),
        })
    }

    /// Records the audit event and commits. `event` receives the counts and the list of the work.
    async fn finish(
        mut self,
        actor: &AuditActor,
        event: impl FnOnce(String, String) -> AuditEvent,
        reason: &Reason,
        now: OffsetDateTime,
    ) -> Result<Done, StoreError> {
        let treated = &self.treated;
        let event = event(counted(&treated.names), listed(&treated.names));
        treated
            .write_down(&mut self.transaction, actor, event, reason, now)
            .await?;
        tx::commit(self.transaction).await?;
        Ok(Done {
            meant: self.meant.len(),
            done: self.treated.names.len(),
        })
    }
}

/// Notifies open pages of the changed renders.
fn publish(app: &Services, renders: Vec<(AccountId, RenderId)>) {
    for (account, render) in renders {
        app.jobs.changed(account, render);
    }
}

/// Ids by kind. Names with an invalid id are ignored.
#[derive(Default)]
struct Ids {
    renders: Vec<Uuid>,
    callbacks: Vec<Uuid>,
    mails: Vec<Uuid>,
    exports: Vec<Uuid>,
    usage: Vec<Uuid>,
    customers: Vec<String>,
}

impl Ids {
    fn of(names: &[WorkName]) -> Self {
        let mut ids = Self::default();
        for name in names {
            let of_kind = match name.kind {
                WorkKind::Render => &mut ids.renders,
                WorkKind::Callback => &mut ids.callbacks,
                WorkKind::Mail => &mut ids.mails,
                WorkKind::Export => &mut ids.exports,
                WorkKind::Usage => &mut ids.usage,
                WorkKind::Customer => {
                    ids.customers.push(name.id.clone());
                    continue;
                }
            };
            of_kind.extend(name.id.parse::<Uuid>());
        }
        ids
    }
}

/// Work that was retried or discarded, and its accounts.
#[derive(Default)]
struct Treated {
    names: Vec<WorkName>,
    accounts: BTreeSet<Option<AccountId>>,
}

impl Treated {
    fn add(&mut self, kind: WorkKind, id: String, account: Option<AccountId>) {
        self.names.push(WorkName { kind, id });
        self.accounts.insert(account);
    }

    fn add_renders(&mut self, kind: WorkKind, renders: &[(AccountId, RenderId)]) {
        for (account, render) in renders {
            self.add(kind, render.to_string(), Some(*account));
        }
    }

    /// Records one audit event, with the account as its subject if all work belongs to one.
    async fn write_down(
        &self,
        db: &mut PgConnection,
        actor: &AuditActor,
        event: AuditEvent,
        reason: &Reason,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        if self.names.is_empty() {
            return Ok(());
        }
        let about = match self.accounts.len() {
            1 => self.accounts.first().copied().flatten(),
            _ => None,
        };
        audit_log::insert(db, actor, about, event, reason.as_str(), now).await
    }
}
