//! Receives callbacks and counts them.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::State, http::HeaderMap, routing::post};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle, time::timeout};

use crate::error::LoadError;

/// A server for callbacks; it stops when it is dropped.
pub(super) struct Receiver {
    pub(super) url: String,
    received: Arc<Received>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Received {
    /// Values of `webhook-id`, which a repeated delivery shares.
    ids: Mutex<HashSet<String>>,
    all: AtomicUsize,
    distinct: AtomicUsize,
    changed: Notify,
}

/// Numbers of deliveries.
pub(super) struct Counts {
    pub(super) all: usize,
    /// Without repeated ones.
    pub(super) distinct: usize,
}

impl Receiver {
    pub(super) async fn start() -> Result<Self, LoadError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/", listener.local_addr()?);
        let received = Arc::<Received>::default();
        let router = Router::new().route("/", post(receive)).with_state(received.clone());
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("the receiver of callbacks has ended: {error}");
            }
        });
        Ok(Self { url, received, serving })
    }

    /// Waits for callbacks of `renders` renders, but not longer than `patience`.
    pub(super) async fn wait_for(&self, renders: usize, patience: Duration) {
        let all = async {
            while self.counts().distinct < renders {
                self.received.changed.notified().await;
            }
        };
        let _ = timeout(patience, all).await;
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            all: self.received.all.load(Ordering::Relaxed),
            distinct: self.received.distinct.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn receive(State(received): State<Arc<Received>>, headers: HeaderMap) {
    let id = headers
        .get("webhook-id")
        .and_then(|id| id.to_str().ok())
        .unwrap_or_default();
    let is_new = received
        .ids
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(id.to_owned());
    received.all.fetch_add(1, Ordering::Relaxed);
    received.distinct.fetch_add(usize::from(is_new), Ordering::Relaxed);
    received.changed.notify_one();
}
