//! Limits idle sessions by the memory of their pages.

use std::{sync::atomic::Ordering, time::Duration};

use super::{Pool, State};
use crate::config::SPARE_SLOTS;

/// Memory estimate for a new session, in bytes: 25 to 40 MB, and its document.
const NEW_SESSION: u64 = 64 << 20;
/// Interval between checks of the memory of pages.
const LOOK_EVERY: Duration = Duration::from_millis(500);

impl Pool {
    /// Returns whether another session may be created without evicting one.
    pub(super) fn has_room(&self, state: &State) -> bool {
        let taken = self.inner.places.taken();
        taken < self.inner.config.sessions
            && (taken < self.always_kept() || state.held_by_pages() + NEW_SESSION <= self.inner.config.pages_memory)
    }

    /// Closes idle sessions, least recently used first, while all pages together exceed their memory limit. Runs until
    /// the pool is closed.
    pub(super) async fn bound_memory(self) {
        loop {
            tokio::select! {
                () = self.inner.closing.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            let unused = {
                let mut state = self.lock();
                let holds_too_much = state.held_by_pages() > self.inner.config.pages_memory;
                let may_end = self.inner.places.taken() > self.always_kept() && !state.idle.is_empty();
                (holds_too_much && may_end).then(|| state.idle.remove(0))
            };
            if let Some(unused) = unused {
                unused.close().await;
            }
        }
    }

    /// Returns the number of sessions that are exempt from the memory limit: one for each slot.
    fn always_kept(&self) -> usize {
        self.inner.config.slots + SPARE_SLOTS
    }
}

impl State {
    /// Returns the memory of all pages in bytes, as last measured.
    fn held_by_pages(&self) -> u64 {
        let held = self
            .browsers
            .iter()
            .map(|browser| browser.held_by_pages.load(Ordering::Relaxed));
        held.sum()
    }
}
