//! Error pages for requests that failed outside of pages: internal errors, and refusals by middleware.

use std::{panic::AssertUnwindSafe, sync::Arc};

use axum::{
    body::to_bytes,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use futures::FutureExt;
use platen_app::{
    pages::failure::{failure, refusal},
    theme::{self, Theme},
};

use crate::{
    http::request_log::{Explained, RequestId, panicked},
    web::{site::Site, wants_page},
};

/// Messages of middleware are far shorter.
const LONGEST_LINE: usize = 4096;

/// The page has no scripts.
const POLICY: &str = "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Replaces panics, internal errors and plain refusals with an error page, if the client accepts HTML.
pub(super) async fn explain(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let page = wants_page(request.headers());
    let theme = theme::of_request(request.headers());
    let id = request.extensions().get::<RequestId>().cloned();
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = match answered {
        Ok(response) if page && is_plain_refusal(&response) => return show_refusal(&site, theme, response).await,
        Ok(response) if response.status() != StatusCode::INTERNAL_SERVER_ERROR => return response,
        Ok(response) => response,
        Err(panic) => panicked(&*panic),
    };
    if page {
        let id = id.map(|id| id.0).unwrap_or_default();
        response = alone(StatusCode::INTERNAL_SERVER_ERROR, failure(&site.files, theme, id));
    }
    response.extensions_mut().insert(Explained);
    response
}

/// Returns whether the response is a refusal in plain text.
fn is_plain_refusal(response: &Response) -> bool {
    let refused = response.status().is_client_error() || response.status() == StatusCode::SERVICE_UNAVAILABLE;
    let media_type = response.headers().get(header::CONTENT_TYPE);
    refused && media_type.is_some_and(|media_type| media_type.as_bytes().starts_with(b"text/plain"))
}

/// Shows the text of a refusal on a page.
async fn show_refusal(site: &Site, theme: Theme, response: Response) -> Response {
    let status = response.status();
    let line = to_bytes(response.into_body(), LONGEST_LINE).await.unwrap_or_default();
    let line = String::from_utf8_lossy(&line).trim_end().to_owned();
    alone(status, refusal(&site.files, theme, status.as_u16(), line))
}

fn alone(status: StatusCode, page: String) -> Response {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, Html(page)).into_response()
}
