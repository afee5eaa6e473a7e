//! Renders: the document is made, and whatever becomes of it is recorded.

use platen_engine::error::{RenderError, RenderFault};
use platen_engine::job::RenderedDocument;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::{
    runtime::Handle,
    task::{JoinError, JoinHandle},
};

use crate::{
    clock,
    domain::{
        caller::Caller,
        ids::{AccountId, RenderId},
        render::{RenderLimits, RenderRequest, blamed_member},
    },
    state::AppState,
    store::{
        error::StoreError,
        renders::{self, Ending, NewRender},
    },
};

/// A document and the render that made it.
pub struct RenderOutcome {
    /// The render.
    pub id: RenderId,
    /// What it made.
    pub document: RenderedDocument,
}

/// A render that came to nothing.
#[derive(Debug)]
pub struct RenderFailure {
    /// The render.
    pub id: RenderId,
    /// Why.
    pub reason: FailureReason,
}

/// Why there is no document.
#[derive(Debug, thiserror::Error)]
pub enum FailureReason {
    /// It could not be made.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// It could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Recording broke off.
    #[error("recording the render broke off: {0}")]
    Interrupted(#[from] JoinError),
}

/// Renders while the caller waits. The row is opened beside the render, so that it costs no time, and the outcome is in
/// it before this returns. Dropping the future ends the engine's work at once and records the render as cancelled.
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
        options: std::mem::take(&mut request.options),
    };
    let record = OpenRecord::begin(&app.db, caller.account, new);
    let limits = &app.config.limits;
    let bounds = RenderLimits {
        deadline: limits.sync_deadline,
        pages: limits.page_limit,
    };
    let place = platen_engine::job::Caller {
        account: caller.account.0,
        concurrency: limits.concurrency,
    };
    let rendered = app.engine.render(place, request.into_job(id, bounds)).await;
    log(&rendered);
    let ending = match &rendered {
        Ok(document) => Ending::Succeeded(document.into()),
        Err(error) => Ending::Failed(told(error)),
    };
    let failure = |reason| RenderFailure { id, reason };
    record.end(ending).await.map_err(failure)?;
    match rendered {
        Ok(document) => Ok(RenderOutcome { id, document }),
        Err(error) => Err(failure(error.into())),
    }
}

/// What the caller is told, as the record keeps it.
fn told(error: &RenderError) -> Value {
    let message = error.to_string();
    match error {
        RenderError::Fault { part, fault } => json!({"message": message, "pointer": blamed_member(*part, fault)}),
        RenderError::Deadline { phase, .. } => json!({"message": message, "phase": phase.as_str()}),
        RenderError::Browser(_) => json!({"message": "internal error"}),
        RenderError::TooManyConcurrent { .. } | RenderError::QueueFull | RenderError::ShuttingDown => {
            json!({"message": message})
        }
    }
}

fn log(rendered: &Result<RenderedDocument, RenderError>) {
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
        Err(RenderError::Fault {
            fault: fault @ RenderFault::NotConformant { .. },
            ..
        }) => tracing::warn!(%fault, "not delivered"),
        Err(RenderError::Fault { .. }) => tracing::info!("not rendered, by the caller's fault"),
        Err(error) => tracing::warn!(%error, "not rendered"),
    }
}

/// A row under way. Recording runs in tasks of its own: a caller who hangs up ends the render, never its record.
struct OpenRecord {
    runtime: Handle,
    db: PgPool,
    account: AccountId,
    id: RenderId,
    /// Taken when the ending is known.
    inserted: Option<JoinHandle<Result<(), StoreError>>>,
}

impl OpenRecord {
    fn begin(db: &PgPool, account: AccountId, new: NewRender) -> Self {
        let runtime = Handle::current();
        let id = new.id;
        let inserting = db.clone();
        let inserted = runtime.spawn(async move { renders::insert(&inserting, account, new, clock::now()).await });
        Self {
            runtime,
            db: db.clone(),
            account,
            id,
            inserted: Some(inserted),
        }
    }

    async fn end(mut self, ending: Ending) -> Result<(), FailureReason> {
        match self.record(ending) {
            Some(recorded) => recorded.await?,
            None => Ok(()),
        }
    }

    fn record(&mut self, ending: Ending) -> Option<JoinHandle<Result<(), FailureReason>>> {
        let inserted = self.inserted.take()?;
        let (db, account, id) = (self.db.clone(), self.account, self.id);
        Some(self.runtime.spawn(async move {
            inserted.await??;
            Ok(renders::finish(&db, account, id, ending, clock::now()).await?)
        }))
    }
}

impl Drop for OpenRecord {
    fn drop(&mut self) {
        if self.record(Ending::Cancelled).is_some() {
            tracing::info!("cancelled: the client hung up");
        }
    }
}
