//! Replaces browsers that die, reach their number of renders, or use too much memory.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{Pool, lease::Pooled};
use crate::browser::Browser;

/// Delay before a failed start is retried, doubled each time up to the limit.
const RESTART_PAUSE: Duration = Duration::from_millis(250);
const RESTART_PAUSE_LIMIT: Duration = Duration::from_secs(10);
/// Time after which a retired browser is killed even if its sessions are still in use.
const DRAIN_LIMIT: Duration = Duration::from_mins(10);

impl Pool {
    /// Supervises a browser and its replacements until the pool is closed. Except after a crash, the replacement starts
    /// before the old browser is ended.
    pub(super) async fn supervise(self, mut browser: Arc<Browser>) {
        loop {
            let died = tokio::select! {
                () = self.inner.closing.cancelled() => return,
                () = browser.exited() => true,
                () = browser.connection.closed() => true,
                () = self.worked_enough(&browser) => false,
                () = browser.bloated.cancelled() => {
                    tracing::warn!("browser uses too much memory; replacing it");
                    false
                }
            };
            if died {
                tracing::warn!("browser died; replacing it");
                browser.kill();
                self.remove(&browser);
            }
            let Some(next) = self.replace(browser.is_for_frames).await else {
                return;
            };
            self.add(&next);
            let replaced = if died { &self.inner.died } else { &self.inner.retired };
            replaced.fetch_add(1, Ordering::Relaxed);
            if !died {
                browser.retire();
                self.remove(&browser);
                self.inner.tasks.spawn(self.clone().drain(browser));
            }
            browser = next;
        }
    }

    async fn worked_enough(&self, browser: &Browser) {
        loop {
            let changed = self.inner.changed.notified();
            if browser.renders() >= self.inner.config.renders_per_browser {
                return;
            }
            changed.await;
        }
    }

    async fn replace(&self, is_for_frames: bool) -> Option<Arc<Browser>> {
        let mut pause = RESTART_PAUSE;
        loop {
            let launched = tokio::select! {
                () = self.inner.closing.cancelled() => return None,
                launched = Browser::launch(&self.inner.config, is_for_frames, &self.inner.tasks) => launched,
            };
            match launched {
                Ok(browser) => return Some(browser),
                Err(error) => tracing::error!(%error, "browser could not be started; retrying"),
            }
            tokio::select! {
                () = self.inner.closing.cancelled() => return None,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(RESTART_PAUSE_LIMIT);
        }
    }

    /// Closes the idle sessions of a retired browser, and kills it once the others are closed or [`DRAIN_LIMIT`] has
    /// passed.
    async fn drain(self, browser: Arc<Browser>) {
        let leaving: Vec<Pooled> = {
            let mut state = self.lock();
            state
                .idle
                .extract_if(.., |pooled| pooled.session.browser.is(&browser))
                .collect()
        };
        for pooled in leaving {
            pooled.close().await;
        }
        let drained = async {
            loop {
                let changed = self.inner.changed.notified();
                if browser.sessions.load(Ordering::Acquire) == 0 {
                    return;
                }
                changed.await;
            }
        };
        tokio::select! {
            () = self.inner.closing.cancelled() => {}
            _ = tokio::time::timeout(DRAIN_LIMIT, drained) => {}
        }
        browser.kill();
    }
}
