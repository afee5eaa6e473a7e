//! Chromium supervisor, session pool and render steps. Knows no account table, no HTTP API, no Postgres.
//!
//! [`Engine::enter`] takes a render through admission (`admission`), [`Entered::render`] through a session of its account
//! (`pool`, `session`) and the steps (`steps`), and completes what was printed by `platen_pdf`. `browser` and `devtools` run the browser itself.

mod addresses;
mod admission;
mod assembly;
mod browser;
mod chromium;
pub mod config;
mod devtools;
pub mod error;
mod header_footer;
pub mod job;
mod network;
mod numbering;
mod observer;
mod page_kind;
mod part;
mod pool;
mod processes;
mod progress;
mod render;
pub mod render_log;
mod session;
pub mod snapshot;
mod steps;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::SetOnce;

pub use crate::chromium::{find_chromium, is_full_browser};
use crate::{
    admission::Admission,
    browser::LaunchError,
    config::{EngineConfig, SPARE_SLOTS},
    error::RenderError,
    job::{Caller, Lane, MediaType, Part, Phase, PrintSettings, RenderJob, RenderedDocument},
    pool::Pool,
    render_log::RenderLog,
    snapshot::Snapshot,
};

/// How often something is looked at that does not announce itself.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// A cold start on a busy machine takes seconds.
const FIRST_RENDER_LIMIT: Duration = Duration::from_secs(30);
/// A renderer process is in its sandbox well before this.
const SANDBOX_LIMIT: Duration = Duration::from_secs(1);

/// A pool of sandboxed browsers. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    admission: Admission,
    pool: Pool,
    page_memory_limit: u64,
    parts_at_once: usize,
}

/// A render that has its slot. Dropping it gives the slot back.
pub struct Entered {
    pub(crate) engine: Engine,
    pub(crate) caller: Caller,
    pub(crate) lane: Lane,
    pub(crate) deadline: Duration,
    pub(crate) ends_at: Instant,
    accepted: Option<Arc<SetOnce<()>>>,
    _slot: admission::Slot,
}

impl Entered {
    /// Does work outside of the engine, under the render's deadline and as part of a phase, whose time goes to the log.
    pub async fn within<T>(
        &self,
        phase: Phase,
        log: &RenderLog,
        work: impl Future<Output = T>,
    ) -> Result<T, RenderError> {
        let began = Instant::now();
        let done = tokio::time::timeout_at(self.ends_at.into(), work).await;
        log.add_time(phase, began.elapsed());
        done.map_err(|_| self.late(phase))
    }

    /// The error of a render whose deadline has passed in this phase.
    pub(crate) fn late(&self, phase: Phase) -> RenderError {
        RenderError::Deadline {
            phase,
            after: self.deadline,
        }
    }

    /// Prints nothing before `accepted` is set: until then the render may be refused yet, by dropping its future.
    #[must_use]
    pub fn once_accepted(self, accepted: Arc<SetOnce<()>>) -> Self {
        Self {
            accepted: Some(accepted),
            ..self
        }
    }

    pub(crate) async fn accepted(&self) {
        if let Some(accepted) = &self.accepted {
            accepted.wait().await;
        }
    }

    /// Makes one document. `log` tells what was seen on the way, also of a render that fails. Dropping the future cancels
    /// the render and frees its slot at once.
    pub async fn render(self, job: RenderJob, log: &RenderLog) -> Result<RenderedDocument, RenderError> {
        render::render(&self, job, log).await
    }
}

/// Why the engine does not start; the message says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(pub String);

/// A snapshot for readiness probes, metrics and `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineStatus {
    /// Browsers that answer.
    pub browsers: usize,
    /// For instance `HeadlessChrome/156.0.8078.79`.
    pub version: String,
    /// Slots that there are, the spare one too.
    pub slots: usize,
    /// Slots that are taken.
    pub running: usize,
    /// Slots that somebody waits for.
    pub waiting: usize,
    /// Sessions that there are.
    pub sessions: SessionCounts,
    /// Browsers replaced since the start.
    pub replacements: Replacements,
}

/// Sessions by who has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCounts {
    /// Kept ready for an account that has none.
    pub unowned: usize,
    /// Kept for the account that had it.
    pub idle: usize,
    /// Lent to a render, or being made, reset or ended.
    pub in_use: usize,
}

/// Why browsers were replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacements {
    /// They died.
    pub died: u64,
    /// They had made as many renders as they may.
    pub retired: u64,
}

impl Engine {
    /// Starts the browsers, prints a first page and, unless the operator switched it off, makes sure that Chromium's
    /// sandbox is really on.
    pub async fn start(config: EngineConfig) -> Result<Self, StartError> {
        let sandbox = config.sandbox;
        let engine = Self {
            admission: Admission::new(config.slots.max(1), SPARE_SLOTS, config.queue_limit),
            page_memory_limit: config.page_memory_limit,
            // One slot is left for others.
            parts_at_once: config.slots.saturating_sub(1).max(1),
            pool: Pool::start(config)
                .await
                .map_err(|error| StartError(error.to_string()))?,
        };
        if let Err(error) = engine.print_first_page().await {
            engine.pool.close().await;
            return Err(StartError(format!("the browser starts but prints nothing: {error}")));
        }
        if sandbox && !engine.is_sandboxed().await {
            engine.pool.close().await;
            return Err(StartError(LaunchError::NoSandbox.to_string()));
        }
        Ok(engine)
    }

    /// Waits for a slot, before anything large is prepared for the render. `deadline` counts from now to the finished
    /// bytes. `log` tells how long it waited, also of a render that is refused.
    pub async fn enter(
        &self,
        caller: Caller,
        lane: Lane,
        deadline: Duration,
        log: &RenderLog,
    ) -> Result<Entered, RenderError> {
        let began = Instant::now();
        let ends_at = began + deadline;
        let slot = tokio::time::timeout_at(ends_at.into(), self.admission.enter(caller, lane)).await;
        log.add_time(Phase::Queue, began.elapsed());
        let slot = slot.unwrap_or(Err(RenderError::Deadline {
            phase: Phase::Queue,
            after: deadline,
        }))?;
        Ok(Entered {
            engine: self.clone(),
            caller,
            lane,
            deadline,
            ends_at,
            accepted: None,
            _slot: slot,
        })
    }

    /// Says at start whether the browser prints at all, and warms its caches.
    async fn print_first_page(&self) -> Result<(), RenderError> {
        let caller = Caller {
            account: uuid::Uuid::nil(),
            concurrency: 1,
        };
        let log = RenderLog::default();
        let entered = self.enter(caller, Lane::Synchronous, FIRST_RENDER_LIMIT, &log).await?;
        entered.render(first_job(), &log).await.map(drop)
    }

    /// What runs now.
    pub fn status(&self) -> EngineStatus {
        let (browsers, version) = self.pool.browsers();
        let load = self.admission.load();
        EngineStatus {
            browsers,
            version,
            slots: load.slots,
            running: load.running,
            waiting: load.waiting,
            sessions: self.pool.sessions(),
            replacements: self.pool.replacements(),
        }
    }

    /// What everybody does now.
    pub fn snapshot(&self) -> Snapshot {
        let (browsers_wanted, session_limit) = self.pool.limits();
        let (queue_limit, lanes) = self.admission.snapshot();
        Snapshot {
            browsers_wanted,
            session_limit,
            sessions: self.pool.snapshot(),
            queue_limit,
            lanes,
        }
    }

    /// Whether every renderer process that exists is in Chromium's sandbox. One that is just starting enters it a moment
    /// later, so a no is only final after a second.
    pub async fn is_sandboxed(&self) -> bool {
        let sandboxed = async {
            while !self.pool.is_sandboxed() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(SANDBOX_LIMIT, sandboxed).await.is_ok()
    }

    /// Refuses new renders, lets the running ones finish for `grace`, then ends every browser.
    pub async fn shutdown(&self, grace: Duration) {
        self.admission.close();
        let drained = async {
            while self.admission.load().running > 0 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        if tokio::time::timeout(grace, drained).await.is_err() {
            tracing::warn!("renders were still running after the grace period and are ended");
        }
        self.pool.close().await;
    }
}

fn first_job() -> RenderJob {
    RenderJob {
        id: uuid::Uuid::nil(),
        parts: vec![Part::Html("<!doctype html><title>Platen</title><p>Ready".to_owned())],
        print: PrintSettings {
            paper_width: 8.27,
            paper_height: 11.69,
            margins: [0.0; 4],
            scale: 1.0,
            backgrounds: true,
            prefer_css_page_size: false,
            header_footer: None,
        },
        media: MediaType::Print,
        cookie: None,
        evaluate: None,
        wait_for: None,
        selection: None,
        watermark: None,
        format: platen_pdf::OutputFormat::Pdf,
        page_limit: 1,
        printed_limit: 1 << 20,
    }
}
