//! What ends a run.

use std::{path::PathBuf, time::Duration};

/// Why the bench stops without a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The raw client's browser.
    #[error("Chromium {0}")]
    Chromium(String),
    /// The service did not start, stop or answer as it must.
    #[error("Platen {0}")]
    Platen(String),
    /// A render that is no result: the bench counts none of those.
    #[error("wrong answer from {way} for {load}: {what}")]
    WrongAnswer {
        /// Who gave it.
        way: String,
        /// For which page.
        load: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// Completing a printed document as PDF/A.
    #[error("PDF/A completion: {0}")]
    Completion(#[from] platen_pdf::PdfError),
    /// A file that can't be written.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Pipes, processes, `/proc`.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A message that is not what its sender promised.
    #[error("unreadable message: {0}")]
    Json(#[from] serde_json::Error),
    /// A request that got no answer.
    #[error("request without an answer: {0}")]
    Http(#[from] reqwest::Error),
    /// A caller's task ended badly.
    #[error("a caller ended: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// Somebody does not want to wait for the end.
    #[error("ended by {0}")]
    Ended(&'static str),
    /// A bound on the whole run.
    #[error("not finished after {} minutes", .0.as_secs() / 60)]
    TooLong(Duration),
}
