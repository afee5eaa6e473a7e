//! Sessions that are made before an account asks for one.

use std::{sync::Arc, time::Duration};

use super::{Pool, lease::Lease, places::Place};
use crate::{browser::Browser, page_kind::PageKind};

/// The first render of the account that took the last one is over by then: it shares no processor with a session that is
/// made.
const MAKE_AFTER: Duration = Duration::from_millis(150);

impl Pool {
    /// Keeps one unowned session ready, so that the first render of an account does not wait for a process to start.
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
                    Err(error) => tracing::error!(%error, "no session can be made ahead of time"),
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

    /// A place for an unowned session, without closing another one.
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
