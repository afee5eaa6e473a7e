//! Renders: the document is made, and whatever becomes of it is recorded and charged.

pub mod abandoned;
mod record;

use platen_engine::error::{RenderError, RenderFault};
use platen_engine::job::RenderedDocument;
use platen_pdf::Watermark;
use serde_json::{Value, json};
use tokio::task::JoinError;

use crate::{
    domain::{
        caller::Caller,
        credits::NotEnoughCredits,
        ids::RenderId,
        render::{RenderLimits, RenderRequest, blamed_member},
    },
    service::renders::record::OpenRecord,
    state::AppState,
    store::{error::StoreError, renders::NewRender},
};

/// A document and the render that made it.
pub struct RenderOutcome {
    /// The render.
    pub id: RenderId,
    /// What it made.
    pub document: RenderedDocument,
    /// What was charged for it.
    pub credits: i64,
}

/// A render that came to nothing.
#[derive(Debug)]
pub struct RenderFailure {
    /// The render; `None` when it was refused before there was one.
    pub id: Option<RenderId>,
    /// Why.
    pub reason: FailureReason,
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
pub enum FailureReason {
    /// It could not be made.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// It can't be paid for.
    #[error(transparent)]
    Credits(#[from] NotEnoughCredits),
    /// It could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Recording broke off.
    #[error("recording the render broke off: {0}")]
    Interrupted(#[from] JoinError),
    /// Somebody else has ended it.
    #[error("the render was ended before it was finished")]
    Ended,
}

/// Renders while the caller waits. A credit is reserved before any work; the outcome is recorded and charged before this
/// returns. Dropping the future ends the engine's work at once and records the render as cancelled.
pub async fn render_now(
    app: &AppState,
    caller: &Caller,
    mut request: RenderRequest,
) -> Result<RenderOutcome, RenderFailure> {
    let id = RenderId::generate();
    tracing::Span::current().record("render_id", tracing::field::display(id));
    let new = NewRender {
        id,
        key: caller.key,
        livemode: caller.livemode,
        instance: app.instance,
        options: std::mem::take(&mut request.options),
    };
    let record = OpenRecord::begin(&app.db, caller.account, new)
        .await
        .map_err(|reason| RenderFailure { id: None, reason })?;
    let rendered = make(app, caller, id, request).await;
    log(&rendered);
    let ended = match rendered {
        Ok(document) => record
            .succeed(&document)
            .await
            .map(|credits| RenderOutcome { id, document, credits }),
        Err(reason) => Err(record.fail(reason).await),
    };
    ended.map_err(|reason| RenderFailure { id: Some(id), reason })
}

/// Makes the document of a render that is accepted.
async fn make(
    app: &AppState,
    caller: &Caller,
    id: RenderId,
    request: RenderRequest,
) -> Result<RenderedDocument, FailureReason> {
    let bounds = RenderLimits {
        deadline: caller.limits.sync_deadline,
        pages: app.config.limits.page_limit,
    };
    let place = platen_engine::job::Caller {
        account: caller.account.0,
        concurrency: caller.limits.concurrency,
    };
    let watermark = (!caller.livemode).then_some(Watermark::Test);
    Ok(app
        .engine
        .render(place, request.into_job(id, bounds, watermark))
        .await?)
}

/// What the caller is told, as the record keeps it.
fn told(reason: &FailureReason) -> Value {
    let message = reason.to_string();
    let error = match reason {
        FailureReason::Engine(error) => error,
        FailureReason::Credits(_) | FailureReason::Ended => return json!({"message": message}),
        FailureReason::Store(_) | FailureReason::Interrupted(_) => return json!({"message": "internal error"}),
    };
    match error {
        RenderError::Fault { part, fault } => json!({"message": message, "pointer": blamed_member(*part, fault)}),
        RenderError::Deadline { phase, .. } => json!({"message": message, "phase": phase.as_str()}),
        RenderError::Browser(_) => json!({"message": "internal error"}),
        RenderError::TooManyConcurrent { .. } | RenderError::QueueFull | RenderError::ShuttingDown => {
            json!({"message": message})
        }
    }
}

fn log(rendered: &Result<RenderedDocument, FailureReason>) {
    match rendered {
        Ok(document) => {
            let [queue_ms, load_ms, wait_ms, evaluate_ms, print_ms, post_ms] = document
                .phases
                .by_phase()
                .map(|(_, duration)| duration.as_secs_f64() * 1000.0);
            tracing::info!(
                pages = document.page_count,
                bytes = document.pdf.len(),
                warnings = document.warnings.len(),
                requests = document.requests.len(),
                queue_ms,
                load_ms,
                wait_ms,
                evaluate_ms,
                print_ms,
                post_ms,
                "rendered"
            );
        }
        // The page may be to blame, or we.
        Err(FailureReason::Engine(RenderError::Fault {
            fault: fault @ RenderFault::NotConformant { .. },
            ..
        })) => tracing::warn!(%fault, "not delivered"),
        Err(FailureReason::Engine(RenderError::Fault { .. })) => tracing::info!("not rendered, by the caller's fault"),
        Err(error) => tracing::warn!(%error, "not rendered"),
    }
}
