//! Signals that wake and stop background work, in this process and in others.

pub mod changes;

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use platen_domain::{
    ids::{AccountId, BatchId, DeliveryId, InstanceId, RenderId},
    job::JobKind,
};
use sqlx::PgPool;
use strum::VariantArray;
use tokio::{sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    lifecycle::Lifecycle,
    mutex::lock,
    signals::changes::Changes,
    store::{
        error::StoreError,
        process_events::{self, Listener, ProcessEvent},
    },
};

/// Delay before the lost connection to the database is opened again.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// Shared by all code that adds, cancels or runs jobs; cheap to clone.
#[derive(Clone, Default)]
pub struct Signals(Arc<State>);

#[derive(Default)]
struct State {
    /// By kind.
    channels: [Channel; JobKind::VARIANTS.len()],
    /// Renders that this process is running.
    in_hand: Mutex<HashMap<RenderId, (AccountId, CancellationToken)>>,
    cancelled: Mutex<Vec<RenderId>>,
    has_pending: Notify,
    changes: Changes,
}

#[derive(Default)]
struct Channel {
    /// Wakes this process's worker.
    wake: Notify,
    /// Whether other processes are still to be notified. Jobs added meanwhile are covered by the same notification.
    pending: AtomicBool,
}

impl Signals {
    /// Signals that a job was added. Must be called after its transaction is committed.
    pub fn added(&self, kind: JobKind) {
        let channel = self.channel(kind);
        channel.wake.notify_one();
        channel.pending.store(true, Ordering::Release);
        self.0.has_pending.notify_one();
    }

    /// Signals that a render was cancelled. Must be called after that is committed.
    pub fn cancelled(&self, render: RenderId) {
        self.stop(render);
        lock(&self.0.cancelled).push(render);
        self.0.has_pending.notify_one();
    }

    /// Signals that a render has changed in a way visible to its account. Must be called after that is committed.
    pub fn changed(&self, account: AccountId, render: RenderId) {
        self.0.changes.changed(account, render);
    }

    /// Signals that a delivery to a webhook endpoint has changed, and the render that it is about. Must be called after
    /// that is committed.
    pub fn delivery_changed(&self, account: AccountId, delivery: DeliveryId, render: Option<RenderId>) {
        // Only lists show deliveries, and they listen to all changes: an id that no render has will do.
        self.changed(account, render.unwrap_or(RenderId(delivery.0)));
    }

    /// Signals that a batch has changed. Must be called after that is committed.
    pub fn batch_changed(&self, account: AccountId, batch: BatchId) {
        // As for deliveries: no render has this id, and the page of the batch listens to it.
        self.changed(account, RenderId(batch.0));
    }

    pub fn changes(&self) -> &Changes {
        &self.0.changes
    }

    /// Resolves when there may be a new job.
    pub(super) async fn woken(&self, kind: JobKind) {
        self.channel(kind).wake.notified().await;
    }

    /// Returns a token that is cancelled when the render must stop. The worker that runs the render calls
    /// [`Self::done`] at the end.
    pub(super) fn begin(&self, account: AccountId, render: RenderId) -> CancellationToken {
        let token = CancellationToken::new();
        lock(&self.0.in_hand).insert(render, (account, token.clone()));
        token
    }

    /// Returns the number of renders of an account that this process's worker is running.
    pub fn running(&self, account: AccountId) -> usize {
        let in_hand = lock(&self.0.in_hand);
        in_hand.values().filter(|(owner, _)| *owner == account).count()
    }

    /// Unregisters a render that was registered by [`Self::begin`].
    pub(super) fn done(&self, render: RenderId) {
        lock(&self.0.in_hand).remove(&render);
    }

    fn stop(&self, render: RenderId) {
        if let Some((_, token)) = lock(&self.0.in_hand).get(&render) {
            token.cancel();
        }
    }

    fn channel(&self, kind: JobKind) -> &Channel {
        &self.0.channels[kind as usize]
    }

    /// Notifies other processes until the service stops. One statement covers everything since the previous one: a
    /// notification in each transaction would make commits wait for each other.
    pub async fn notify(self, lifecycle: Lifecycle, db: PgPool, instance: InstanceId) -> Result<(), Infallible> {
        tokio::join!(
            self.notify_of_jobs(&lifecycle, &db, instance),
            self.0.changes.notify(&lifecycle, &db)
        );
        Ok(())
    }

    async fn notify_of_jobs(&self, lifecycle: &Lifecycle, db: &PgPool, instance: InstanceId) {
        loop {
            tokio::select! {
                () = self.0.has_pending.notified() => {}
                () = lifecycle.stopping() => return,
            }
            let cancelled = std::mem::take(&mut *lock(&self.0.cancelled));
            let added = JobKind::VARIANTS.iter().copied().filter(|&kind| {
                let pending = &self.channel(kind).pending;
                pending.swap(false, Ordering::AcqRel)
            });
            let added = added.map(|kind| ProcessEvent::Added { kind, by: instance });
            let events = added.chain(cancelled.into_iter().map(ProcessEvent::Cancelled));
            // Processes that miss the notification find the job a little later anyway.
            if let Err(error) = process_events::notify(db, events).await {
                tracing::warn!(%error, "other processes could not be notified of jobs");
            }
        }
    }

    /// Listens to other processes until the service stops.
    pub async fn listen(self, lifecycle: Lifecycle, db: PgPool, instance: InstanceId) -> Result<(), Infallible> {
        let hearing = async {
            loop {
                let Err(error) = self.listen_until_lost(&db, instance).await;
                self.0.changes.disconnected();
                tracing::warn!(%error, "connection for notifications was lost");
                sleep(TRY_AGAIN).await;
            }
        };
        tokio::select! {
            () = hearing => {}
            () = lifecycle.stopping() => self.0.changes.close(),
        }
        Ok(())
    }

    async fn listen_until_lost(&self, db: &PgPool, instance: InstanceId) -> Result<Infallible, StoreError> {
        let mut listener = Listener::begin(db).await?;
        self.0.changes.connected();
        loop {
            match listener.next().await? {
                // This process has woken its own workers.
                ProcessEvent::Added { by, .. } if by == instance => {}
                ProcessEvent::Added { kind, .. } => self.channel(kind).wake.notify_one(),
                ProcessEvent::Cancelled(render) => self.stop(render),
                ProcessEvent::Changed(changed) => self.0.changes.received(changed),
                ProcessEvent::Listening(account) => self.0.changes.pages_opened(account),
            }
        }
    }
}
