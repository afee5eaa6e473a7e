//! Metrics of the process, for Prometheus. Label types bound the number of time series: labels never contain accounts,
//! keys, host names or other values that clients choose.

pub mod connections;
pub mod exposition;
mod instruments;
pub mod outcome;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use platen_domain::{
    health::{
        histogram::Histogram,
        minute::{Detail, Tally, WHOLE},
    },
    job::QueueLength,
    render::history::RenderMode,
};
use platen_engine::{
    EngineStatus,
    job::{Phase, PhaseTimes},
};
use sqlx::PgPool;
use strum::VariantArray;
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

use crate::{
    memory::MemoryStatus,
    service::{
        Services,
        metrics::{
            connections::ConnectionMetrics,
            exposition::Exposition,
            instruments::Family,
            outcome::{CallbackOutcome, MailOutcome, Outcome},
        },
    },
    store::{
        error::StoreError,
        jobs,
        mails::{self, WaitingMails},
    },
};

/// Time for which a measurement of the queue is reused, however often metrics are scraped.
const LOOK_AT_QUEUE_EVERY: Duration = Duration::from_secs(1);
/// Timeout of the database. Without it, the other metrics are exposed before the scraper times out.
const DATABASE_PATIENCE: Duration = Duration::from_secs(2);

/// Labels of an HTTP response.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HttpAnswer {
    /// A method that routes accept, or one word for all others.
    pub method: &'static str,
    /// Route pattern, with names of parameters.
    pub route: String,
    /// Class of the status, such as `2xx`.
    pub status: &'static str,
}

/// Counters and histograms of this process.
pub struct Metrics {
    renders: Family<(RenderMode, Outcome), u64>,
    phases: Family<(RenderMode, Phase), Histogram>,
    documents: Family<RenderMode, Histogram>,
    start_delays: Family<(), Histogram>,
    callbacks: Family<CallbackOutcome, u64>,
    mails: Family<MailOutcome, u64>,
    credits: AtomicU64,
    http_answers: Family<HttpAnswer, u64>,
    /// Counters of client connections.
    pub connections: Arc<ConnectionMetrics>,
    queue: Mutex<Option<QueueLook>>,
}

/// Latest measurement of the queue.
struct QueueLook {
    at: Instant,
    found: Waiting,
}

/// Queued jobs and mails of all processes.
#[derive(Clone, Default)]
struct Waiting {
    jobs: Vec<QueueLength>,
    mails: Option<WaitingMails>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            renders: Family::of(
                RenderMode::VARIANTS
                    .iter()
                    .flat_map(|&mode| Outcome::all().map(move |outcome| (mode, outcome))),
            ),
            phases: Family::of(RenderMode::VARIANTS.iter().flat_map(|&mode| {
                let phases = PhaseTimes::default().by_phase();
                phases.map(|(phase, _)| (mode, phase))
            })),
            documents: Family::of(RenderMode::VARIANTS.iter().copied()),
            start_delays: Family::of([()]),
            callbacks: Family::of(CallbackOutcome::VARIANTS.iter().copied()),
            mails: Family::of(MailOutcome::VARIANTS.iter().copied()),
            credits: AtomicU64::new(0),
            http_answers: Family::of([]),
            connections: Arc::default(),
            queue: Mutex::default(),
        }
    }
}

impl Metrics {
    /// Counts a render that has ended.
    pub fn render_ended(&self, mode: RenderMode, outcome: Outcome) {
        self.renders_ended(mode, outcome, 1);
    }

    /// Counts renders that have ended.
    pub fn renders_ended(&self, mode: RenderMode, outcome: Outcome, count: u64) {
        self.renders.record((mode, outcome), |ended| *ended += count);
    }

    /// Records the phase times of a document.
    pub fn document_made(&self, mode: RenderMode, phases: &PhaseTimes) {
        for (phase, duration) in phases.by_phase() {
            self.phases
                .record((mode, phase), |histogram| histogram.observe(duration));
        }
        let whole = phases.by_phase().iter().map(|(_, duration)| *duration).sum();
        self.documents.record(mode, |histogram| histogram.observe(whole));
    }

    /// Records the time from the acceptance of an asynchronous render to its first start.
    pub fn render_begun(&self, delay: Duration) {
        self.start_delays.record((), |histogram| histogram.observe(delay));
    }

    /// Counts an attempt to deliver a webhook.
    pub fn callback_tried(&self, outcome: CallbackOutcome) {
        self.callbacks.record(outcome, |tried| *tried += 1);
    }

    /// Counts an attempt to send a mail.
    pub fn mail_tried(&self, outcome: MailOutcome) {
        self.mails.record(outcome, |tried| *tried += 1);
    }

    /// Counts credits whose charge is committed.
    pub fn credits_charged(&self, credits: i64) {
        self.credits.fetch_add(credits.unsigned_abs(), Ordering::Relaxed);
    }

    /// Counts a response to an HTTP request.
    pub fn http_answered(&self, answer: HttpAnswer) {
        self.http_answers.record(answer, |answered| *answered += 1);
    }

    /// Returns the figures of renders since the start.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for (&(_, outcome), &count) in &*self.renders.all() {
            match outcome {
                Outcome::Succeeded => tally.succeeded += count,
                Outcome::Cancelled => tally.cancelled += count,
                Outcome::Failed(kind) => {
                    tally.failed += count;
                    *tally.detail.failures.entry(kind.into_str().to_owned()).or_default() += count;
                }
            }
        }
        let mut note = |mode: RenderMode, phase: &str, histogram: &Histogram| {
            let Detail { phases, .. } = &mut tally.detail;
            let phases = phases.entry(mode.into_str().to_owned()).or_default();
            phases.insert(phase.to_owned(), histogram.clone());
        };
        for ((mode, phase), histogram) in &*self.phases.all() {
            note(*mode, phase.into(), histogram);
        }
        for (mode, histogram) in &*self.documents.all() {
            note(*mode, WHOLE, histogram);
        }
        tally
    }

    /// Returns the queue's lengths, up to a second old. They are empty if the database doesn't respond.
    async fn look_at_queue(&self, db: &PgPool) -> Waiting {
        let mut last = self.queue.lock().await;
        if let Some(look) = &*last
            && look.at.elapsed() < LOOK_AT_QUEUE_EVERY
        {
            return look.found.clone();
        }
        let found = match timeout(DATABASE_PATIENCE, measure(db)).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the queue could not be measured");
                Waiting::default()
            }
            Err(_) => {
                tracing::warn!("the queue could not be measured: the database did not respond");
                Waiting::default()
            }
        };
        *last = Some(QueueLook {
            at: Instant::now(),
            found: found.clone(),
        });
        found
    }

    fn expose_renders(&self, exposition: &mut Exposition) {
        let (mut outcomes, mut failures) = (BTreeMap::new(), BTreeMap::new());
        for (&(mode, outcome), &count) in &*self.renders.all() {
            *outcomes.entry((mode, outcome.as_str())).or_default() += count;
            if let Outcome::Failed(kind) = outcome {
                *failures.entry(kind).or_default() += count;
            }
        }
        exposition.counter(
            "platen_renders_total",
            "Renders that have ended, without previews.",
            outcomes
                .iter()
                .map(|((mode, outcome), count)| (vec![("mode", mode.into_str()), ("outcome", *outcome)], *count)),
        );
        exposition.counter(
            "platen_render_failures_total",
            "Renders that have ended without a document, by kind of failure.",
            failures
                .iter()
                .map(|(kind, count)| (vec![("kind", kind.into_str())], *count)),
        );
    }

    fn expose(&self, exposition: &mut Exposition) {
        self.expose_renders(exposition);
        exposition.histogram(
            "platen_render_phase_seconds",
            "Duration of each phase of a document.",
            self.phases.all().iter().map(|((mode, phase), histogram)| {
                (vec![("mode", mode.into_str()), ("phase", phase.into())], histogram)
            }),
        );
        exposition.histogram(
            "platen_render_seconds",
            "Duration of a document, from its admission to the finished file.",
            self.documents
                .all()
                .iter()
                .map(|(mode, histogram)| (vec![("mode", mode.into_str())], histogram)),
        );
        exposition.histogram(
            "platen_render_start_delay_seconds",
            "Time from the acceptance of an asynchronous render to its first start.",
            self.start_delays.all().values().map(|histogram| (vec![], histogram)),
        );
        exposition.counter(
            "platen_callback_tries_total",
            "Attempts to deliver webhooks.",
            self.callbacks
                .all()
                .iter()
                .map(|(outcome, count)| (vec![("outcome", outcome.into_str())], *count)),
        );
        exposition.counter(
            "platen_mail_tries_total",
            "Attempts to send mails.",
            self.mails
                .all()
                .iter()
                .map(|(outcome, count)| (vec![("outcome", outcome.into_str())], *count)),
        );
        exposition.counter(
            "platen_credits_charged_total",
            "Credits charged for documents.",
            [(vec![], self.credits.load(Ordering::Relaxed))],
        );
        exposition.counter(
            "platen_http_requests_total",
            "HTTP requests that were answered.",
            self.http_answers.all().iter().map(|(answer, count)| {
                let pairs = vec![
                    ("method", answer.method),
                    ("route", answer.route.as_str()),
                    ("status", answer.status),
                ];
                (pairs, *count)
            }),
        );
        self.connections.expose(exposition);
    }
}

/// Returns the metrics of this process and of the queue, in the text format.
pub async fn expose(app: &Services) -> String {
    let mut exposition = Exposition::default();
    let status = app.engine.status();
    exposition.gauge(
        "platen_build_info",
        "Versions of the service and its browser; always 1.",
        [(
            vec![("version", env!("CARGO_PKG_VERSION")), ("browser", &status.version)],
            1.0,
        )],
    );
    let waiting = app.metrics.look_at_queue(&app.db).await;
    expose_queue(&waiting.jobs, &mut exposition);
    expose_mails(waiting.mails, &mut exposition);
    app.metrics.expose(&mut exposition);
    expose_engine(&status, &mut exposition);
    expose_memory(app.memory.status(), &mut exposition);
    exposition.counter(
        "platen_egress_refusals_total",
        "Connections of pages and webhooks that the address policy refused.",
        [(vec![], app.guard.refusals())],
    );
    exposition.into_text()
}

fn expose_queue(lengths: &[QueueLength], exposition: &mut Exposition) {
    let jobs = lengths.iter().flat_map(|length| {
        [
            ("due", length.due),
            ("later", length.later),
            ("in_hand", length.in_hand),
        ]
        .map(|(state, jobs)| (vec![("kind", length.kind.into_str()), ("state", state)], jobs as f64))
    });
    exposition.gauge(
        "platen_queue_jobs",
        "Jobs of all accounts that are not suspended, over all processes.",
        jobs,
    );
    exposition.gauge(
        "platen_queue_oldest_due_job_age_seconds",
        "Time for which the oldest due job that no worker holds has been due; 0 without one.",
        lengths
            .iter()
            .map(|length| (vec![("kind", length.kind.into_str())], length.oldest_due_seconds)),
    );
}

fn expose_mails(waiting: Option<WaitingMails>, exposition: &mut Exposition) {
    exposition.gauge(
        "platen_mails_waiting",
        "Unsent mails, over all processes.",
        waiting.map(|waiting| (vec![], waiting.mails as f64)),
    );
    exposition.gauge(
        "platen_oldest_mail_age_seconds",
        "Time for which the oldest unsent mail has waited; 0 without one.",
        waiting.map(|waiting| (vec![], waiting.oldest_seconds)),
    );
}

async fn measure(db: &PgPool) -> Result<Waiting, StoreError> {
    Ok(Waiting {
        jobs: jobs::measure(db).await?,
        mails: Some(mails::measure(db).await?),
    })
}

fn expose_memory(status: MemoryStatus, exposition: &mut Exposition) {
    for (name, help, value) in [
        (
            "platen_request_memory_limit_bytes",
            "Memory that requests may reserve.",
            status.total as f64,
        ),
        (
            "platen_request_memory_bytes",
            "Memory that requests have reserved.",
            status.held as f64,
        ),
        (
            "platen_request_memory_waiting",
            "Requests that wait for memory.",
            status.waiting as f64,
        ),
    ] {
        exposition.gauge(name, help, [(vec![], value)]);
    }
}

fn expose_engine(status: &EngineStatus, exposition: &mut Exposition) {
    for (name, help, value) in [
        ("platen_slots", "Renders that can run at once.", status.slots),
        ("platen_slots_running", "Slots in use.", status.running),
        (
            "platen_slots_waiting",
            "Renders and parts that wait for a slot.",
            status.waiting,
        ),
        ("platen_browsers", "Browsers that respond.", status.browsers),
    ] {
        exposition.gauge(name, help, [(vec![], value as f64)]);
    }
    let sessions = [
        ("unowned", status.sessions.unowned),
        ("idle", status.sessions.idle),
        ("in_use", status.sessions.in_use),
    ];
    exposition.gauge(
        "platen_sessions",
        "Browser sessions: unassigned, idle with an account, or in use.",
        sessions.map(|(state, count)| (vec![("state", state)], count as f64)),
    );
    let replacements = [
        ("died", status.replacements.died),
        ("retired", status.replacements.retired),
    ];
    exposition.counter(
        "platen_browser_restarts_total",
        "Browsers that were replaced because they died, or after their maximum number of renders.",
        replacements.map(|(reason, count)| (vec![("reason", reason)], count)),
    );
}
