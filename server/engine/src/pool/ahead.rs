//! Sessions that are made before an account asks for one.

use super::{Found, Pool, lease::Lease};
use crate::browser::Scripts;

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
            tokio::select! {
                () = self.inner.closing.cancelled() => return,
                () = changed => {}
            }
        }
    }

    /// Room for a session that nobody waits for: not while renders need the processors, and at no other session's cost.
    fn room_ahead(&self, scripts: Scripts) -> Found {
        self.forget_dead();
        let state = self.lock();
        let is_ready = state.idle.iter().any(|pooled| pooled.session.is_for(None, scripts));
        let in_use = self.inner.places.taken().saturating_sub(state.idle.len());
        if self.inner.closing.is_cancelled() || is_ready || in_use >= self.inner.config.slots || !self.has_room(&state)
        {
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
