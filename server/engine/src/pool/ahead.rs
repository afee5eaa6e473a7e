//! Creates sessions in advance.

use std::{sync::Arc, time::Duration};

use super::{Pool, lease::Lease, places::Place};
use crate::{browser::Browser, page_kind::PageKind};

/// Delay before the next session is created, so that it doesn't compete for CPU with the first render of the account
/// that took the last one.
const MAKE_AFTER: Duration = Duration::from_millis(150);

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
                            self.keep(pooled);
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
