//! Receives callbacks, and counts how often each arrives.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
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
    /// By `webhook-id`, which a repeated delivery shares.
    deliveries: Mutex<HashMap<String, usize>>,
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
        let deliveries = self.received.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        Counts {
            all: deliveries.values().sum(),
            distinct: deliveries.len(),
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
    let mut deliveries = received.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
    *deliveries.entry(id.to_owned()).or_default() += 1;
    drop(deliveries);
    received.changed.notify_one();
}
