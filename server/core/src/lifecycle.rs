//! Signals and background tasks. The first SIGTERM or SIGINT starts a graceful shutdown, the second one aborts it. A
//! background task that ends unexpectedly stops the service.

use std::{
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The shutdown state and background tasks of the service; cheap to clone.
#[derive(Clone, Default)]
pub struct Lifecycle {
    stopping: CancellationToken,
    leaving: CancellationToken,
    tasks: TaskTracker,
    failed: Arc<AtomicBool>,
}

impl Lifecycle {
    /// Resolves when shutdown begins: running work finishes, new work is refused.
    pub async fn stopping(&self) {
        self.stopping.cancelled().await;
    }

    /// Returns whether shutdown has begun.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// As [`Self::stopping`], as an owned future.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        self.stopping.clone().cancelled_owned()
    }

    /// Resolves when the process must exit immediately.
    pub async fn leaving(&self) {
        self.leaving.cancelled().await;
    }

    /// Begins a graceful shutdown.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// Returns whether a background task has failed.
    pub fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Runs a task until [`Self::stopping`]. If it ends earlier, fails or panics, the service stops with a failing exit
    /// code.
    pub fn spawn<E: Display + Send + 'static>(
        &self,
        name: &'static str,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {
        let running = tokio::spawn(task);
        let lifecycle = self.clone();
        self.tasks.spawn(async move {
            let outcome = match running.await {
                Ok(Ok(())) if lifecycle.stopping.is_cancelled() => return,
                Ok(Ok(())) => "ended unexpectedly".to_owned(),
                Ok(Err(error)) => error.to_string(),
                Err(panic) => panic.to_string(),
            };
            tracing::error!(
                task = name,
                error = outcome,
                "a background task failed; the service stops"
            );
            lifecycle.failed.store(true, Ordering::Relaxed);
            lifecycle.stop();
        });
    }

    /// Waits for all tasks to end.
    pub async fn tasks_ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Starts handling SIGTERM and SIGINT.
    pub fn watch_signals(&self) -> std::io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let lifecycle = self.clone();
        tokio::spawn(async move {
            for token in [&lifecycle.stopping, &lifecycle.leaving] {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                tracing::info!(at_once = token.is_cancelled(), "received a signal to stop");
                token.cancel();
            }
        });
        Ok(())
    }
}
