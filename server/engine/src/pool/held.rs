//! Holds the pages of printed parts until their document is examined, as far as nothing else needs their places and
//! memory.

use super::{
    Pool,
    lease::{Lease, Pooled},
};

/// A page that the pool holds. Dropping it destroys its session.
pub(crate) struct HeldPage {
    number: u64,
    pool: Pool,
}

impl Pool {
    /// Holds the page of a session that can't be used again. The page is frozen, and closed as soon as its place or
    /// memory is needed. Returns `None` if it is gone.
    pub(crate) async fn hold(&self, mut lease: Lease) -> Option<HeldPage> {
        lease.session().freeze().await.ok()?;
        let pooled = lease.take()?;
        let number = self.add_held(pooled)?;
        // A render may be waiting for a place.
        self.inner.changed.notify_waiters();
        Some(HeldPage {
            number,
            pool: self.clone(),
        })
    }

    fn add_held(&self, pooled: Pooled) -> Option<u64> {
        let mut state = self.lock();
        // Checked under the lock, so that no session is added after `close` has removed them.
        if self.inner.closing.is_cancelled() {
            return None;
        }
        let number = state.next_held;
        state.next_held += 1;
        state.held.push_back((number, pooled));
        Some(number)
    }
}

impl HeldPage {
    /// Returns the session of the page, unless the page was closed.
    pub(crate) fn lease(&self) -> Option<Lease> {
        let mut state = self.pool.lock();
        let at = state.held.iter().position(|(number, _)| *number == self.number)?;
        let (_, pooled) = state.held.remove(at)?;
        Some(Lease {
            pooled: Some(pooled),
            pool: self.pool.clone(),
        })
    }
}

impl Drop for HeldPage {
    fn drop(&mut self) {
        drop(self.lease());
    }
}
