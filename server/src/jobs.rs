//! Background work: jobs are claimed from the queue, done, and given back when this process stops.

mod billing;
pub mod changes;
mod exports;
mod mail;
pub mod signals;
mod worker;

use std::time::Duration;

use tokio::time::sleep;

use crate::{
    domain::job::JobKind,
    jobs::worker::Worker,
    lifecycle::Lifecycle,
    service::{callbacks, renders::background},
    state::AppState,
    store::jobs::ClaimedJob,
};

/// Callbacks that a process holds at once.
const CALLBACKS: usize = 33;
/// Callbacks that one account may have under way in all processes: slow receivers keep nobody else waiting.
const CALLBACKS_OF_ACCOUNT: usize = 8;

/// How often the database is asked for what it did not take at first.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Does background work until the service stops, and then until everything in hand is done or given back.
pub async fn work(app: &AppState, lifecycle: &Lifecycle) {
    let renders = Worker {
        app,
        lifecycle,
        kind: JobKind::Render,
        // While some are rendered, others are read, or uploaded to a store.
        at_once: 2 * app.config.browser.slots + 1,
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

/// Does one job. If the database does not take what became of it, the job is given back once it does.
async fn execute(app: &AppState, lifecycle: &Lifecycle, kind: JobKind, job: &ClaimedJob) {
    let done = match kind {
        JobKind::Render => background::render(app, job, || lifecycle.is_stopping()).await,
        JobKind::Callback => callbacks::send(app, job).await,
    };
    let Err(error) = done else { return };
    tracing::error!(%error, "what became of a job could not be recorded; it is given back");
    while background::hand_back(app, job, 0.0).await.is_err() {
        sleep(TRY_AGAIN).await;
    }
}
