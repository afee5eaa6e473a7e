//! Errors of renders.

use std::time::Duration;

use crate::{
    job::{Phase, RunningTemplate},
    network_error::explain,
};

/// Why a render failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RenderError {
    /// An error in the request, which fails again if it is repeated.
    #[error("{problem}")]
    Problem {
        /// Zero-based index of the attributed part; 0 for errors of the whole document.
        part: usize,
        /// The error.
        problem: RenderProblem,
    },
    /// The account has reached [`Caller::concurrency`](crate::job::Caller::concurrency).
    #[error("the account already has {limit} renders in progress, its limit: retry when one has finished")]
    TooManyConcurrent {
        /// The account's limit.
        limit: usize,
    },
    /// [`EngineConfig::queue_limit`](crate::config::EngineConfig::queue_limit) renders wait already.
    #[error("the render queue is full")]
    QueueFull,
    /// The engine accepts no renders any more.
    #[error("the engine is shutting down")]
    ShuttingDown,
    /// The render's deadline passed.
    #[error("not finished within {} s; stopped in phase {phase}", after.as_secs_f64())]
    Deadline {
        /// The phase in progress.
        phase: Phase,
        /// The render's deadline.
        after: Duration,
    },
    /// The browser died twice, or can't be started.
    #[error("the browser failed: {0}")]
    Browser(String),
}

/// An error that the caller can correct.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RenderProblem {
    /// DNS, connection or TLS failure of a URL part.
    #[error("the address could not be reached: {}", explain(reason))]
    Unreachable {
        /// Reason given by Chromium or the guard, for example `net::ERR_CONNECTION_REFUSED`.
        reason: String,
    },
    /// The host of a URL part, or of one of its redirects, is not a public address.
    #[error("the address is refused: {reason}")]
    AddressRefused {
        /// The rule that refused it; never the resolved address.
        reason: String,
    },
    /// The server responded with 4xx or 5xx.
    #[error("the address answered with status {status}")]
    HttpStatus {
        /// HTTP status.
        status: u16,
    },
    /// The response is not HTML.
    #[error("the address answered with {content_type} instead of HTML")]
    NotHtml {
        /// Content type as the server sent it.
        content_type: String,
    },
    /// An HTML part navigated to another address before it was printed.
    #[error("the page navigated away to {url}")]
    NavigatedAway {
        /// The address, without query string.
        url: String,
    },
    /// `evaluate_js` threw, or its promise was rejected.
    #[error("the expression threw: {message}")]
    EvaluateThrew {
        /// The exception as text, at most 500 characters.
        message: String,
    },
    /// `evaluate_js` threw a string, or passed one to the browser, that exceeds the size of a DevTools message.
    #[error("the expression threw a string of more than {limit_mb} MB, or passed it to the browser: shorten it")]
    EvaluateTooLarge {
        /// The limit, in MB.
        limit_mb: u64,
    },
    /// `wait_for.selector` is not a valid selector.
    #[error("{message}")]
    InvalidSelector {
        /// The browser's message.
        message: String,
    },
    /// The attribute of `wait_for` did not appear in time.
    #[error("no element matching the selector had the attribute after {} s", after.as_secs())]
    WaitForUnsatisfied {
        /// The limit.
        after: Duration,
    },
    /// The page crashed its renderer process.
    #[error("the page crashed the browser's renderer")]
    Crashed,
    /// The page exceeded [`EngineConfig::page_memory_limit`](crate::config::EngineConfig::page_memory_limit).
    #[error("the page used more than {limit_mb} MB of memory")]
    MemoryExceeded {
        /// The limit, in MB.
        limit_mb: u64,
    },
    /// The page made the browser report a string above the limit: a frame name, a URL, a header.
    #[error(
        "a script of the page passed a string of more than {limit_mb} MB to the browser, for example a frame name, a \
         header or a URL: shorten it"
    )]
    MessageTooLarge {
        /// The limit, in MB.
        limit_mb: u64,
    },
    /// The printed parts together are too large.
    #[error(
        "with this part, the printed document exceeds {limit_mb} MB, the limit of one render: use fewer or smaller \
         images, or render the parts as separate documents"
    )]
    PrintedTooLarge {
        /// See [`crate::job::RenderJob::printed_limit`], in MB.
        limit_mb: u64,
    },
    /// A header or footer is too large.
    #[error("{what} {size} bytes; the limit is {limit}: shorten it, or use smaller images")]
    HeaderFooterTooLarge {
        /// The template.
        template: RunningTemplate,
        /// Subject of the message, a clause that ends with its verb.
        what: &'static str,
        /// Size in bytes; a lower bound.
        size: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// The document has more pages than allowed.
    #[error("the document has {pages} pages; {limit} are allowed")]
    TooManyPages {
        /// Number of printed pages.
        pages: usize,
        /// See [`crate::job::RenderJob::page_limit`].
        limit: usize,
    },
    /// The selection names a page that the document does not have.
    #[error("page {page} is beyond the end; the document has {page_count} pages")]
    PageBeyondEnd {
        /// The first missing page, one-based.
        page: usize,
        /// Pages of the whole document.
        page_count: usize,
    },
    /// The parts exceed a limit of one document.
    #[error("{reason}")]
    TooLarge {
        /// The exceeded quantity and its limit.
        reason: String,
    },
    /// `@page` gave a page a size that PDF/A doesn't allow.
    #[error(
        "page {page} measures {width} × {height} pt; PDF/A allows 3 to 14,400 pt a side: change the page size, or set \
         output_format to pdf"
    )]
    PageSize {
        /// One-based page number.
        page: usize,
        /// Width in points.
        width: f64,
        /// Height in points.
        height: f64,
    },
    /// The document contains something that PDF/A doesn't allow.
    #[error("the document can't be converted to PDF/A: {reason}; to render it anyway, set output_format to pdf")]
    NotConformant {
        /// Clause of ISO 19005-2 and the violation.
        reason: String,
    },
    /// Chromium reported that the page can't be printed.
    #[error("the page could not be printed: {reason}")]
    PrintFailed {
        /// Chromium's message.
        reason: String,
    },
}
