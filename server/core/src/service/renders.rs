//! Renders: creating documents, recording and charging their outcomes, and storing responses for repeated idempotent
//! requests.

pub mod abandoned;
pub mod accessibility;
pub mod background;
pub mod cancel;
pub(in crate::service) mod charge;
pub mod contents;
mod deliver;
pub mod detail;
mod engine_failure;
pub mod enqueue;
pub mod failure;
pub mod history;
pub mod idempotent_responses;
pub mod links;
pub mod log;
mod record;
pub mod request;
mod retained;
pub mod retention;
pub mod shown;
pub mod structure;
pub(in crate::service) mod templates;
pub mod thumbnails;
mod timeline;

use std::sync::Arc;

use bytes::Bytes;
use platen_domain::{
    caller::Caller,
    idempotency::IdempotentRequest,
    ids::{AccountId, RenderId},
    render::{
        history::RenderMode,
        idempotent_response::{Facts, IdempotentResponse},
    },
    validation::Problem,
};
use platen_engine::Entered;
use platen_engine::error::{RenderError, RenderProblem};
use platen_engine::job::{Lane, Phase, PhaseTimes, RenderedDocument};
use platen_engine::render_log::{RenderLog, Seen};
use platen_pdf::Watermark;
use tokio::sync::SetOnce;

use crate::{
    clock,
    config::memory::COPIES,
    memory::Reservation,
    render_request::{RenderRequest, RenderTerms, SynchronousRequest},
    service::{
        Services,
        api_keys::known::RenderCaller,
        assets::library::render_with_assets,
        renders::{
            contents::SentBody,
            failure::{EnterError, FailureReason, RenderFailure},
            record::OpenRecord,
            templates::{fill_parts, note_versions, require_assets},
        },
    },
    store::renders::NewRender,
    telemetry::traces,
};

/// Document of a render.
pub struct RenderOutcome {
    pub id: RenderId,
    /// Properties of the document for the response.
    pub facts: Facts,
    pub pdf: Bytes,
    pub origin: Origin,
    /// Memory reservation of the document, held until it is sent.
    pub memory: Reservation,
}

/// Origin of a document.
#[derive(Debug)]
pub enum Origin {
    /// It was rendered for this request, in these times.
    Rendered(PhaseTimes),
    /// It was rendered for an earlier request with the same idempotency key.
    Replayed,
}

/// Renders synchronously. A credit is reserved before anything is printed; the outcome is recorded and charged before
/// this returns. A repeated idempotent request returns its first outcome. Dropping the future ends the engine's work at
/// once and records the render as cancelled.
pub async fn render_now(
    app: &Services,
    mut caller: RenderCaller,
    request: SynchronousRequest,
    idempotent: Option<IdempotentRequest>,
    mut memory: Reservation,
) -> Result<RenderOutcome, RenderFailure> {
    let refused = |reason| RenderFailure { id: None, reason };
    let SynchronousRequest {
        render: mut request,
        body,
        encoding: _,
    } = request;
    let body = Arc::new(SentBody::new(body, &mut memory));
    let held = memory.bytes();
    // Before the key is confirmed, only documents that cost next to nothing are loaded.
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
        // The encrypted response, and its decrypted content.
        memory
            .try_grow(2 * terms.document_bytes)
            .map_err(|full| refused(full.into()))?;
        let stored = idempotent_responses::find(app, account, request, clock::now()).await;
        if let Some((render, outcome)) = stored.map_err(|error| refused(error.into()))? {
            tracing::Span::current().record("render_id", tracing::field::display(render));
            return delivered(render, outcome, Origin::Replayed, memory);
        }
        memory.shrink_to(held);
    }
    // Unknown templates fail the render, not the request, so that a repeated request returns the same outcome.
    let noted = note_versions(app, account, &mut request).await;
    let noted = noted.map_err(|error| refused(error.into()))?;
    let new = NewRender {
        id,
        key: caller.caller.key,
        credentials: caller.unconfirmed().cloned(),
        livemode: caller.caller.livemode,
        instance: app.instance,
        concurrency: caller.caller.limits.concurrency,
        options: std::mem::take(&mut request.options),
    };
    let early = if new.credentials.is_some() {
        let order = Order {
            app,
            caller: &caller.caller,
            request: request.clone(),
            terms,
            body: Arc::clone(&body),
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
                body,
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
    outcome: IdempotentResponse,
    origin: Origin,
    mut memory: Reservation,
) -> Result<RenderOutcome, RenderFailure> {
    match outcome {
        IdempotentResponse::Document(facts, pdf) => {
            memory.shrink_to(pdf.len() as u64);
            Ok(RenderOutcome {
                id,
                facts,
                pdf,
                origin,
                memory,
            })
        }
        IdempotentResponse::Refused(problems) => Err(RenderFailure {
            id: Some(id),
            reason: FailureReason::Replayed(problems),
        }),
    }
}

fn watermark(livemode: bool) -> Option<Watermark> {
    (!livemode).then_some(Watermark::Test)
}

/// Returns the terms of a new synchronous render.
pub(in crate::service) fn terms_while_waiting(
    app: &Services,
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

/// Waits for a slot, and reserves the memory for a document. Nothing large is done for a render before.
pub(in crate::service) async fn enter(
    app: &Services,
    caller: platen_engine::job::Caller,
    terms: &RenderTerms,
    memory: &mut Reservation,
    log: &RenderLog,
) -> Result<Entered, EnterError> {
    let entered = app.engine.enter(caller, terms.lane, terms.deadline, log).await?;
    memory.try_grow(COPIES * terms.document_bytes)?;
    Ok(entered)
}

/// A synchronous render that has not begun.
struct Order<'a> {
    app: &'a Services,
    caller: &'a Caller,
    request: RenderRequest,
    terms: RenderTerms,
    body: Arc<SentBody>,
    memory: &'a mut Reservation,
}

/// An accepted render and its outcome.
struct Opened {
    record: OpenRecord,
    log: RenderLog,
    rendered: Result<RenderedDocument, FailureReason>,
}

impl Order<'_> {
    /// Creates the document once the render is accepted. `noted` holds the validation errors of its templates.
    async fn open_then_make(
        self,
        new: NewRender,
        idempotent: Option<IdempotentRequest>,
        noted: Result<(), Vec<Problem>>,
    ) -> Result<Opened, FailureReason> {
        let log = RenderLog::default();
        let body = Arc::clone(&self.body);
        let record = OpenRecord::begin(self.app, self.caller.account, new, body, idempotent, log.clone()).await?;
        let rendered = match noted {
            Ok(()) => self.make(&log, None).await,
            Err(problems) => Err(FailureReason::Templates(problems)),
        };
        Ok(Opened { record, log, rendered })
    }

    /// Loads the page while the render is being accepted, and prints it after that.
    async fn open_while_loading(self, new: NewRender) -> Result<Opened, FailureReason> {
        let (log, accepted) = (RenderLog::default(), Arc::new(SetOnce::new()));
        let (app, account, body) = (self.app, self.caller.account, Arc::clone(&self.body));
        let opening = async {
            let record = OpenRecord::begin(app, account, new, body, None, log.clone()).await?;
            // Fails only if the cell is set already, and it is set only here.
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
            engine_caller(self.caller),
            self.request,
            self.terms,
            self.memory,
            log,
            accepted,
        )
        .await
    }
}

/// Cell that is set once a render is accepted.
pub(in crate::service) type Accepted = Arc<SetOnce<()>>;

/// Returns the caller on whose behalf the engine renders.
pub(in crate::service) fn engine_caller(caller: &Caller) -> platen_engine::job::Caller {
    platen_engine::job::Caller {
        account: caller.account.0,
        concurrency: caller.limits.concurrency,
    }
}

/// Creates the document of a render, and stores the report of one that doesn't reach the demanded levels. With `accepted`, the render
/// is not accepted yet, and nothing is printed before it is.
async fn make(
    app: &Services,
    caller: platen_engine::job::Caller,
    request: RenderRequest,
    terms: RenderTerms,
    memory: &mut Reservation,
    log: &RenderLog,
    accepted: Option<Accepted>,
) -> Result<RenderedDocument, FailureReason> {
    let made = Box::pin(make_unrecorded(app, caller, request, terms, memory, log, accepted)).await;
    if let Err(FailureReason::Conformance(unmet)) = &made {
        app.accessibility_reports
            .offer(AccountId(caller.account), terms.id, &unmet.report);
    }
    made
}

/// As [`make`], without storing anything.
pub(in crate::service) async fn make_unrecorded(
    app: &Services,
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
    let demanded = std::mem::take(&mut request.conformance);
    let account = AccountId(caller.account);
    let filling = fill_parts(app, account, parts, request.language.as_deref(), terms.document_bytes);
    let filled = entered.within(Phase::Load, log, filling).await??;
    let mut document = render_with_assets(app, account, entered, request, filled.parts, &terms, log).await?;
    require_assets(&filled.strict, log)?;
    accessibility::check(&document, &demanded)?;
    document.warnings.splice(0..0, filled.warnings);
    Ok(document)
}

/// Logs, measures and traces the engine's outcome.
fn note(app: &Services, mode: RenderMode, rendered: &Result<RenderedDocument, FailureReason>, seen: &Seen) {
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
        // The cause may be the page or the service.
        Err(FailureReason::Engine(RenderError::Problem {
            problem: problem @ RenderProblem::NotConformant { .. },
            ..
        })) => tracing::warn!(%problem, "not delivered"),
        Err(
            FailureReason::Engine(RenderError::Problem { .. })
            | FailureReason::Templates(_)
            | FailureReason::RemoteAsset(_)
            | FailureReason::Conformance(_),
        ) => {
            tracing::info!("not rendered because of an error in the request");
        }
        Err(error) => tracing::warn!(%error, "not rendered"),
    }
}
