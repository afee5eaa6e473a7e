//! Signals and background tasks. The first SIGTERM or SIGINT begins an orderly stop, the second one cuts it short; a
//! background task that ends by itself takes the service down.

use std::{
    fmt::Display,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Shared by all that has to stop; cheap to clone.
#[derive(Clone, Default)]
pub struct Lifecycle {
    stopping: CancellationToken,
    leaving: CancellationToken,
    tasks: TaskTracker,
    failed: Arc<AtomicBool>,
}

impl Lifecycle {
    /// Resolves when the service is to stop: finish what runs, take nothing new.
    pub async fn stopping(&self) {
        self.stopping.cancelled().await;
    }

    /// Whether the service is to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// As [`Self::stopping`], for those who need a future of their own.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        self.stopping.clone().cancelled_owned()
    }

    /// Resolves when the service is to leave at once.
    pub async fn leaving(&self) {
        self.leaving.cancelled().await;
    }

    /// Begins an orderly stop.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// Whether a background task has failed.
    pub fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Runs a task until [`Self::stopping`]; an earlier end, an error or a panic stops the service with a failing code.
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
                Ok(Ok(())) => "it ended".to_owned(),
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

    /// Waits for every task to end.
    pub async fn tasks_ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Listens for signals from now on.
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
                tracing::info!(at_once = token.is_cancelled(), "asked to stop");
                token.cancel();
            }
        });
        Ok(())
    }
}
