//! Sessions with their places in the pool, and what becomes of one that was lent.

use super::{Pool, places::Place};
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

/// A lent session. Without [`Lease::give_back`] it is destroyed, which is what a cancelled or failed render wants.
pub(crate) struct Lease {
    pub(super) pooled: Option<Pooled>,
    pub(super) pool: Pool,
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
