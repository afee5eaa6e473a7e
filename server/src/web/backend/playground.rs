//! The playground.

use std::time::Instant;

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderMap, Method, header},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_app::{
    error::AppError,
    model::playground::{Attempt, Content, Played},
};
use platen_core::{drawing::child::Size, service::Services};
use platen_domain::caller::Caller;

use crate::http::OwnApi;

/// Maximum number of pages shown as images.
const MOST_PAGES: usize = 10;
/// Sufficient for screens of twice the usual density.
const DOTS_PER_INCH: u16 = 110;
/// Larger documents are available only through the API.
const LARGEST_DOCUMENT: usize = 32 << 20;
/// Response headers with information about the render.
const SHOWN_HEADERS: [&str; 10] = [
    "content-type",
    "x-render-id",
    "x-page-count",
    "x-credits-used",
    "x-pdf-conformance",
    "server-timing",
    "idempotent-replayed",
    "location",
    "ratelimit",
    "retry-after",
];

/// Sends a request to the API, and shows its response.
pub(super) async fn play(app: &Services, api: &OwnApi, caller: Caller, attempt: Attempt) -> Result<Played, AppError> {
    let caller = Caller {
        livemode: attempt.live,
        ..caller
    };
    let account = caller.account;
    let begun = Instant::now();
    let answer = api.answer(caller, request(attempt)?).await;
    let (parts, body) = answer.into_parts();
    let body = to_bytes(body, LARGEST_DOCUMENT).await;
    let milliseconds = begun.elapsed().as_millis() as u64;
    let headers = shown_headers(&parts.headers);
    let named = |name: &str| {
        headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    };
    let is_pdf = named("content-type").as_deref() == Some("application/pdf");
    let content = match body {
        Ok(pdf) if is_pdf => {
            let page_count = named("x-page-count").and_then(|count| count.parse().ok()).unwrap_or(1);
            let drawn = app
                .drawing
                .draw(
                    account,
                    &pdf,
                    Size::DotsPerInch(DOTS_PER_INCH),
                    MOST_PAGES.min(page_count),
                )
                .await;
            Content::Pdf {
                document: BASE64_STANDARD.encode(&pdf),
                bytes: pdf.len(),
                page_count,
                // If rasterization fails, the document is shown without images.
                pages: drawn.unwrap_or_default().into_iter().map(|page| page.png).collect(),
            }
        }
        Ok(json) => Content::Json(String::from_utf8_lossy(&json).into_owned()),
        Err(_) => Content::Json(format!(
            "The document has more than {LARGEST_DOCUMENT} bytes; use the API."
        )),
    };
    Ok(Played {
        status: parts.status.as_u16(),
        render: named("x-render-id"),
        headers,
        milliseconds,
        content,
    })
}

fn request(attempt: Attempt) -> Result<Request, AppError> {
    let path = if attempt.queued {
        "/api/v1/renderers/pdf/async"
    } else {
        "/api/v1/renderers/pdf"
    };
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json");
    if !attempt.idempotency_key.is_empty() {
        request = request.header("idempotency-key", attempt.idempotency_key);
    }
    request.body(Body::from(attempt.body)).map_err(|_| AppError::Malformed)
}

fn shown_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = SHOWN_HEADERS.into_iter().filter_map(|name| {
        let value = headers.get(name)?.to_str().ok()?;
        Some((name.to_owned(), value.to_owned()))
    });
    shown.collect()
}
