//! Chromium supervisor, session pool and render steps. Independent of account tables, the HTTP API and Postgres.
//!
//! [`Engine::enter`] waits for a slot (`admission`). [`Entered::render`] runs the steps (`steps`) in a session of the
//! account (`pool`, `session`) and completes the printed document with `platen_pdf`. `browser` and `devtools` control
//! the browser.

#![warn(missing_docs)]

mod addresses;
mod admission;
mod ascii_case;
mod assembly;
pub mod asset_addresses;
mod asset_embedding;
mod browser;
mod chromium;
pub mod config;
mod devtools;
pub mod error;
mod header_footer;
pub mod job;
mod network;
pub mod network_error;
mod numbering;
mod observer;
mod page_kind;
mod part;
mod pool;
mod printed_page;
mod processes;
mod progress;
mod render;
pub mod render_log;
mod session;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod snapshot;
mod steps;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use platen_egress::assets::Assets;
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

/// Polling interval for conditions that have no notification.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// A cold start on a busy machine takes seconds.
const FIRST_RENDER_LIMIT: Duration = Duration::from_secs(30);
/// A renderer process enters its sandbox well before this.
const SANDBOX_LIMIT: Duration = Duration::from_secs(1);

/// A pool of sandboxed browsers with an admission queue. Cheap to clone; clones share browsers and queue.
#[derive(Clone)]
pub struct Engine {
    admission: Admission,
    pool: Pool,
    page_memory_limit: u64,
    parts_at_once: usize,
    #[cfg(feature = "simulation")]
    simulation: Option<simulation::Simulation>,
}

/// A render that holds a slot. Dropping it releases the slot.
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
    /// Runs `work` outside the engine as part of `phase`, and adds its time to `log`. Fails with
    /// [`RenderError::Deadline`] if the render's deadline passes first.
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

    /// Returns the error of a render whose deadline passed in `phase`.
    pub(crate) fn late(&self, phase: Phase) -> RenderError {
        RenderError::Deadline {
            phase,
            after: self.deadline,
        }
    }

    /// Delays printing until `accepted` is set: until then the caller may refuse the render by dropping its future.
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

    /// Renders one document. `log` is filled even if the render fails. Dropping the future cancels the render and
    /// releases its slot at once. Fails with [`RenderError::Problem`] if the request is at fault, with
    /// [`RenderError::Deadline`] after the deadline given to [`Engine::enter`].
    pub async fn render(self, job: RenderJob, log: &RenderLog) -> Result<RenderedDocument, RenderError> {
        #[cfg(feature = "simulation")]
        if let Some(simulation) = &self.engine.simulation {
            return simulation.render(&self, log).await;
        }
        render::render(&self, job, log).await
    }
}

/// Why the engine could not start; the message says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(pub String);

/// Current load, for readiness probes, metrics and `doctor`. Contains nothing about accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineStatus {
    /// Browsers that are alive.
    pub browsers: usize,
    /// Browser version, for example `HeadlessChrome/156.0.8078.79`.
    pub version: String,
    /// Total number of slots, including [`SPARE_SLOTS`].
    pub slots: usize,
    /// Slots that are taken.
    pub running: usize,
    /// Renders and further parts that wait for a slot.
    pub waiting: usize,
    /// Existing sessions.
    pub sessions: SessionCounts,
    /// Browsers replaced since the engine started.
    pub replacements: Replacements,
}

/// Number of sessions by use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCounts {
    /// Ready for an account that has none.
    pub unowned: usize,
    /// Idle, reserved for the account that owns them.
    pub idle: usize,
    /// Lent to a render, or being created, reset or closed.
    pub in_use: usize,
}

/// Number of replaced browsers by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacements {
    /// Browsers that died.
    pub died: u64,
    /// Browsers that reached [`EngineConfig::renders_per_browser`] or used too much memory.
    pub retired: u64,
}

impl Engine {
    /// Starts the browsers, prints a first page and, unless the operator disabled it, verifies that Chromium's sandbox
    /// is on. Closes the browsers if any of this fails.
    pub async fn start(config: EngineConfig) -> Result<Self, StartError> {
        let sandbox = config.sandbox;
        let engine = Self::new(config);
        let started = engine.pool.start().await;
        started.map_err(|error| StartError(error.to_string()))?;
        if let Err(error) = engine.print_first_page().await {
            engine.pool.close().await;
            return Err(StartError(format!("the browser starts but can't print: {error}")));
        }
        if sandbox && !engine.is_sandboxed().await {
            engine.pool.close().await;
            return Err(StartError(LaunchError::NoSandbox.to_string()));
        }
        Ok(engine)
    }

    /// Creates an engine whose browsers are yet to be started.
    fn new(config: EngineConfig) -> Self {
        Self {
            admission: Admission::new(config.slots.max(1), SPARE_SLOTS, config.queue_limit),
            page_memory_limit: config.page_memory_limit,
            // Leaves one slot for other renders.
            parts_at_once: config.slots.saturating_sub(1).max(1),
            pool: Pool::new(config),
            #[cfg(feature = "simulation")]
            simulation: None,
        }
    }

    /// Waits for a slot; to be called before anything large is prepared for the render. `deadline` is the time from now
    /// to the finished bytes. The time waited is added to `log`, even if the render is refused. Fails at once if the
    /// account has reached `caller.concurrency` or the queue is full (limits that don't apply to [`Lane::Background`]),
    /// or if the engine is shutting down.
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

    /// Verifies at start that the browser can print, and warms its caches.
    async fn print_first_page(&self) -> Result<(), RenderError> {
        let caller = Caller {
            account: uuid::Uuid::nil(),
            concurrency: 1,
        };
        let log = RenderLog::default();
        let entered = self.enter(caller, Lane::Synchronous, FIRST_RENDER_LIMIT, &log).await?;
        entered.render(first_job(), &log).await.map(drop)
    }

    /// Returns the current load.
    pub fn status(&self) -> EngineStatus {
        let (browsers, version) = self.pool.browsers();
        #[cfg(feature = "simulation")]
        let browsers = browsers + usize::from(self.simulation.is_some());
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

    /// Returns how many slots background renders may hold at present: fewer while callers wait for renders.
    pub fn background_slots(&self) -> usize {
        self.admission.background_limit()
    }

    /// Returns sessions and queue by account, for operators.
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

    /// Returns whether all renderer processes are in Chromium's sandbox. A process that is just starting enters it a
    /// moment later, so `false` is returned only after a second of polling.
    pub async fn is_sandboxed(&self) -> bool {
        let sandboxed = async {
            while !self.pool.is_sandboxed() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(SANDBOX_LIMIT, sandboxed).await.is_ok()
    }

    /// Refuses new and waiting renders, waits up to `grace` for running ones to finish, then closes all browsers.
    pub async fn shutdown(&self, grace: Duration) {
        self.admission.close();
        let drained = async {
            while self.admission.load().running > 0 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        if tokio::time::timeout(grace, drained).await.is_err() {
            tracing::warn!("renders still running after the grace period; ending them");
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
        language: None,
        assets: Assets::default(),
        page_limit: 1,
        printed_limit: 1 << 20,
    }
}
