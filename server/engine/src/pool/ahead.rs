//! Creates sessions in advance.

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{
    Pool,
    lease::{Lease, Pooled},
    places::Place,
};
use crate::{browser::Browser, page_kind::PageKind, steps::warm_up::warm_up};

/// Delay before the next session is created, so that it doesn't compete for CPU with the first render of the account
/// that took the last one.
const MAKE_AFTER: Duration = Duration::from_millis(150);
/// Time limit of the warm-up, which takes less than 100 ms on an idle machine.
const WARM_UP_LIMIT: Duration = Duration::from_secs(10);

impl Pool {
    /// Maintains one unassigned session of this kind, so that the first render of an account needn't wait for a process
    /// to start. Runs until the pool is closed.
    pub(super) async fn keep_one_ready(self, kind: PageKind) {
        loop {
            let changed = self.inner.changed.notified();
            if let Some((browser, place)) = self.room_ahead(kind) {
                match self.open(browser, kind, place).await {
                    Ok(made) => {
                        if let Some(pooled) = made.and_then(Lease::take) {
                            self.keep_warm(pooled).await;
                        }
                    }
                    Err(error) => tracing::error!(%error, "session could not be created in advance"),
                }
            }
            let later = async {
                changed.await;
                tokio::time::sleep(MAKE_AFTER).await;
            };
            tokio::select! {
                () = self.inner.closing.cancelled() => return,
                () = later => {}
            }
        }
    }

    /// Warms up a new session and adds it to the pool, or closes it if that fails.
    async fn keep_warm(&self, mut pooled: Pooled) {
        let session = &mut pooled.session;
        let is_warm = matches!(timeout(WARM_UP_LIMIT, warm_up(session)).await, Ok(Ok(())));
        if is_warm && session.reset(self.inner.config.page_memory_limit).await {
            self.keep(pooled);
        } else {
            if !self.inner.closing.is_cancelled() {
                tracing::warn!("session could not be warmed up; closing it");
            }
            pooled.close().await;
        }
    }

    /// Returns a place for an unassigned session, or `None` if one is ready or another would have to be evicted.
    fn room_ahead(&self, kind: PageKind) -> Option<(Arc<Browser>, Place)> {
        self.forget_dead();
        let state = self.lock();
        let is_ready = state.idle.iter().any(|pooled| pooled.session.is_for(None, kind));
        if self.inner.closing.is_cancelled() || is_ready || !self.has_room(&state) {
            return None;
        }
        let browser = state.least_busy_browser(kind)?;
        Some((browser, self.take_place()))
    }
}
