//! Browsers that die or have done their work are replaced.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{Pool, lease::Pooled};
use crate::browser::Browser;

/// A browser that does not start is tried again after this, doubled each time up to the limit.
const RESTART_PAUSE: Duration = Duration::from_millis(250);
const RESTART_PAUSE_LIMIT: Duration = Duration::from_secs(10);
/// A retired browser whose sessions are still at work after this is ended all the same.
const DRAIN_LIMIT: Duration = Duration::from_mins(10);

impl Pool {
    /// Replaces a browser when it dies or has done its work. The replacement starts before the old one is ended.
    pub(super) async fn supervise(self, mut browser: Arc<Browser>) {
        loop {
            let died = tokio::select! {
                () = self.inner.closing.cancelled() => return,
                () = browser.exited() => true,
                () = browser.connection.closed() => true,
                () = self.worked_enough(&browser) => false,
                () = browser.bloated.cancelled() => {
                    tracing::warn!("a browser holds too much memory and is replaced");
                    false
                }
            };
            if died {
                tracing::warn!("a browser died and is replaced");
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
                Err(error) => tracing::error!(%error, "a browser can't be started; trying again"),
            }
            tokio::select! {
                () = self.inner.closing.cancelled() => return None,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(RESTART_PAUSE_LIMIT);
        }
    }

    /// Ends a retired browser once its sessions are gone.
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
