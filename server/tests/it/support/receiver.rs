//! A webhook receiver on loopback. `PLATEN_EGRESS_ALLOW` allows access to it.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use aws_lc_rs::hmac;
use axum::{
    Router,
    body::Bytes,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

use crate::support::process::PATIENCE;

/// A received delivery.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Received {
    /// Returns whether one of the signatures was made with the secret, verified like a receiver does.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        let text = |name: &str| self.headers[name].to_str().expect("text");
        let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret"));
        let key = key.expect("base64");
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let content = format!("{}.{}.{}", text("webhook-id"), text("webhook-timestamp"), self.body);
        text("webhook-signature").split(' ').any(|signature| {
            let signature = BASE64_STANDARD.decode(signature.strip_prefix("v1,").expect("version 1"));
            let signature = signature.expect("base64");
            hmac::verify(&key, content.as_bytes(), &signature).is_ok()
        })
    }
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
