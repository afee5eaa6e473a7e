//! Background work: claims jobs from the queue, runs them, and releases them when this process stops.

mod billing;
mod worker;

use std::time::Duration;

use platen_domain::job::JobKind;
use tokio::time::{sleep, timeout};

use crate::{
    jobs::worker::Worker,
    lifecycle::Lifecycle,
    service::{
        Services,
        batches::opening,
        billing::{mirror, overage},
        callbacks, exports, mail,
        renders::background,
        webhook_deliveries,
    },
    store::{
        error::{StoreError, is_away},
        jobs::{self, ClaimedJob},
        statement::bounded,
    },
};

/// Renders that a process holds for each slot that they may take: while one is printed, others are read, uploaded or recorded, and the
/// next ones wait.
const RENDERS_OF_A_SLOT: u32 = 6;
/// Webhooks of renders, and events for webhook endpoints, that a process delivers at once.
const CALLBACKS: usize = 129;
/// The same of one account in progress across all processes, so that slow receivers don't delay other
/// accounts.
const CALLBACKS_OF_ACCOUNT: usize = 32;
/// Batches whose rows a process opens at once, and those of one account across all processes.
const BATCHES: usize = 4;
const BATCHES_OF_ACCOUNT: usize = 2;
/// Mails that a process sends at once.
const MAILS: usize = 8;
/// Customers that a process synchronizes with Stripe at once, and meter events that it sends.
const STRIPE_REQUESTS: usize = 4;

/// Delay of a job that has no attempts left, but whose end can't be recorded.
const LAST_DELAY: Duration = Duration::from_hours(1);
/// Longer than any job takes beyond the deadline of renders, unless its connection to the database was lost.
const LOST_AFTER: Duration = Duration::from_hours(1);
/// The same for a batch, whose turns take seconds.
const BATCH_LOST_AFTER: Duration = Duration::from_mins(5);
/// Interval between attempts to release a job.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Does background work until the service stops and all claimed jobs are done or released.
pub async fn work(app: &Services, lifecycle: &Lifecycle) {
    let worker = |kind, at_once, cap: Option<usize>| Worker {
        app,
        lifecycle,
        kind,
        at_once,
        cap,
        shared: None,
    };
    let slots = || app.engine.background_slots();
    let renders = || RENDERS_OF_A_SLOT as usize * slots();
    let renders = Worker {
        // A process that held more than it prints would keep others idle.
        shared: Some(&slots),
        ..worker(JobKind::Render, &renders, app.config.limits.concurrency)
    };
    let callbacks = worker(JobKind::Callback, &|| CALLBACKS, Some(CALLBACKS_OF_ACCOUNT));
    let deliveries = worker(JobKind::Delivery, &|| CALLBACKS, Some(CALLBACKS_OF_ACCOUNT));
    let batches = worker(JobKind::Batch, &|| BATCHES, Some(BATCHES_OF_ACCOUNT));
    let mails = worker(JobKind::Mail, &|| MAILS, None);
    let mails = async {
        if app.mailing.is_delivered() {
            mails.run().await;
        }
    };
    let exports = worker(JobKind::Export, &|| 1, None);
    let customers = worker(JobKind::Customer, &|| STRIPE_REQUESTS, None);
    let usage = worker(JobKind::Usage, &|| STRIPE_REQUESTS, None);
    let stripe = async {
        if app.billing.till.is_some() {
            tokio::join!(customers.run(), usage.run(), billing::run(app, lifecycle));
        }
    };
    tokio::join!(
        renders.run(),
        callbacks.run(),
        deliveries.run(),
        batches.run(),
        mails,
        exports.run(),
        stripe
    );
}

/// Runs one job of this kind. If its outcome can't be recorded, releases the job, as soon as the database accepts that.
async fn execute(app: &Services, lifecycle: &Lifecycle, kind: JobKind, job: &ClaimedJob) {
    let work = Box::pin(async {
        match job {
            ClaimedJob::Render(job) => background::render(app, job, || lifecycle.is_stopping()).await,
            ClaimedJob::Callback(job) => callbacks::send(app, job).await,
            ClaimedJob::Delivery(job) => webhook_deliveries::send(app, job).await,
            ClaimedJob::Batch(job) => opening::advance(app, job, || lifecycle.is_stopping()).await,
            ClaimedJob::Mail(claim, mail) => mail::send(&app.mailing, claim, *mail).await,
            ClaimedJob::Export(claim, export) => {
                let lifecycle = lifecycle.clone();
                exports::make(app, claim, *export, move || lifecycle.is_stopping()).await
            }
            ClaimedJob::Customer(claim, customer) => mirror::mirror(&app.billing, claim, customer).await,
            ClaimedJob::Usage(claim, event) => overage::send(&app.billing, claim, *event).await,
        }
    });
    let longest = match kind {
        JobKind::Batch => BATCH_LOST_AFTER,
        // A render waits for the others of its slot.
        _ => LOST_AFTER + RENDERS_OF_A_SLOT * app.config.jobs.deadline,
    };
    let done = timeout(longest, work).await;
    let done = done.unwrap_or_else(|_| Err(StoreError::late()));
    let Err(error) = done else { return };
    tracing::error!(%error, "job outcome could not be recorded; job released");
    // The job is not to blame for an unreachable database; any other cause may last.
    let (delay, failure) = if is_away(&error) {
        (Duration::ZERO, None)
    } else {
        let delay = kind.delay(job.claim().failures, rand::random());
        (delay.unwrap_or(LAST_DELAY), Some(error.to_string()))
    };
    while bounded(jobs::release(&app.db, job.claim(), Some(delay), failure.as_deref()))
        .await
        .is_err()
    {
        sleep(TRY_AGAIN).await;
    }
    if let ClaimedJob::Render(job) = job {
        app.jobs.changed(job.account, job.render);
    }
}
