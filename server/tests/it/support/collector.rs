//! An OpenTelemetry collector on loopback.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, header},
    routing::post,
};
use opentelemetry_proto::tonic::{collector::trace::v1::ExportTraceServiceRequest, trace::v1::Span};
use prost::Message;
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

use crate::support::process::PATIENCE;

/// A running collector; stopped on drop.
pub(crate) struct Collector {
    /// The value for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub(crate) url: String,
    inbox: Arc<Inbox>,
    server: JoinHandle<()>,
}

#[derive(Default)]
struct Inbox {
    requests: Mutex<Vec<ExportTraceServiceRequest>>,
    more: Notify,
}

impl Collector {
    /// Starts the collector on a free port.
    pub(crate) async fn start() -> Self {
        let inbox = Arc::new(Inbox::default());
        let router = Router::new()
            .route("/v1/traces", post(receive))
            .with_state(inbox.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, inbox, server }
    }

    /// Returns all requests received.
    pub(crate) fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        self.inbox.requests.lock().expect("no panic").clone()
    }

    /// Returns all spans received.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let resources = self.requests().into_iter().flat_map(|request| request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// Waits for a span with this name, and returns it with its children, which end and arrive before it.
    pub(crate) async fn wait_for(&self, name: &str) -> (Span, Vec<Span>) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let more = self.inbox.more.notified();
            let spans = self.spans();
            if let Some(span) = spans.iter().find(|span| span.name == name) {
                let below = spans.iter().filter(|other| other.parent_span_id == span.span_id);
                return (span.clone(), below.cloned().collect());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let waited = tokio::time::timeout(left, more).await;
            let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
            assert!(waited.is_ok(), "no span {name} among {names:?}");
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(State(inbox): State<Arc<Inbox>>, headers: HeaderMap, body: Bytes) {
    assert_eq!(headers[header::CONTENT_TYPE], "application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(body).expect("a request");
    inbox.requests.lock().expect("no panic").push(request);
    inbox.more.notify_waiters();
}
