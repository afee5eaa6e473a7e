//! Renders in the format of the API, which exports of accounts use too.

use platen_domain::{ids::RenderId, render::accessibility::ConformanceLevel};
use serde::Serialize;
use serde_json::Value;
use time::{OffsetDateTime, serde::rfc3339};

use crate::store::{callbacks::CallbackHistory, renders::history::Render};

/// A render in a list.
#[derive(Serialize)]
pub struct RenderResponse {
    id: RenderId,
    state: String,
    mode: String,
    livemode: bool,
    page_count: Option<i32>,
    bytes: Option<i64>,
    conformance: Option<String>,
    conformance_levels: Vec<ConformanceLevel>,
    credits_used: Option<i64>,
    warnings: Value,
    error: Option<Value>,
    result: Option<Value>,
    #[serde(with = "rfc3339")]
    inserted_at: OffsetDateTime,
    #[serde(with = "rfc3339::option")]
    started_at: Option<OffsetDateTime>,
    #[serde(with = "rfc3339::option")]
    finished_at: Option<OffsetDateTime>,
    #[serde(with = "rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
}

/// A single render, with all details.
#[derive(Serialize)]
pub struct WholeRender {
    #[serde(flatten)]
    render: RenderResponse,
    options: Value,
    phase_times: Option<Value>,
    requests: Value,
    console: Value,
    callback: Option<CallbackResponse>,
}

/// Status of a render's webhook.
#[derive(Serialize)]
struct CallbackResponse {
    state: String,
    attempts: Vec<AttemptResponse>,
}

#[derive(Serialize)]
struct AttemptResponse {
    status: Option<i32>,
    error: Option<String>,
    answer: String,
    duration_ms: i32,
    #[serde(with = "rfc3339")]
    inserted_at: OffsetDateTime,
}

impl From<Render> for RenderResponse {
    fn from(render: Render) -> Self {
        let conformance = render.conformance.as_deref();
        Self {
            id: render.id,
            state: render.state,
            mode: render.mode,
            livemode: render.livemode,
            page_count: render.page_count,
            bytes: render.bytes,
            conformance_levels: conformance.map(ConformanceLevel::parse_list).unwrap_or_default(),
            conformance: render.conformance,
            credits_used: render.credits,
            warnings: render.warnings,
            error: render.error,
            result: render.result,
            inserted_at: render.inserted_at,
            started_at: render.started_at,
            finished_at: render.finished_at,
            expires_at: render.object_expires_at,
        }
    }
}

impl WholeRender {
    /// Combines a render and its webhook.
    pub fn new(mut render: Render, callback: Option<CallbackHistory>) -> Self {
        Self {
            options: render.options.take(),
            phase_times: render.phase_times.take(),
            requests: render.requests.take(),
            console: render.console.take(),
            callback: callback.map(Into::into),
            render: render.into(),
        }
    }
}

impl From<CallbackHistory> for CallbackResponse {
    fn from(history: CallbackHistory) -> Self {
        let attempts = history.attempts.into_iter().map(|attempt| AttemptResponse {
            status: attempt.status,
            error: attempt.error,
            answer: attempt.answer,
            duration_ms: attempt.duration_ms,
            inserted_at: attempt.inserted_at,
        });
        Self {
            state: history.state,
            attempts: attempts.collect(),
        }
    }
}
