//! Background work: claims jobs from the queue, runs them, and releases them when this process stops.

mod billing;
mod exports;
mod mail;
mod worker;

use std::time::Duration;

use platen_domain::job::JobKind;
use tokio::time::sleep;

use crate::{
    jobs::worker::Worker,
    lifecycle::Lifecycle,
    service::{Services, callbacks, renders::background},
    store::jobs::ClaimedJob,
};

/// Webhook deliveries that a process holds at once.
const CALLBACKS: usize = 33;
/// Webhook deliveries of one account in progress across all processes, so that slow receivers don't delay other
/// accounts.
const CALLBACKS_OF_ACCOUNT: usize = 8;

/// Interval between attempts to release a job.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Does background work until the service stops and all claimed jobs are done or released.
pub async fn work(app: &Services, lifecycle: &Lifecycle) {
    let renders = Worker {
        app,
        lifecycle,
        kind: JobKind::Render,
        // While some are rendered, others are read, uploaded or recorded, and the next ones wait for a slot.
        at_once: 3 * app.config.browser.slots,
        cap: app.config.limits.concurrency,
    };
    let callbacks = Worker {
        app,
        lifecycle,
        kind: JobKind::Callback,
        at_once: CALLBACKS,
        cap: Some(CALLBACKS_OF_ACCOUNT),
    };
    tokio::join!(
        renders.run(),
        callbacks.run(),
        mail::run(app, lifecycle),
        exports::run(app, lifecycle),
        billing::run(app, lifecycle)
    );
}

/// Runs one job. If its outcome can't be recorded, retries until the database accepts the release of the job.
async fn execute(app: &Services, lifecycle: &Lifecycle, kind: JobKind, job: &ClaimedJob) {
    let done = match kind {
        JobKind::Render => background::render(app, job, || lifecycle.is_stopping()).await,
        JobKind::Callback => callbacks::send(app, job).await,
    };
    let Err(error) = done else { return };
    tracing::error!(%error, "job outcome could not be recorded; job released");
    while background::hand_back(app, job, 0.0).await.is_err() {
        sleep(TRY_AGAIN).await;
    }
}
