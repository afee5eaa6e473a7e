//! State of one render: cancellation of its connections, byte counts, log.

use std::{
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{lock, names::RenderNames, target::Target};
use crate::{
    assets::Assets,
    guard::Guard,
    log::{ConnectionLog, ConnectionRecord, Kind, Outcome, RECORDS_KEPT},
};

pub(super) struct Render {
    /// Cancelled when the render ends, which closes all its connections.
    pub(super) closed: CancellationToken,
    /// One permit for each connection that the browser may have open.
    pub(super) slots: Arc<Semaphore>,
    /// Total number of permits of `slots`.
    places: usize,
    pub(super) names: RenderNames,
    pub(super) assets: Mutex<Assets>,
    refuses_servers: AtomicBool,
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

/// The record of a request or tunnel, updated while it runs.
pub(super) struct Entry {
    pub(super) target: Target,
    kind: Kind,
    bytes_received: AtomicU64,
    state: Mutex<State>,
}

struct State {
    outcome: Outcome,
    /// Whether the connection to the server is closed.
    closed: bool,
}

impl Render {
    pub(super) fn new(guard: &Guard, closed: &CancellationToken) -> Self {
        Self {
            closed: closed.child_token(),
            slots: Arc::new(Semaphore::new(guard.limits().connections_per_proxy)),
            places: guard.limits().connections_per_proxy,
            names: RenderNames::new(guard.resolver()),
            assets: Mutex::default(),
            refuses_servers: AtomicBool::new(false),
            byte_limit: guard.limits().bytes_per_render,
            bytes_moved: AtomicU64::new(0),
            bytes_received: AtomicU64::new(0),
            log: Mutex::default(),
        }
    }

    pub(super) fn refuse_servers(&self) {
        self.refuses_servers.store(true, Relaxed);
    }

    pub(super) fn refuses_servers(&self) -> bool {
        self.refuses_servers.load(Relaxed)
    }

    /// Adds a pending record to the log, or counts it as omitted if the log is full.
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

    /// Counts a connection that was closed for lack of a slot.
    pub(super) fn count_over_limit(&self) {
        lock(&self.log).over_limit += 1;
    }

    /// Counts bytes received from a server. Returns `false` if they exceed the byte limit.
    pub(super) fn book_received(&self, entry: &Entry, bytes: u64) -> bool {
        entry.bytes_received.fetch_add(bytes, Relaxed);
        self.bytes_received.fetch_add(bytes, Relaxed);
        self.book_sent(bytes)
    }

    /// Counts bytes sent to a server. Returns `false` if they exceed the byte limit.
    pub(super) fn book_sent(&self, bytes: u64) -> bool {
        self.bytes_moved.fetch_add(bytes, Relaxed) + bytes <= self.byte_limit
    }

    /// Returns whether the byte limit is reached.
    pub(super) fn is_spent(&self) -> bool {
        self.bytes_moved.load(Relaxed) >= self.byte_limit
    }

    /// Waits until no connection is left.
    pub(super) async fn ended(&self) {
        let all = u32::try_from(self.places).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let _ = self.slots.acquire_many(all).await;
    }

    /// Returns whether bytes were received since the log was taken.
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
    /// Records that the server was reached. A later failure may still replace this outcome.
    pub(super) fn set_connected(&self) {
        let mut state = lock(&self.state);
        if state.outcome == Outcome::Pending {
            state.outcome = Outcome::Connected;
        }
    }

    /// Records a failure. Only the first counts, and none after a successful connection was closed.
    pub(super) fn fail(&self, outcome: Outcome) {
        let mut state = lock(&self.state);
        if state.outcome == Outcome::Pending || (state.outcome == Outcome::Connected && !state.closed) {
            state.outcome = outcome;
        }
    }

    /// Records that the connection to the server was closed.
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
