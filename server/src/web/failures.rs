//! The page that says that something broke on our side.

use std::{panic::AssertUnwindSafe, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use futures::FutureExt;
use platen_app::{pages::failure::failure, theme};

use crate::{
    http::request_log::{Explained, RequestId, panicked},
    web::{site::Site, wants_page},
};

/// The page has no script.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// Answers what panics or fails with the page, if it was a page that was asked for.
pub(super) async fn explain(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let page = wants_page(request.headers());
    let theme = theme::of_request(request.headers());
    let id = request.extensions().get::<RequestId>().cloned();
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = match answered {
        Ok(response) if response.status() != StatusCode::INTERNAL_SERVER_ERROR => return response,
        Ok(response) => response,
        Err(panic) => panicked(&*panic),
    };
    if page {
        let id = id.map(|id| id.0).unwrap_or_default();
        response = (StatusCode::INTERNAL_SERVER_ERROR, Html(failure(&site.files, theme, id))).into_response();
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response.extensions_mut().insert(Explained);
    response
}
