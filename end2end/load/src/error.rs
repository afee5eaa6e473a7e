//! Errors that end a run.

use std::{path::PathBuf, time::Duration};

/// Reasons why the benchmark stops without a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// Starting or controlling the raw client's browser.
    #[error("Chromium {0}")]
    Chromium(String),
    /// The service did not start, stop or respond as required.
    #[error("Platen {0}")]
    Platen(String),
    /// A server other than the service did not start or answer as required.
    #[error("{0} {1}")]
    Tool(&'static str, String),
    /// The section upgrade without the program to upgrade from.
    #[error(
        "the section upgrade needs the previous version: make bench ONLY=upgrade PREVIOUS=COMMIT builds it, and \
         --previous-platen FILE names its platen-simulated"
    )]
    NoPreviousVersion,
    /// A render with an unacceptable result. The benchmark counts none of those.
    #[error("invalid response from {way} for {load}: {what}")]
    WrongAnswer {
        /// The way of rendering that returned it.
        way: String,
        /// The page that was rendered.
        load: &'static str,
        /// The defect.
        what: String,
    },
    /// A statement on the service's database.
    #[error("the database: {0}")]
    Database(#[from] sqlx::Error),
    /// Completing a printed document as PDF/A.
    #[error("PDF/A completion: {0}")]
    Completion(#[from] platen_pdf::PdfError),
    /// A file that couldn't be written.
    #[error("{path}: {error}")]
    File { path: PathBuf, error: std::io::Error },
    /// Pipes, processes, `/proc`.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A message that doesn't have the expected form.
    #[error("unreadable message: {0}")]
    Json(#[from] serde_json::Error),
    /// A request without a response.
    #[error("request failed: {0}")]
    Http(#[from] reqwest::Error),
    /// A caller's task panicked.
    #[error("a caller's task failed: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// A signal ended the run.
    #[error("ended by {0}")]
    Ended(&'static str),
    /// The run exceeded its time limit.
    #[error("not finished after {} minutes", .0.as_secs() / 60)]
    TooLong(Duration),
}
