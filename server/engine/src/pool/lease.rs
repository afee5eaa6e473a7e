//! Leases of sessions.

use super::{Pool, places::Place};
use crate::session::{Session, SessionDisposition};

/// A session with its place in the pool. The fields are dropped in this order, so that the place is freed last.
pub(super) struct Pooled {
    pub(super) session: Session,
    pub(super) place: Place,
}

impl Pooled {
    /// Closes the session, then frees its place.
    pub(super) async fn close(self) {
        let Self { session, place } = self;
        session.close().await;
        drop(place);
    }
}

/// A session lent to a render. If it is dropped without [`Lease::give_back`], as by a cancelled or failed render, the
/// session is destroyed.
pub(crate) struct Lease {
    pub(super) pooled: Option<Pooled>,
    pub(super) pool: Pool,
}

impl Lease {
    /// Returns the session.
    pub(crate) fn session(&mut self) -> &mut Session {
        &mut self
            .pooled
            .as_mut()
            .expect("a lease has its session until it is returned or dropped")
            .session
    }

    /// Takes the session with its place out of the lease.
    pub(super) fn take(mut self) -> Option<Pooled> {
        self.pooled.take()
    }

    /// Returns the session to the pool. It is reset or destroyed in a background task.
    pub(crate) fn give_back(mut self, disposition: SessionDisposition) {
        let Some(mut pooled) = self.pooled.take() else { return };
        let pool = self.pool.clone();
        self.pool.inner.tasks.spawn(async move {
            if disposition == SessionDisposition::Keep
                && pooled.session.reset(pool.inner.config.page_memory_limit).await
            {
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
