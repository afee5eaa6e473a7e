//! Chromium supervisor, session pool and render steps. Knows no account table, no HTTP API, no Postgres.

pub mod config;
pub mod job;

use std::{path::PathBuf, time::Duration};

use crate::{
    config::EngineConfig,
    job::{Caller, RenderError, RenderJob, RenderedDocument},
};

/// A pool of sandboxed browsers. Cheap to clone.
#[derive(Clone)]
pub struct Engine {}

/// Why the engine does not start; the message says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StartError(pub String);

/// A snapshot for readiness probes and `doctor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineStatus {
    /// Browsers that answer.
    pub browsers: usize,
    /// For instance `HeadlessChrome/156.0.8078.79`.
    pub version: String,
    /// Renders under way.
    pub running: usize,
    /// Renders that wait for a slot.
    pub waiting: usize,
}

impl Engine {
    /// Starts the browsers and makes the first sessions ahead of time.
    #[expect(clippy::unused_async, reason = "signature first")]
    pub async fn start(_config: EngineConfig) -> Result<Self, StartError> {
        Err(StartError("not yet".into()))
    }

    /// Makes one document. Dropping the future cancels the render and frees its place at once.
    #[expect(clippy::unused_async, reason = "signature first")]
    pub async fn render(&self, _caller: Caller, _job: RenderJob) -> Result<RenderedDocument, RenderError> {
        Err(RenderError::ShuttingDown)
    }

    /// What runs now.
    pub fn status(&self) -> EngineStatus {
        EngineStatus {
            browsers: 0,
            version: String::new(),
            running: 0,
            waiting: 0,
        }
    }

    /// Refuses new renders, lets the running ones finish for `grace`, then ends every browser.
    #[expect(clippy::unused_async, reason = "signature first")]
    pub async fn shutdown(&self, _grace: Duration) {}
}

/// The browser to start: `chrome-headless-shell` or Debian's `chromium-headless-shell`, else a full Chromium, as the
/// real binary.
pub fn find_chromium() -> Option<PathBuf> {
    None
}
