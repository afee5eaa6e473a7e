//! A webhook receiver on loopback. `PLATEN_EGRESS_ALLOW` allows access to it.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use axum::{
    Router,
    body::Bytes,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

use crate::support::process::PATIENCE;

/// A received delivery.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

/// A running receiver; stopped on drop. The path determines the response: `/500` the status 500, `/redirect` a redirect
/// to `/elsewhere`, `/never` none, `/endless` an endless body, any other path 200.
pub(crate) struct Receiver {
    /// `127.0.0.1:port`
    pub(crate) authority: String,
    inbox: Arc<Inbox>,
    server: JoinHandle<()>,
}

#[derive(Default)]
struct Inbox {
    received: Mutex<Vec<Received>>,
    refuses: AtomicBool,
    more: Notify,
}

impl Receiver {
    /// Starts the receiver on a free port.
    pub(crate) async fn start() -> Self {
        let inbox = Arc::new(Inbox::default());
        let router = Router::new().fallback(receive).with_state(inbox.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let authority = listener.local_addr().expect("bound").to_string();
        let server = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self {
            authority,
            inbox,
            server,
        }
    }

    /// Returns the URL of a path on the receiver.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }

    /// Sets whether deliveries are refused with 503.
    pub(crate) fn refuse(&self, refuses: bool) {
        self.inbox.refuses.store(refuses, Ordering::Relaxed);
    }

    /// Returns all deliveries in order.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.inbox.received.lock().expect("no panic").clone()
    }

    /// Waits for this many deliveries and returns all.
    pub(crate) async fn wait_for(&self, count: usize) -> Vec<Received> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let more = self.inbox.more.notified();
            let received = self.received();
            if received.len() >= count {
                return received;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let waited = tokio::time::timeout(left, more).await;
            assert!(waited.is_ok(), "{} of {count} callbacks came", received.len());
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(State(inbox): State<Arc<Inbox>>, request: Request) -> Response {
    if inbox.refuses.load(Ordering::Relaxed) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let path = parts.uri.path().to_owned();
    inbox.received.lock().expect("no panic").push(Received {
        path: path.clone(),
        headers: parts.headers,
        body: String::from_utf8(body.into()).expect("text"),
    });
    inbox.more.notify_waiters();
    let status = path.trim_start_matches('/').parse().ok().map(StatusCode::from_u16);
    match (path.as_str(), status) {
        (_, Some(status)) => (status.expect("a status"), "as you wish").into_response(),
        ("/redirect", _) => (StatusCode::FOUND, [(header::LOCATION, "/elsewhere")]).into_response(),
        ("/never", _) => std::future::pending().await,
        ("/endless", _) => {
            let endless = futures::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 1024])));
            axum::body::Body::from_stream(endless).into_response()
        }
        _ => "thanks".into_response(),
    }
}
