//! Renders: the document is made, and whatever becomes of it is recorded and charged, and kept for a request that comes
//! again.

pub mod abandoned;
pub mod background;
pub mod cancel;
mod charge;
mod deliver;
pub mod enqueue;
pub mod failure;
pub mod history;
pub mod kept;
pub mod log;
mod record;
pub mod retention;
pub mod shown;
pub(in crate::service) mod templates;
pub mod thumbnails;

use axum::body::Bytes;
use platen_engine::Entered;
use platen_engine::error::{RenderError, RenderFault};
use platen_engine::job::{Lane, Phase, PhaseTimes, RenderedDocument};
use platen_engine::render_log::{RenderLog, Seen};
use platen_pdf::Watermark;

use crate::{
    clock,
    config::memory::COPIES,
    domain::{
        caller::Caller,
        idempotency::IdempotentRequest,
        ids::{AccountId, RenderId},
        render::{
            RenderRequest, RenderTerms,
            history::RenderMode,
            kept::{Facts, KeptOutcome},
        },
    },
    memory::Reservation,
    service::renders::{
        failure::{EnterError, FailureReason, RenderFailure},
        record::OpenRecord,
        templates::{fill_parts, note_versions},
    },
    state::AppState,
    store::renders::{NewRender, Start},
    telemetry::traces,
};

/// A document and the render that made it.
pub struct RenderOutcome {
    /// The render.
    pub id: RenderId,
    /// What is to be said of the document.
    pub facts: Facts,
    /// The document.
    pub pdf: Bytes,
    /// Where it comes from.
    pub origin: Origin,
    /// What the document holds of the service's memory, until it is sent.
    pub memory: Reservation,
}

/// Where a document comes from.
#[derive(Debug)]
pub enum Origin {
    /// It was just made, in this time.
    Rendered(PhaseTimes),
    /// An earlier request with the same idempotency key had it made.
    Replayed,
}

/// Renders while the caller waits. A credit is reserved before any work; the outcome is recorded and charged before this
/// returns. A request that came before, by its idempotency key, has its first outcome again. Dropping the future ends the
/// engine's work at once and records the render as cancelled.
pub async fn render_now(
    app: &AppState,
    caller: &Caller,
    mut request: RenderRequest,
    idempotent: Option<IdempotentRequest>,
    mut memory: Reservation,
) -> Result<RenderOutcome, RenderFailure> {
    let refused = |reason| RenderFailure { id: None, reason };
    let terms = terms_while_waiting(app, caller, Lane::Synchronous, watermark(caller.livemode));
    let id = terms.id;
    let held = memory.bytes();
    if let Some(request) = &idempotent {
        // The file, and what is opened of it.
        memory
            .try_grow(2 * terms.document_bytes)
            .map_err(|full| refused(full.into()))?;
        let kept = kept::find(app, caller.account, request, clock::now()).await;
        if let Some((render, outcome)) = kept.map_err(|error| refused(error.into()))? {
            tracing::Span::current().record("render_id", tracing::field::display(render));
            return delivered(render, outcome, Origin::Replayed, memory);
        }
        memory.shrink_to(held);
    }
    // What the account does not have fails the render, not the request: one that comes again has its outcome again.
    let noted = note_versions(app, caller.account, &mut request).await;
    let noted = noted.map_err(|error| refused(error.into()))?;
    let new = NewRender {
        id,
        key: caller.key,
        livemode: caller.livemode,
        start: Start::Now(app.instance),
        options: std::mem::take(&mut request.options),
    };
    let record = OpenRecord::begin(app, caller.account, new, idempotent)
        .await
        .map_err(refused)?;
    tracing::Span::current().record("render_id", tracing::field::display(id));
    let rendered = match noted {
        Ok(()) => make(app, caller.into(), request, terms, &mut memory, record.log()).await,
        Err(faults) => Err(FailureReason::Templates(faults)),
    };
    let seen = record.log().seen();
    note(app, RenderMode::Sync, &rendered, &seen);
    let failure = |reason| RenderFailure { id: Some(id), reason };
    match rendered {
        Ok(document) => {
            let outcome = record.succeed(document).await.map_err(failure)?;
            delivered(id, outcome, Origin::Rendered(seen.phases), memory)
        }
        Err(reason) => Err(failure(record.fail(reason).await)),
    }
}

fn delivered(
    id: RenderId,
    outcome: KeptOutcome,
    origin: Origin,
    mut memory: Reservation,
) -> Result<RenderOutcome, RenderFailure> {
    match outcome {
        KeptOutcome::Document(facts, pdf) => {
            memory.shrink_to(pdf.len() as u64);
            Ok(RenderOutcome {
                id,
                facts,
                pdf,
                origin,
                memory,
            })
        }
        KeptOutcome::Refused(faults) => Err(RenderFailure {
            id: Some(id),
            reason: FailureReason::Replayed(faults),
        }),
    }
}

fn watermark(livemode: bool) -> Option<Watermark> {
    (!livemode).then_some(Watermark::Test)
}

/// The terms of a new render that its caller waits for.
pub(in crate::service) fn terms_while_waiting(
    app: &AppState,
    caller: &Caller,
    lane: Lane,
    watermark: Option<Watermark>,
) -> RenderTerms {
    RenderTerms {
        id: RenderId::generate(),
        lane,
        watermark,
        deadline: caller.limits.sync_deadline,
        pages: app.config.limits.page_limit,
        document_bytes: app.config.memory.largest_document(caller.limits.body_bytes),
    }
}

/// Waits for a slot, and reserves the memory that making a document takes: nothing large is done for a render before.
pub(in crate::service) async fn enter(
    app: &AppState,
    caller: platen_engine::job::Caller,
    terms: &RenderTerms,
    memory: &mut Reservation,
    log: &RenderLog,
) -> Result<Entered, EnterError> {
    let entered = app.engine.enter(caller, terms.lane, terms.deadline, log).await?;
    memory.try_grow(COPIES * terms.document_bytes)?;
    Ok(entered)
}

/// Makes the document of a render that is accepted.
async fn make(
    app: &AppState,
    caller: platen_engine::job::Caller,
    mut request: RenderRequest,
    terms: RenderTerms,
    memory: &mut Reservation,
    log: &RenderLog,
) -> Result<RenderedDocument, FailureReason> {
    let entered = enter(app, caller, &terms, memory, log).await?;
    let parts = std::mem::take(&mut request.parts);
    let filling = fill_parts(app, AccountId(caller.account), parts, terms.document_bytes);
    let filled = entered.within(Phase::Load, log, filling).await??;
    let mut document = entered.render(request.into_job(filled.parts, &terms), log).await?;
    document.warnings.splice(0..0, filled.warnings);
    Ok(document)
}

/// Logs, measures and traces what the engine made.
fn note(app: &AppState, mode: RenderMode, rendered: &Result<RenderedDocument, FailureReason>, seen: &Seen) {
    match rendered {
        Ok(document) => {
            app.metrics.document_made(mode, &seen.phases);
            traces::phases(&seen.phases);
            let [queue_ms, load_ms, wait_ms, evaluate_ms, print_ms, post_ms] = seen
                .phases
                .by_phase()
                .map(|(_, duration)| duration.as_secs_f64() * 1000.0);
            tracing::info!(
                pages = document.page_count,
                bytes = document.pdf.len(),
                warnings = document.warnings.len(),
                requests = seen.requests.len(),
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
        Err(FailureReason::Engine(RenderError::Fault { .. }) | FailureReason::Templates(_)) => {
            tracing::info!("not rendered, by the caller's fault");
        }
        Err(error) => tracing::warn!(%error, "not rendered"),
    }
}
