//! What belongs to one render: its connections' end, its byte count, its log.

use std::{
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{lock, names::RenderNames, target::Target};
use crate::{
    guard::Guard,
    log::{ConnectionLog, ConnectionRecord, Kind, Outcome, RECORDS_KEPT},
};

pub(super) struct Render {
    /// Cancelled when the render is over; all its connections end with it.
    pub(super) closed: CancellationToken,
    /// Places for connections of the browser.
    pub(super) slots: Arc<Semaphore>,
    /// How many there are.
    places: usize,
    pub(super) names: RenderNames,
    byte_limit: u64,
    bytes_moved: AtomicU64,
    bytes_received: AtomicU64,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    entries: Vec<Arc<Entry>>,
    omitted: u64,
    over_limit: u64,
}

/// A record that is still being written.
pub(super) struct Entry {
    pub(super) target: Target,
    kind: Kind,
    bytes_received: AtomicU64,
    state: Mutex<State>,
}

struct State {
    outcome: Outcome,
    /// There is no connection to the other side any more.
    closed: bool,
}

impl Render {
    pub(super) fn new(guard: &Guard, closed: &CancellationToken) -> Self {
        Self {
            closed: closed.child_token(),
            slots: Arc::new(Semaphore::new(guard.limits().connections_per_proxy)),
            places: guard.limits().connections_per_proxy,
            names: RenderNames::new(guard.resolver()),
            byte_limit: guard.limits().bytes_per_render,
            bytes_moved: AtomicU64::new(0),
            bytes_received: AtomicU64::new(0),
            log: Mutex::default(),
        }
    }

    /// A new record, pending.
    pub(super) fn add_entry(&self, kind: Kind, target: Target) -> Arc<Entry> {
        let entry = Arc::new(Entry {
            target,
            kind,
            bytes_received: AtomicU64::new(0),
            state: Mutex::new(State {
                outcome: Outcome::Pending,
                closed: false,
            }),
        });
        let mut log = lock(&self.log);
        if log.entries.len() < RECORDS_KEPT {
            log.entries.push(Arc::clone(&entry));
        } else {
            log.omitted += 1;
        }
        entry
    }

    /// Notes a connection that found no place.
    pub(super) fn count_over_limit(&self) {
        lock(&self.log).over_limit += 1;
    }

    /// Books bytes from the other side; false when the render has had its share.
    pub(super) fn book_received(&self, entry: &Entry, bytes: u64) -> bool {
        entry.bytes_received.fetch_add(bytes, Relaxed);
        self.bytes_received.fetch_add(bytes, Relaxed);
        self.book_sent(bytes)
    }

    /// Books bytes to the other side; false when the render has had its share.
    pub(super) fn book_sent(&self, bytes: u64) -> bool {
        self.bytes_moved.fetch_add(bytes, Relaxed) + bytes <= self.byte_limit
    }

    /// Whether the render has had its share.
    pub(super) fn is_spent(&self) -> bool {
        self.bytes_moved.load(Relaxed) >= self.byte_limit
    }

    /// Resolves once no connection is left.
    pub(super) async fn ended(&self) {
        let all = u32::try_from(self.places).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let _ = self.slots.acquire_many(all).await;
    }

    /// Whether bytes have come from outside since the log was taken.
    pub(super) fn has_received(&self) -> bool {
        self.bytes_received.load(Relaxed) > 0
    }

    pub(super) fn take_log(&self) -> ConnectionLog {
        let log = mem::take(&mut *lock(&self.log));
        ConnectionLog {
            records: log.entries.iter().map(|entry| entry.record()).collect(),
            records_omitted: log.omitted,
            connections_over_limit: log.over_limit,
            bytes_received: self.bytes_received.swap(0, Relaxed),
        }
    }
}

impl Entry {
    /// The other side was reached; the outcome may still become worse.
    pub(super) fn set_connected(&self) {
        let mut state = lock(&self.state);
        if state.outcome == Outcome::Pending {
            state.outcome = Outcome::Connected;
        }
    }

    /// It went wrong; the first word counts, and nothing goes wrong with a connection that is closed already.
    pub(super) fn fail(&self, outcome: Outcome) {
        let mut state = lock(&self.state);
        if state.outcome == Outcome::Pending || (state.outcome == Outcome::Connected && !state.closed) {
            state.outcome = outcome;
        }
    }

    /// The connection to the other side is closed.
    pub(super) fn set_closed(&self) {
        lock(&self.state).closed = true;
    }

    fn record(&self) -> ConnectionRecord {
        ConnectionRecord {
            kind: self.kind,
            host: self.target.host.clone(),
            port: self.target.port,
            outcome: lock(&self.state).outcome.clone(),
            bytes_received: self.bytes_received.load(Relaxed),
        }
    }
}
