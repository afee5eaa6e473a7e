//! Sessions with their places in the pool, and what becomes of one that was lent.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Notify;

use super::Pool;
use crate::session::{Afterlife, Session};

/// A session with its place in the pool. Fields are dropped in this order: the place is free when the session is gone.
pub(super) struct Pooled {
    pub(super) session: Session,
    pub(super) place: Place,
}

impl Pooled {
    /// Ends the session; its place is free afterwards.
    pub(super) async fn close(self) {
        let Self { session, place } = self;
        session.close().await;
        drop(place);
    }
}

/// One of the places that the pool has for sessions.
pub(super) struct Place {
    total: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

/// A lent session. Without [`Lease::give_back`] it is destroyed, which is what a cancelled or failed render wants.
pub(crate) struct Lease {
    pub(super) pooled: Option<Pooled>,
    pub(super) pool: Pool,
}

impl Place {
    /// Counts one more of `total`; the end of the place is told by `changed`.
    pub(super) fn take(total: &Arc<AtomicUsize>, changed: &Arc<Notify>) -> Self {
        total.fetch_add(1, Ordering::AcqRel);
        Self {
            total: Arc::clone(total),
            changed: Arc::clone(changed),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.total.fetch_sub(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }
}

impl Lease {
    /// The session.
    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self
            .pooled
            .as_mut()
            .expect("a lease has its session until it is given back or dropped")
            .session
    }

    /// The session with its place, taken out of the lease.
    pub(super) fn take(mut self) -> Option<Pooled> {
        self.pooled.take()
    }

    /// Hands the session back; it is reset or destroyed off the caller's path.
    pub(crate) fn give_back(mut self, afterlife: Afterlife) {
        let Some(mut pooled) = self.pooled.take() else { return };
        let pool = self.pool.clone();
        self.pool.inner.tasks.spawn(async move {
            if afterlife == Afterlife::Keep && pooled.session.reset(pool.inner.config.page_memory_limit).await {
                pool.keep(pooled);
            } else {
                pooled.close().await;
            }
        });
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(pooled) = self.pooled.take() else { return };
        self.pool.inner.tasks.spawn(pooled.close());
    }
}
