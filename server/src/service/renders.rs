//! Renders: the document is made, and whatever becomes of it is recorded and charged, and kept for a request that comes
//! again.

pub mod abandoned;
pub mod background;
pub mod cancel;
mod charge;
mod deliver;
pub mod enqueue;
pub mod history;
pub mod kept;
pub mod log;
mod record;
pub mod retention;
pub mod shown;
pub(in crate::service) mod templates;
pub mod thumbnails;

use std::time::Instant;

use axum::body::Bytes;
use platen_app::model::storage::StorageFull;
use platen_engine::Entered;
use platen_engine::error::{RenderError, RenderFault};
use platen_engine::job::{Lane, Phase, PhaseTimes, RenderedDocument};
use platen_engine::render_log::{RenderLog, Seen};
use platen_pdf::Watermark;
use platen_template::pool;
use serde_json::{Value, json};
use tokio::task::JoinError;

use crate::{
    clock,
    config::memory::COPIES,
    domain::{
        caller::Caller,
        credits::NotEnoughCredits,
        destination::Destination,
        health::failure_kind::FailureKind,
        idempotency::IdempotentRequest,
        ids::{AccountId, RenderId},
        job::CRASHES,
        render::{
            RenderRequest, RenderTerms, blamed_member,
            history::RenderMode,
            kept::{Facts, KeptOutcome},
        },
        sentence::sentence,
        validation::Fault,
    },
    memory::{MemoryFull, Reservation},
    service::{
        connections::delivery::CoveringError,
        metrics::outcome::Outcome,
        renders::{
            deliver::DeliveryError,
            kept::KeepError,
            record::OpenRecord,
            templates::{fill_parts, note_versions},
        },
    },
    state::AppState,
    storage::bucket::BucketError,
    store::{
        account_storage,
        error::StoreError,
        renders::{NewRender, Start},
    },
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
    /// It names templates that the account does not have, or one that can't be filled.
    #[error("a template can't be used")]
    Templates(Vec<Fault>),
    /// The service has no memory for it now.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
    /// No process fills its templates.
    #[error(transparent)]
    TemplateProcess(pool::Error),
    /// The callback's address is refused.
    #[error("the callback's address is refused")]
    Callback(Fault),
    /// No storage connection of the account covers where the document is to go.
    #[error("no storage connection of the account covers the path {:?} in the bucket {:?} of {}", .0.path, .0.bucket, .0.provider.as_str())]
    NoConnection(Destination),
    /// The store did not take the document.
    #[error(transparent)]
    Delivery(#[from] DeliveryError),
    /// Its content can't be sealed, or opened again.
    #[error("the content of the request: {0}")]
    Content(#[source] KeepError),
    /// Several processes have ended over it.
    #[error("the service crashed {CRASHES} times while it was rendered; it is not tried again")]
    Poisonous,
    /// It can't be paid for.
    #[error(transparent)]
    Credits(#[from] NotEnoughCredits),
    /// It could not be made when it was asked for first.
    #[error("it could not be rendered for an earlier request with the same idempotency key")]
    Replayed(Vec<Fault>),
    /// The idempotency key belongs to a request that is not done yet.
    #[error("a request with this idempotency key is under way")]
    KeyInUse,
    /// The idempotency key belongs to another request.
    #[error("the idempotency key was used for a request with another body")]
    KeyOfOtherRequest,
    /// The account stores as much as it may of something that the render needs.
    #[error(transparent)]
    StorageFull(#[from] StorageFull),
    /// It could not be kept for a request that comes again.
    #[error(transparent)]
    Keep(KeepError),
    /// It could not be recorded.
    #[error(transparent)]
    Store(StoreError),
    /// Recording broke off.
    #[error("recording the render broke off: {0}")]
    Interrupted(#[from] JoinError),
    /// Somebody else has ended it.
    #[error("the render was ended before it was finished")]
    Ended,
}

/// Why a render does not begin.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// It got no slot.
    #[error(transparent)]
    Engine(#[from] RenderError),
    /// The service has no memory for it now.
    #[error(transparent)]
    Memory(#[from] MemoryFull),
}

impl From<EnterError> for FailureReason {
    fn from(error: EnterError) -> Self {
        match error {
            EnterError::Engine(error) => Self::Engine(error),
            EnterError::Memory(full) => Self::Memory(full),
        }
    }
}

impl From<StoreError> for FailureReason {
    fn from(error: StoreError) -> Self {
        account_storage::full(&error).map_or(Self::Store(error), Self::StorageFull)
    }
}

impl From<KeepError> for FailureReason {
    fn from(error: KeepError) -> Self {
        match error {
            KeepError::Full(full) => Self::StorageFull(full),
            error => Self::Keep(error),
        }
    }
}

impl From<CoveringError> for FailureReason {
    fn from(error: CoveringError) -> Self {
        match error {
            CoveringError::NoConnection(destination) => Self::NoConnection(destination),
            CoveringError::Store(error) => Self::Store(error),
        }
    }
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
    let document_bytes = app.config.memory.largest_document(caller.limits.body_bytes);
    let held = memory.bytes();
    if let Some(request) = &idempotent {
        // The file, and what is opened of it.
        memory
            .try_grow(2 * document_bytes)
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
    let id = RenderId::generate();
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
    let terms = RenderTerms {
        id,
        lane: Lane::Synchronous,
        watermark: watermark(caller.livemode),
        deadline: caller.limits.sync_deadline,
        pages: app.config.limits.page_limit,
        document_bytes,
    };
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
    let started = Instant::now();
    let parts = std::mem::take(&mut request.parts);
    let filling = fill_parts(app, AccountId(caller.account), parts, terms.document_bytes);
    let filled = tokio::time::timeout_at(entered.ends_at().into(), filling).await;
    log.add_time(Phase::Load, started.elapsed());
    let filled = filled.map_err(|_| entered.late(Phase::Load))??;
    let mut document = entered.render(request.into_job(filled.parts, &terms), log).await?;
    document.warnings.splice(0..0, filled.warnings);
    Ok(document)
}

/// What the caller is told, as the record keeps it.
fn told(reason: &FailureReason) -> Value {
    let message = reason.to_string();
    let error = match reason {
        FailureReason::Engine(error) => error,
        FailureReason::Credits(_)
        | FailureReason::Ended
        | FailureReason::Memory(_)
        | FailureReason::NoConnection(_)
        | FailureReason::Delivery(DeliveryError::Client(_))
        | FailureReason::Poisonous
        | FailureReason::StorageFull(_)
        | FailureReason::Replayed(_)
        | FailureReason::KeyInUse
        | FailureReason::KeyOfOtherRequest => return json!({"message": message}),
        FailureReason::Templates(faults) => {
            return faults.first().map_or(
                Value::Null,
                |fault| json!({"message": fault.detail, "pointer": fault.pointer}),
            );
        }
        FailureReason::Callback(fault) => return json!({"message": fault.detail, "pointer": fault.pointer}),
        FailureReason::Keep(_)
        | FailureReason::Delivery(DeliveryError::Own(_))
        | FailureReason::Content(_)
        | FailureReason::TemplateProcess(_)
        | FailureReason::Store(_)
        | FailureReason::Interrupted(_) => {
            return json!({"message": "internal error"});
        }
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

/// What the caller can mend. Such an outcome is final: the same request would have it again.
pub fn caller_faults(reason: &FailureReason) -> Option<Vec<Fault>> {
    match reason {
        FailureReason::Engine(RenderError::Fault { part, fault }) => Some(vec![Fault {
            pointer: blamed_member(*part, fault),
            title: "Can't be rendered".into(),
            detail: sentence(&fault.to_string()),
        }]),
        FailureReason::Templates(faults) => Some(faults.clone()),
        FailureReason::Callback(fault) => Some(vec![fault.clone()]),
        _ => None,
    }
}

/// How a render that came to nothing is counted.
fn counted(reason: &FailureReason) -> Outcome {
    Outcome::Failed(match reason {
        FailureReason::Engine(error) => FailureKind::of_engine(error),
        FailureReason::Templates(_) => FailureKind::Template,
        FailureReason::Callback(_) => FailureKind::AddressRefused,
        FailureReason::NoConnection(_) | FailureReason::Delivery(DeliveryError::Client(BucketError::Refused(_))) => {
            FailureKind::Destination
        }
        FailureReason::Credits(_) => FailureKind::Credits,
        FailureReason::Memory(_) => FailureKind::NoSlot,
        FailureReason::StorageFull(_) => FailureKind::StorageFull,
        FailureReason::Replayed(_) | FailureReason::KeyInUse | FailureReason::KeyOfOtherRequest => {
            FailureKind::Conflict
        }
        FailureReason::Poisonous => FailureKind::Lost,
        FailureReason::Delivery(_) => FailureKind::Storage,
        FailureReason::TemplateProcess(_)
        | FailureReason::Content(_)
        | FailureReason::Keep(_)
        | FailureReason::Store(_)
        | FailureReason::Interrupted(_)
        | FailureReason::Ended => FailureKind::Internal,
    })
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
