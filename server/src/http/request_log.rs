//! Request ids, the request log, and conversion of panics into responses.

use std::{any::Any, panic::AssertUnwindSafe, time::Instant};

use axum::{
    extract::{MatchedPath, Request},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use tracing::{Instrument, field::Empty};
use uuid::Uuid;

use crate::http::error::{RETRY_DATABASE, internal_body};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST_ID: usize = 128;

/// The id of the current request.
#[derive(Clone)]
pub(crate) struct RequestId(pub(crate) String);

/// Marks a response with status 500 whose body must not be replaced.
#[derive(Clone)]
pub(crate) struct Explained;

/// Middleware for all routes.
pub(super) async fn log(mut request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    request.extensions_mut().insert(RequestId(id.clone()));
    let span = tracing::info_span!(
        "request",
        otel.name = name(&request),
        otel.kind = "server",
        otel.status_code = Empty,
        request_id = id,
        method = %request.method(),
        path = shown(request.uri().path()),
        account_id = Empty,
        render_id = Empty,
    );
    answer(request, next, id).instrument(span).await
}

async fn answer(request: Request, next: Next, id: String) -> Response {
    let started = Instant::now();
    let mut response = AssertUnwindSafe(next.run(request))
        .catch_unwind()
        .await
        .unwrap_or_else(|panic| panicked(&*panic));
    if response.status() == StatusCode::INTERNAL_SERVER_ERROR && response.extensions().get::<Explained>().is_none() {
        let (parts, _) = response.into_parts();
        response = (parts.status, internal_body(&id)).into_response();
        for (name, value) in &parts.headers {
            response.headers_mut().entry(name).or_insert(value.clone());
        }
    }
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        // Without a `Retry-After`, the cause is the database.
        let again = response.headers_mut().entry(header::RETRY_AFTER);
        again.or_insert(RETRY_DATABASE.into());
    }
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let duration_ms = started.elapsed().as_secs_f64() * 1000.0;
    if response.status().is_server_error() {
        tracing::Span::current().record("otel.status_code", "ERROR");
    }
    tracing::info!(status = response.status().as_u16(), duration_ms, "answered");
    response
}

/// Returns the path for the log. The names of documents are secret and omitted.
fn shown(path: &str) -> &str {
    const DOCUMENTS: &str = "/files/";
    if path.starts_with(DOCUMENTS) { DOCUMENTS } else { path }
}

/// Returns the name of the request in traces: method and route, without the values in the path.
fn name(request: &Request) -> String {
    let route = request.extensions().get::<MatchedPath>();
    format!(
        "{} {}",
        request.method(),
        route.map_or("elsewhere", MatchedPath::as_str)
    )
}

/// Returns the client's request id, if it is a token (RFC 9110, 5.6.2) of at most 128 bytes, or a new one.
fn request_id(headers: &HeaderMap) -> String {
    let sane = |id: &&str| {
        (1..=LONGEST_ID).contains(&id.len())
            && id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
    };
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(sane);
    given.map_or_else(|| Uuid::now_v7().to_string(), ToOwned::to_owned)
}

/// Logs a panic and turns it into an internal error.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    tracing::error!(panic = message, "a handler panicked");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

#[cfg(test)]
mod tests {
    use axum::{
        Router,
        body::{Body, to_bytes},
        routing::get,
    };
    use tower::ServiceExt;

    use super::*;

    fn with_id(id: &str) -> String {
        let value = HeaderValue::from_bytes(id.as_bytes()).expect("a header");
        request_id(&HeaderMap::from_iter([(REQUEST_ID, value)]))
    }

    #[test]
    fn sane_ids_of_clients_are_kept() {
        for id in ["a", "01J-abc_DEF.9", &"x".repeat(128)] {
            assert_eq!(with_id(id), id);
        }
        for id in ["", "a b", "a\tb", "ä", "<script>", "a\"b", &"x".repeat(129)] {
            assert_eq!(with_id(id).len(), 36, "{id}");
        }
        assert_ne!(request_id(&HeaderMap::new()), request_id(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn a_panic_is_answered_with_the_id_and_nothing_else() {
        async fn handler() -> StatusCode {
            panic!("a secret")
        }
        let app = Router::new()
            .route("/", get(handler))
            .layer(axum::middleware::from_fn(log));
        let request = Request::builder()
            .header(REQUEST_ID, "mine")
            .body(Body::empty())
            .expect("a request");
        let response = app.oneshot(request).await.expect("an answer");
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()[REQUEST_ID], "mine");
        assert_eq!(response.headers()["content-type"], "application/json");
        let body = to_bytes(response.into_body(), 1000).await.expect("a body");
        assert_eq!(
            body,
            r#"{"error":{"message":"Internal error; the request's id is mine."}}"#
        );
    }
}
