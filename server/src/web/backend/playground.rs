//! The playground.

use std::time::Instant;

use async_trait::async_trait;
use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderMap, Method, header},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_app::{
    backend::{Backend as _, playground::PlaygroundBackend},
    error::AppError,
    model::playground::{Attempt, Bench, Content, Played, TemplateName},
};
use platen_core::{
    drawing::child::Size,
    service::{
        renders::history,
        templates::{self, TemplateError},
    },
};
use platen_domain::{
    caller::Caller,
    ids::{RenderId, TemplateId},
    role::Permission,
    template::labels::labels,
};

use super::RequestBackend;

/// Maximum number of templates to choose from.
const MOST_TEMPLATES: i64 = 100;
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

#[async_trait]
impl PlaygroundBackend for RequestBackend {
    async fn bench(&self, render: Option<String>) -> Result<Bench, AppError> {
        let account = self.caller_who_may(Permission::Produce).await?.account;
        let found = templates::names(&self.app.db, account, MOST_TEMPLATES).await;
        let found = found.map_err(|error| self.internal(&error))?;
        let templates: Vec<_> = found.into_iter().map(|template| (template.id, template.name)).collect();
        let options = match render.as_deref().and_then(RenderId::parse) {
            Some(id) => history::find(&self.app.db, account, id, None).await,
            None => Ok(None),
        };
        let options = options.map_err(|error| self.internal(&error))?;
        Ok(Bench {
            base_url: self.base_url(),
            templates: templates
                .iter()
                .zip(labels(&templates))
                .map(|((id, _), name)| TemplateName {
                    id: id.to_string(),
                    name,
                })
                .collect(),
            options: options.map(|(render, _)| render.options.to_string()),
        })
    }

    async fn play(&self, attempt: Attempt) -> Result<Played, AppError> {
        let caller = Caller {
            livemode: attempt.live,
            ..self.caller_who_may(Permission::Produce).await?
        };
        let account = caller.account;
        let begun = Instant::now();
        let answer = self.api.answer(caller, request(attempt)?).await;
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
                let drawn = self
                    .app
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

    async fn sample_of_template(&self, id: String) -> Result<String, AppError> {
        let account = self.caller_who_may(Permission::Produce).await?.account;
        let id = TemplateId::parse(&id).ok_or(AppError::NotFound)?;
        let template = templates::get(&self.app.db, account, id)
            .await
            .map_err(|error| match error {
                TemplateError::NotFound => AppError::NotFound,
                error => self.internal(&error),
            })?;
        Ok(serde_json::Value::Object(template.preview_context).to_string())
    }
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
