//! A small web site on loopback, with regular and misbehaving pages. `PLATEN_EGRESS_ALLOW` allows access to it.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path, Query, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use futures::{StreamExt, stream};
use serde::Deserialize;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

/// The rows of a batch.
const CSV: &str = "number\n1\n2\n3\n";
const NDJSON: &str = "{\"number\": 1}\n{\"number\": 2}\n{\"number\": 3}\n";

/// A running site; stopped on drop.
pub(crate) struct Origin {
    /// `127.0.0.1:port`
    pub(crate) authority: String,
    hits: Hits,
    released: watch::Sender<bool>,
    server: JoinHandle<()>,
}

type Hits = Arc<Mutex<Vec<String>>>;

impl Origin {
    /// Starts the site on a free port.
    pub(crate) async fn start() -> Self {
        let hits = Hits::default();
        let (released, held) = watch::channel(false);
        let router = Router::new()
            .route("/", get(|| async { page("Home", "<h1>At home</h1>") }))
            .route(
                "/page/{title}",
                get(|Path(title): Path<String>| async move { page(&title, &title) }),
            )
            .route("/redirect/{status}", get(redirect))
            .route("/status/{status}", get(status))
            .route("/text", get(|| async { "plain text" }))
            .route("/slow/{milliseconds}", get(slow))
            .route("/held", get(move || answer_when(held.clone())))
            .route("/never", get(std::future::pending::<()>))
            .route("/broken", get(broken))
            .route("/cookies", get(cookies))
            .route(
                "/loop",
                get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/loop")]) }),
            )
            .route("/large", get(|| async { vec![b'x'; 11 << 20] }))
            .route(
                "/logo.svg",
                get(|| async { "<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>Logo</text></svg>" }),
            )
            .route(
                "/style.css",
                get(|| async { ([(header::CONTENT_TYPE, "text/css")], "h1 { color: red }") }),
            )
            .route("/rows.csv", get(|| async { CSV }))
            .route("/export", get(|| async { CSV }))
            .route(
                "/rows",
                get(|| async { ([(header::CONTENT_TYPE, "application/x-ndjson")], NDJSON) }),
            )
            .route("/malformed.csv", get(|| async { "number\n1\n2,3\n" }))
            .route(
                "/compressed.csv",
                get(|| async { ([(header::CONTENT_ENCODING, "gzip")], CSV) }),
            )
            .route("/broken.ndjson", get(broken_rows))
            .route("/stalled.ndjson", get(stalled_rows))
            .layer(from_fn_with_state(hits.clone(), count));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let authority = listener.local_addr().expect("bound").to_string();
        let server = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self {
            authority,
            hits,
            released,
            server,
        }
    }

    /// Returns the URL of a path on the site.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }

    /// Releases all pending and future requests of `/held`.
    pub(crate) fn release(&self) {
        self.released.send_replace(true);
    }

    /// Returns the requested paths with their queries, in order.
    pub(crate) fn hits(&self) -> Vec<String> {
        self.hits.lock().expect("no panic").clone()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn count(State(hits): State<Hits>, request: Request, next: Next) -> Response {
    hits.lock().expect("no panic").push(request.uri().to_string());
    next.run(request).await
}

/// Returns a complete document.
fn page(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html><html lang=en><head><title>{title}</title></head><body>{body}</body></html>"
    ))
}

#[derive(Deserialize)]
struct Target {
    to: String,
}

/// `/redirect/302?to=http://…`
async fn redirect(Path(status): Path<u16>, Query(target): Query<Target>) -> Response {
    let status = StatusCode::from_u16(status).expect("a status");
    (status, [(header::LOCATION, target.to)]).into_response()
}

async fn status(Path(status): Path<u16>) -> Response {
    let status = StatusCode::from_u16(status).expect("a status");
    (status, page("Status", status.as_str())).into_response()
}

async fn slow(Path(milliseconds): Path<u64>) -> Html<String> {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    page("Slow", "<h1>At last</h1>")
}

async fn answer_when(mut released: watch::Receiver<bool>) -> Html<String> {
    released.wait_for(|released| *released).await.expect("the site runs");
    page("Held", "<h1>At last</h1>")
}

/// Announces a longer body than it sends.
async fn broken() -> Response {
    let start = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"<h1>Half"))]);
    Response::builder()
        .header(header::CONTENT_TYPE, "text/html")
        .header(header::CONTENT_LENGTH, "100000")
        .body(Body::from_stream(start))
        .expect("a response")
}

/// Announces more rows than it sends.
async fn broken_rows() -> Response {
    let rows = stream::iter([Ok::<_, Infallible>(Bytes::from(NDJSON.repeat(300)))]);
    let last = stream::once(async {
        // The first ones are sent before the connection is closed.
        tokio::task::yield_now().await;
        Ok(Bytes::from_static(NDJSON.as_bytes()))
    });
    Response::builder()
        .header(header::CONTENT_LENGTH, "1000000")
        .body(Body::from_stream(rows.chain(last)))
        .expect("a response")
}

/// Sends some rows, and never the others.
async fn stalled_rows() -> Body {
    let rows = stream::iter([Ok::<_, Infallible>(Bytes::from_static(NDJSON.as_bytes()))]);
    Body::from_stream(rows.chain(stream::pending()))
}

/// Shows the received cookies.
async fn cookies(headers: HeaderMap) -> Html<String> {
    let cookies = headers
        .get(header::COOKIE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("none");
    page("Cookies", &format!("<p id=cookies>{cookies}</p>"))
}
