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

use std::sync::Arc;

use axum::body::Bytes;
use platen_engine::Entered;
use platen_engine::error::{RenderError, RenderFault};
use platen_engine::job::{Lane, Phase, PhaseTimes, RenderedDocument};
use platen_engine::render_log::{RenderLog, Seen};
use platen_pdf::Watermark;
use tokio::sync::SetOnce;

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
        validation::Fault,
    },
    memory::Reservation,
    service::{
        api_keys::known::RenderCaller,
        renders::{
            failure::{EnterError, FailureReason, RenderFailure},
            record::OpenRecord,
            templates::{fill_parts, note_versions},
        },
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

/// Renders while the caller waits. A credit is reserved before anything is printed; the outcome is recorded and charged
/// before this returns. A request that came before, by its idempotency key, has its first outcome again. Dropping the future
/// ends the engine's work at once and records the render as cancelled.
pub async fn render_now(
    app: &AppState,
    mut caller: RenderCaller,
    mut request: RenderRequest,
    idempotent: Option<IdempotentRequest>,
    mut memory: Reservation,
) -> Result<RenderOutcome, RenderFailure> {
    let refused = |reason| RenderFailure { id: None, reason };
    let held = memory.bytes();
    // Only a document that costs next to nothing is loaded for a caller who may turn out to have no right to it.
    if caller.unconfirmed().is_some() && (idempotent.is_some() || !request.is_small_and_self_contained()) {
        caller = caller.confirm(app).await.map_err(|error| refused(error.into()))?;
    }
    let account = caller.caller.account;
    let terms = terms_while_waiting(
        app,
        &caller.caller,
        Lane::Synchronous,
        watermark(caller.caller.livemode),
    );
    let id = terms.id;
    if let Some(request) = &idempotent {
        // The file, and what is opened of it.
        memory
            .try_grow(2 * terms.document_bytes)
            .map_err(|full| refused(full.into()))?;
        let kept = kept::find(app, account, request, clock::now()).await;
        if let Some((render, outcome)) = kept.map_err(|error| refused(error.into()))? {
            tracing::Span::current().record("render_id", tracing::field::display(render));
            return delivered(render, outcome, Origin::Replayed, memory);
        }
        memory.shrink_to(held);
    }
    // What the account does not have fails the render, not the request: one that comes again has its outcome again.
    let noted = note_versions(app, account, &mut request).await;
    let noted = noted.map_err(|error| refused(error.into()))?;
    let new = NewRender {
        id,
        key: caller.caller.key,
        credentials: caller.unconfirmed().cloned(),
        livemode: caller.caller.livemode,
        start: Start::Now(app.instance),
        options: std::mem::take(&mut request.options),
    };
    let early = if new.credentials.is_some() {
        let order = Order {
            app,
            caller: &caller.caller,
            request: request.clone(),
            terms,
            memory: &mut memory,
        };
        Some(order.open_while_loading(new.clone()).await)
    } else {
        None
    };
    let opened = match early {
        Some(opened) if !matches!(opened, Err(FailureReason::CredentialsChanged)) => opened,
        _ => {
            caller = caller.confirm(app).await.map_err(|error| refused(error.into()))?;
            memory.shrink_to(held);
            let new = NewRender {
                credentials: None,
                ..new
            };
            let order = Order {
                app,
                caller: &caller.caller,
                request,
                terms,
                memory: &mut memory,
            };
            order.open_then_make(new, idempotent, noted).await
        }
    };
    caller.note(app, opened.is_ok());
    let Opened { record, log, rendered } = opened.map_err(refused)?;
    tracing::Span::current().record("render_id", tracing::field::display(id));
    let seen = log.seen();
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

/// A document to be made while its caller waits.
struct Order<'a> {
    app: &'a AppState,
    caller: &'a Caller,
    request: RenderRequest,
    terms: RenderTerms,
    memory: &'a mut Reservation,
}

/// A render that was accepted, and what became of it.
struct Opened {
    record: OpenRecord,
    log: RenderLog,
    rendered: Result<RenderedDocument, FailureReason>,
}

impl Order<'_> {
    /// Makes the document once the render is accepted. `noted`: what is wrong with its templates.
    async fn open_then_make(
        self,
        new: NewRender,
        idempotent: Option<IdempotentRequest>,
        noted: Result<(), Vec<Fault>>,
    ) -> Result<Opened, FailureReason> {
        let log = RenderLog::default();
        let record = OpenRecord::begin(self.app, self.caller.account, new, idempotent, log.clone()).await?;
        let rendered = match noted {
            Ok(()) => self.make(&log, None).await,
            Err(faults) => Err(FailureReason::Templates(faults)),
        };
        Ok(Opened { record, log, rendered })
    }

    /// The same, but the page is loaded meanwhile, and printed once the render is accepted.
    async fn open_while_loading(self, new: NewRender) -> Result<Opened, FailureReason> {
        let (log, accepted) = (RenderLog::default(), Arc::new(SetOnce::new()));
        let (app, account) = (self.app, self.caller.account);
        let opening = async {
            let record = OpenRecord::begin(app, account, new, None, log.clone()).await?;
            // It is set only here.
            let _ = accepted.set(());
            Ok::<_, FailureReason>(record)
        };
        let making = async { Ok(self.make(&log, Some(Arc::clone(&accepted))).await) };
        let (record, rendered) = tokio::try_join!(opening, making)?;
        Ok(Opened { record, log, rendered })
    }

    async fn make(self, log: &RenderLog, accepted: Option<Accepted>) -> Result<RenderedDocument, FailureReason> {
        make(
            self.app,
            self.caller.into(),
            self.request,
            self.terms,
            self.memory,
            log,
            accepted,
        )
        .await
    }
}

/// Is set once a render is accepted.
type Accepted = Arc<SetOnce<()>>;

/// Makes the document of a render. `accepted`: it is not accepted yet, and nothing is printed before.
async fn make(
    app: &AppState,
    caller: platen_engine::job::Caller,
    mut request: RenderRequest,
    terms: RenderTerms,
    memory: &mut Reservation,
    log: &RenderLog,
    accepted: Option<Accepted>,
) -> Result<RenderedDocument, FailureReason> {
    let mut entered = enter(app, caller, &terms, memory, log).await?;
    if let Some(accepted) = accepted {
        entered = entered.once_accepted(accepted);
    }
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
