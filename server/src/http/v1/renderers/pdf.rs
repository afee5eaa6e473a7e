//! `/api/v1/renderers/pdf`

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_core::{
    render_request::{OutputEncoding, SynchronousRequest},
    service::{
        Services,
        renders::{self, Origin, RenderOutcome},
    },
};
use platen_engine::job::PhaseTimes;

use crate::http::{
    error::ApiError,
    extract::{MayRenderNow, body::RenderBody},
    file_name::content_disposition,
    held_body::HeldBody,
};

/// The id of a render, also in error responses.
pub(in crate::http) const RENDER_ID: HeaderName = HeaderName::from_static("x-render-id");
const PAGE_COUNT: HeaderName = HeaderName::from_static("x-page-count");
const CREDITS_USED: HeaderName = HeaderName::from_static("x-credits-used");
const PDF_CONFORMANCE: HeaderName = HeaderName::from_static("x-pdf-conformance");
/// Marks the stored response to a repeated request.
pub(in crate::http) const REPLAYED: (HeaderName, HeaderValue) = (
    HeaderName::from_static("idempotent-replayed"),
    HeaderValue::from_static("true"),
);
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// `POST`: renders synchronously. If the client disconnects, the render is cancelled.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayRenderNow(caller): MayRenderNow,
    body: Result<RenderBody<SynchronousRequest>, ApiError>,
) -> Result<Response, ApiError> {
    let checked = body.and_then(|body| {
        body.request.render.check_allowed(&caller.caller)?;
        Ok(body)
    });
    let RenderBody {
        request,
        idempotent,
        memory,
    } = match checked {
        Ok(body) => body,
        // Details about the request are returned only to callers whose key is still valid.
        Err(error) => {
            caller.confirm(&app).await?;
            return Err(error);
        }
    };
    let encoding = request.encoding;
    let outcome = renders::render_now(&app, caller, request, idempotent, memory).await?;
    let headers = facts(&outcome);
    Ok((headers, document(outcome, encoding)).into_response())
}

fn document(outcome: RenderOutcome, encoding: OutputEncoding) -> Response {
    let (pdf, memory) = (outcome.pdf, outcome.memory);
    match encoding {
        OutputEncoding::Binary => {
            let disposition = content_disposition(outcome.facts.title.as_deref());
            let headers = [
                (header::CONTENT_TYPE, "application/pdf"),
                (header::CONTENT_DISPOSITION, disposition.as_str()),
            ];
            (headers, Body::new(HeldBody::new(pdf, memory))).into_response()
        }
        OutputEncoding::Base64 => {
            // Base64 needs no escapes in JSON, so the large string is written directly instead of being escaped.
            let mut body = String::with_capacity(pdf.len() / 3 * 4 + 64);
            body.push_str(r#"{"data":""#);
            BASE64_STANDARD.encode_string(&pdf, &mut body);
            body.push_str(r#"","encoding":"base64"}"#);
            (
                [(header::CONTENT_TYPE, "application/json")],
                Body::new(HeldBody::new(body, memory)),
            )
                .into_response()
        }
    }
}

fn facts(outcome: &RenderOutcome) -> HeaderMap {
    let facts = &outcome.facts;
    let named = [
        (RENDER_ID, outcome.id.to_string()),
        (PAGE_COUNT, facts.page_count.to_string()),
        (CREDITS_USED, facts.credits.to_string()),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    let conformance = facts.conformance.clone().map(|standard| (PDF_CONFORMANCE, standard));
    let origin = match &outcome.origin {
        Origin::Rendered(phases) => HeaderValue::try_from(server_timing(phases))
            .ok()
            .map(|times| (SERVER_TIMING, times)),
        Origin::Replayed => Some(REPLAYED),
    };
    named
        .into_iter()
        .chain(conformance)
        .filter_map(|(name, value)| Some((name, HeaderValue::try_from(value).ok()?)))
        .chain(origin)
        .collect()
}

/// Formats the duration of each phase in milliseconds (W3C Server Timing, 3).
fn server_timing(phases: &PhaseTimes) -> String {
    let entries: Vec<_> = phases
        .by_phase()
        .into_iter()
        .map(|(phase, duration)| format!("{phase};dur={:.1}", duration.as_secs_f64() * 1000.0))
        .collect();
    entries.join(", ")
}
