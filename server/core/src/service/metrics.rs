//! Metrics of the process, for Prometheus. Label types bound the number of time series: labels never contain accounts,
//! keys, host names or other values that clients choose.

pub mod connections;
mod instruments;
pub mod outcome;

use std::time::Duration;

use platen_domain::{
    health::{
        failure_kind::FailureKind,
        minute::{Tally, WHOLE},
    },
    job::QueueLength,
    render::history::RenderMode,
};
use platen_engine::{EngineStatus, job::PhaseTimes};
use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec, Registry, TextEncoder};
use sqlx::PgPool;
use strum::VariantNames;
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
            instruments::{counters, durations, gauge, gauges, histograms, registered, seconds},
            outcome::{CallbackOutcome, MailOutcome, Outcome},
        },
    },
    store::{
        error::StoreError,
        jobs,
        mails::{self, WaitingMails},
    },
};

/// Value of `Content-Type`.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Time for which a measurement of the queue is reused, however often metrics are scraped.
const LOOK_AT_QUEUE_EVERY: Duration = Duration::from_secs(1);
/// Timeout of the database. Without it, the other metrics are exposed before the scraper times out.
const DATABASE_PATIENCE: Duration = Duration::from_secs(2);

/// Counters and histograms of this process.
pub struct Metrics {
    registry: Registry,
    renders: IntCounterVec,
    failures: IntCounterVec,
    phases: HistogramVec,
    documents: HistogramVec,
    start_delays: Histogram,
    callbacks: IntCounterVec,
    mails: IntCounterVec,
    credits: IntCounter,
    http_responses: IntCounterVec,
    /// Counters of client connections.
    pub connections: ConnectionMetrics,
    /// Latest measurement of the queue.
    queue: Mutex<Option<(Instant, Waiting)>>,
}

/// Queued jobs and mails of all processes.
#[derive(Clone, Default)]
struct Waiting {
    jobs: Vec<QueueLength>,
    mails: Option<WaitingMails>,
}

impl Default for Metrics {
    fn default() -> Self {
        let registry = Registry::new();
        let modes = RenderMode::VARIANTS.iter().copied();
        let outcomes: Vec<_> = modes
            .clone()
            .flat_map(|mode| Outcome::NAMES.map(|outcome| [mode, outcome]))
            .collect();
        let phases: Vec<_> = modes
            .flat_map(|mode| phase_names().map(|phase| [mode, phase]))
            .collect();
        Self {
            renders: counters(
                &registry,
                "platen_renders_total",
                "Renders that have ended, without previews.",
                ["mode", "outcome"],
                &outcomes,
            ),
            failures: counters(
                &registry,
                "platen_render_failures_total",
                "Renders that have ended without a document, by kind of failure.",
                ["kind"],
                FailureKind::VARIANTS.as_chunks().0,
            ),
            phases: histograms(
                &registry,
                "platen_render_phase_seconds",
                "Duration of each phase of a document.",
                ["mode", "phase"],
                &phases,
            ),
            documents: histograms(
                &registry,
                "platen_render_seconds",
                "Duration of a document, from its admission to the finished file.",
                ["mode"],
                RenderMode::VARIANTS.as_chunks().0,
            ),
            start_delays: registered(
                &registry,
                Histogram::with_opts(seconds(
                    "platen_render_start_delay_seconds",
                    "Time from the acceptance of an asynchronous render to its first start.",
                )),
            ),
            callbacks: counters(
                &registry,
                "platen_callback_tries_total",
                "Attempts to deliver webhooks.",
                ["outcome"],
                CallbackOutcome::VARIANTS.as_chunks().0,
            ),
            mails: counters(
                &registry,
                "platen_mail_tries_total",
                "Attempts to send mails.",
                ["outcome"],
                MailOutcome::VARIANTS.as_chunks().0,
            ),
            credits: registered(
                &registry,
                IntCounter::new("platen_credits_charged_total", "Credits charged for documents."),
            ),
            http_responses: counters(
                &registry,
                "platen_http_requests_total",
                "HTTP requests that were answered.",
                ["method", "route", "status"],
                &[],
            ),
            connections: ConnectionMetrics::new(&registry),
            queue: Mutex::default(),
            registry,
        }
    }
}

fn phase_names() -> [&'static str; 6] {
    PhaseTimes::default().by_phase().map(|(phase, _)| phase.into())
}

impl Metrics {
    /// Counts a render that has ended.
    pub fn render_ended(&self, mode: RenderMode, outcome: Outcome) {
        self.renders_ended(mode, outcome, 1);
    }

    /// Counts renders that have ended.
    pub fn renders_ended(&self, mode: RenderMode, outcome: Outcome, count: u64) {
        let labels = [mode.into_str(), outcome.as_str()];
        self.renders.with_label_values(&labels).inc_by(count);
        if let Outcome::Failed(kind) = outcome {
            self.failures.with_label_values(&[kind.into_str()]).inc_by(count);
        }
    }

    /// Records the phase times of a document.
    pub fn document_made(&self, mode: RenderMode, phases: &PhaseTimes) {
        let (mode, mut whole) = (mode.into_str(), Duration::ZERO);
        for (phase, duration) in phases.by_phase() {
            self.phase(mode, phase.into()).observe(duration.as_secs_f64());
            whole += duration;
        }
        self.documents.with_label_values(&[mode]).observe(whole.as_secs_f64());
    }

    /// Records the time from the acceptance of an asynchronous render to its first start.
    pub fn render_begun(&self, delay: Duration) {
        self.start_delays.observe(delay.as_secs_f64());
    }

    /// Counts an attempt to deliver a webhook.
    pub fn callback_tried(&self, outcome: CallbackOutcome) {
        self.callbacks.with_label_values(&[outcome.into_str()]).inc();
    }

    /// Counts an attempt to send a mail.
    pub fn mail_tried(&self, outcome: MailOutcome) {
        self.mails.with_label_values(&[outcome.into_str()]).inc();
    }

    /// Counts credits whose charge is committed.
    pub fn credits_charged(&self, credits: i64) {
        self.credits.inc_by(credits.unsigned_abs());
    }

    /// Counts a response to an HTTP request: `method` is one that routes accept, or one word for all others; `route` is
    /// a pattern, with names of parameters; `status` is a class, such as `2xx`.
    pub fn http_answered(&self, method: &str, route: &str, status: &str) {
        self.http_responses.with_label_values(&[method, route, status]).inc();
    }

    /// Returns the figures of renders since the start.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for &mode in RenderMode::VARIANTS {
            let ended = |outcome: Outcome| self.renders.with_label_values(&[mode, outcome.as_str()]).get();
            tally.succeeded += ended(Outcome::Succeeded);
            tally.cancelled += ended(Outcome::Cancelled);
            let phases = phase_names().map(|phase| (phase.to_owned(), durations(&self.phase(mode, phase))));
            let whole = durations(&self.documents.with_label_values(&[mode]));
            let phases = phases.into_iter().chain([(WHOLE.to_owned(), whole)]);
            tally.detail.phases.insert(mode.to_owned(), phases.collect());
        }
        for &kind in FailureKind::VARIANTS {
            let count = self.failures.with_label_values(&[kind]).get();
            tally.failed += count;
            tally.detail.failures.insert(kind.to_owned(), count);
        }
        tally
    }

    fn phase(&self, mode: &str, phase: &str) -> Histogram {
        self.phases.with_label_values(&[mode, phase])
    }

    /// Returns the queue's lengths, up to a second old. They are empty if the database doesn't respond.
    async fn look_at_queue(&self, db: &PgPool) -> Waiting {
        let mut last = self.queue.lock().await;
        if let Some((at, found)) = &*last
            && at.elapsed() < LOOK_AT_QUEUE_EVERY
        {
            return found.clone();
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
        *last = Some((Instant::now(), found.clone()));
        found
    }
}

/// Returns the metrics of this process and of the queue, in the text format.
pub async fn expose(app: &Services) -> String {
    let read = Registry::new();
    let status = app.engine.status();
    let versions = [env!("CARGO_PKG_VERSION"), &status.version];
    gauges(
        &read,
        "platen_build_info",
        "Versions of the service and its browser; always 1.",
        ["version", "browser"],
        [(versions, 1.0)],
    );
    let waiting = app.metrics.look_at_queue(&app.db).await;
    expose_queue(&waiting.jobs, &read);
    if let Some(mails) = waiting.mails {
        expose_mails(mails, &read);
    }
    expose_engine(&status, &read);
    expose_memory(app.memory.status(), &read);
    let refusals = IntCounter::new(
        "platen_egress_refusals_total",
        "Connections of pages and webhooks that the address policy refused.",
    );
    registered(&read, refusals).inc_by(app.guard.refusals());
    let mut families = read.gather();
    families.extend(app.metrics.registry.gather());
    TextEncoder::new().encode_to_string(&families).expect("named metrics")
}

async fn measure(db: &PgPool) -> Result<Waiting, StoreError> {
    Ok(Waiting {
        jobs: jobs::measure(db).await?,
        mails: Some(mails::measure(db).await?),
    })
}

fn expose_queue(lengths: &[QueueLength], registry: &Registry) {
    let jobs = lengths.iter().flat_map(|length| {
        [
            ("due", length.due),
            ("later", length.later),
            ("in_hand", length.in_hand),
        ]
        .map(|(state, jobs)| ([length.kind.into_str(), state], jobs as f64))
    });
    gauges(
        registry,
        "platen_queue_jobs",
        "Jobs of all accounts that are not suspended, over all processes.",
        ["kind", "state"],
        jobs,
    );
    gauges(
        registry,
        "platen_queue_oldest_due_job_age_seconds",
        "Time for which the oldest due job that no worker holds has been due; 0 without one.",
        ["kind"],
        lengths
            .iter()
            .map(|length| ([length.kind.into_str()], length.oldest_due_seconds)),
    );
}

fn expose_mails(waiting: WaitingMails, registry: &Registry) {
    for (name, help, value) in [
        (
            "platen_mails_waiting",
            "Unsent mails, over all processes.",
            waiting.mails as f64,
        ),
        (
            "platen_oldest_mail_age_seconds",
            "Time for which the oldest unsent mail has waited; 0 without one.",
            waiting.oldest_seconds,
        ),
    ] {
        gauge(registry, name, help, value);
    }
}

fn expose_memory(status: MemoryStatus, registry: &Registry) {
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
        gauge(registry, name, help, value);
    }
}

fn expose_engine(status: &EngineStatus, registry: &Registry) {
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
        gauge(registry, name, help, value as f64);
    }
    let sessions = [
        ("unowned", status.sessions.unowned),
        ("idle", status.sessions.idle),
        ("in_use", status.sessions.in_use),
    ];
    gauges(
        registry,
        "platen_sessions",
        "Browser sessions: unassigned, idle with an account, or in use.",
        ["state"],
        sessions.map(|(state, count)| ([state], count as f64)),
    );
    let restarts = counters(
        registry,
        "platen_browser_restarts_total",
        "Browsers that were replaced because they died, or after their maximum number of renders.",
        ["reason"],
        &[],
    );
    restarts.with_label_values(&["died"]).inc_by(status.replacements.died);
    restarts
        .with_label_values(&["retired"])
        .inc_by(status.replacements.retired);
}
