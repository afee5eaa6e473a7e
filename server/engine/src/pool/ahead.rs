//! Sessions that are made before an account asks for one.

use std::time::Duration;

use super::{Found, Pool, lease::Lease};
use crate::browser::Scripts;

/// The first render of the account that took the last one is over by then: it shares no processor with a session that is
/// made.
const MAKE_AFTER: Duration = Duration::from_millis(150);

impl Pool {
    /// Keeps one unowned session ready, so that the first render of an account does not wait for a process to start.
    pub(super) async fn keep_one_ready(self, scripts: Scripts) {
        loop {
            let changed = self.inner.changed.notified();
            if let Found::Room { browser, place, .. } = self.room_ahead(scripts) {
                match self.open(browser, place).await {
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

    /// Room for a session that nobody waits for, at no other session's cost.
    fn room_ahead(&self, scripts: Scripts) -> Found {
        self.forget_dead();
        let state = self.lock();
        let is_ready = state.idle.iter().any(|pooled| pooled.session.is_for(None, scripts));
        if self.inner.closing.is_cancelled() || is_ready || !self.has_room(&state) {
            return Found::Nothing;
        }
        match state.least_busy_browser(scripts) {
            Some(browser) => Found::Room {
                browser,
                place: self.take_place(),
                evicted: None,
            },
            None => Found::Nothing,
        }
    }
}
