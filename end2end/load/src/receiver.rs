//! Receives callbacks and counts them.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::State, http::HeaderMap, routing::post};
use bytes::Bytes;
use time::OffsetDateTime;
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle, time::timeout};

use crate::error::LoadError;

/// Difference between sender's and receiver's clocks, in seconds, that latency and retries don't explain.
const SKEW: u64 = 60;

/// A server for callbacks; it stops when it is dropped.
pub(crate) struct Receiver {
    /// Host and port.
    pub(crate) authority: String,
    received: Arc<Received>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Received {
    /// The first body of each `webhook-id`, which a repeated delivery shares.
    bodies: Mutex<HashMap<String, Bytes>>,
    all: AtomicUsize,
    distinct: AtomicUsize,
    contradictory: AtomicUsize,
    skewed: AtomicUsize,
    changed: Notify,
}

/// Numbers of deliveries.
pub(crate) struct Counts {
    pub(crate) all: usize,
    /// Without repeated ones.
    pub(crate) distinct: usize,
    /// Repeated ones with another body.
    pub(crate) contradictory: usize,
    /// Signed at a time that was wrong by more than [`SKEW`].
    pub(crate) skewed: usize,
}

impl Receiver {
    pub(crate) async fn start() -> Result<Self, LoadError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let authority = listener.local_addr()?.to_string();
        let received = Arc::<Received>::default();
        let router = Router::new().route("/", post(receive)).with_state(received.clone());
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("the receiver of callbacks has ended: {error}");
            }
        });
        Ok(Self {
            authority,
            received,
            serving,
        })
    }

    /// Returns the address for callbacks.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.authority)
    }

    /// Waits for callbacks of `renders` renders, but not longer than `patience`.
    pub(crate) async fn wait_for(&self, renders: usize, patience: Duration) {
        let all = async {
            while self.counts().distinct < renders {
                self.received.changed.notified().await;
            }
        };
        let _ = timeout(patience, all).await;
    }

    pub(crate) fn counts(&self) -> Counts {
        let read = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        Counts {
            all: read(&self.received.all),
            distinct: read(&self.received.distinct),
            contradictory: read(&self.received.contradictory),
            skewed: read(&self.received.skewed),
        }
    }

    /// Returns the ids of all callbacks received so far.
    pub(crate) fn ids(&self) -> HashSet<String> {
        self.received.bodies().keys().cloned().collect()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Received {
    fn bodies(&self) -> MutexGuard<'_, HashMap<String, Bytes>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn receive(State(received): State<Arc<Received>>, headers: HeaderMap, body: Bytes) {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let id = header("webhook-id").unwrap_or_default().to_owned();
    let (is_new, is_contradictory) = match received.bodies().entry(id) {
        Entry::Occupied(first) => (false, *first.get() != body),
        Entry::Vacant(vacant) => {
            vacant.insert(body);
            (true, false)
        }
    };
    let signed: Option<i64> = header("webhook-timestamp").and_then(|seconds| seconds.parse().ok());
    let now = OffsetDateTime::now_utc().unix_timestamp();
    let is_skewed = signed.is_some_and(|signed| signed.abs_diff(now) > SKEW);
    received.all.fetch_add(1, Ordering::Relaxed);
    received.distinct.fetch_add(usize::from(is_new), Ordering::Relaxed);
    received
        .contradictory
        .fetch_add(usize::from(is_contradictory), Ordering::Relaxed);
    received.skewed.fetch_add(usize::from(is_skewed), Ordering::Relaxed);
    received.changed.notify_one();
}
