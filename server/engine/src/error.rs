//! Why a render comes to nothing.

use std::time::Duration;

use crate::job::{Phase, RunningTemplate};

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RenderError {
    /// The caller's own fault; the same request fails again.
    #[error("{fault}")]
    Fault {
        /// Index of the part in which it was found. For the whole document, 0.
        part: usize,
        /// What is wrong.
        fault: RenderFault,
    },
    /// The account has as many renders under way as it may.
    #[error("the account has {limit} renders under way, as many as it may")]
    TooManyConcurrent {
        /// The account's limit.
        limit: usize,
    },
    /// The queue is full.
    #[error("the render queue is full")]
    QueueFull,
    /// The engine is going down.
    #[error("the engine is shutting down")]
    ShuttingDown,
    /// The job's deadline ran out.
    #[error("not finished after {} s, in the phase {phase}", after.as_secs_f64())]
    Deadline {
        /// What was under way.
        phase: Phase,
        /// The job's deadline.
        after: Duration,
    },
    /// The browser died twice, or can't be started.
    #[error("the browser failed: {0}")]
    Browser(String),
}

/// What the caller can mend.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RenderFault {
    /// DNS, connection or TLS failure of a URL part.
    #[error("the address could not be reached: {reason}")]
    Unreachable {
        /// Chromium's or the guard's word, for instance `net::ERR_CONNECTION_REFUSED`.
        reason: String,
    },
    /// The host of a URL part, or of one of its redirects, is not a public address.
    #[error("the address is refused: {reason}")]
    AddressRefused {
        /// Which rule; never the resolved address.
        reason: String,
    },
    /// The page answered 4xx or 5xx.
    #[error("the address answered with status {status}")]
    HttpStatus {
        /// The status.
        status: u16,
    },
    /// Something that is not HTML.
    #[error("the address answered with {content_type}, not with HTML")]
    NotHtml {
        /// As the server named it.
        content_type: String,
    },
    /// An HTML part left for another address before it was printed.
    #[error("the page navigated away to {url}")]
    NavigatedAway {
        /// Without query string.
        url: String,
    },
    /// `evaluate_js` threw, or its promise was rejected.
    #[error("the expression threw: {message}")]
    EvaluateThrew {
        /// The exception as text, at most 500 characters.
        message: String,
    },
    /// `evaluate_js` threw a text, or passed the browser one, that is larger than a message of the browser may be.
    #[error("the expression threw a text of more than {limit_mb} MB, or passed it to the browser: shorten it")]
    EvaluateTooLarge {
        /// The limit, in MB.
        limit_mb: u64,
    },
    /// `wait_for.selector` is not a selector.
    #[error("{message}")]
    InvalidSelector {
        /// What the browser says.
        message: String,
    },
    /// The attribute did not appear in time.
    #[error("no element that matches the selector had the attribute after {} s", after.as_secs())]
    WaitForUnsatisfied {
        /// The limit.
        after: Duration,
    },
    /// The page crashed its renderer.
    #[error("the page crashed the browser's renderer")]
    Crashed,
    /// The page used more memory than it may.
    #[error("the page used more than {limit_mb} MB of memory")]
    MemoryExceeded {
        /// The bound, in MB.
        limit_mb: u64,
    },
    /// The page made the browser report a text above the limit: a frame's name, an address, a header.
    #[error(
        "a script of the page passed the browser a text of more than {limit_mb} MB, for instance a frame's name, a header \
         or an address: shorten it"
    )]
    MessageTooLarge {
        /// The limit, in MB.
        limit_mb: u64,
    },
    /// What is printed of all parts together is too large.
    #[error(
        "with this part the printed document is larger than {limit_mb} MB, the limit of one render: use fewer or smaller \
         pictures, or render the parts as several documents"
    )]
    PrintedTooLarge {
        /// See [`crate::job::RenderJob::printed_limit`], in MB.
        limit_mb: u64,
    },
    /// A header or footer is too large.
    #[error("{what} {size} bytes; {limit} are allowed: shorten it, or use smaller pictures")]
    HeaderFooterTooLarge {
        /// Which template.
        template: RunningTemplate,
        /// What has this size, as a clause that ends with its verb.
        what: &'static str,
        /// In bytes; at least so much.
        size: usize,
        /// In bytes.
        limit: usize,
    },
    /// More pages than the operation allows.
    #[error("the document has {pages} pages; {limit} are allowed")]
    TooManyPages {
        /// As printed.
        pages: usize,
        /// See [`crate::job::RenderJob::page_limit`].
        limit: usize,
    },
    /// A page was asked for that the document does not have.
    #[error("page {page} is beyond the end; the document has {page_count} pages")]
    PageBeyondEnd {
        /// The first that it does not have, from 1.
        page: usize,
        /// Of the whole document.
        page_count: usize,
    },
    /// The parts are too much for one document.
    #[error("{reason}")]
    TooLarge {
        /// What there is too much of, and the limit.
        reason: String,
    },
    /// A page that `@page` sized so that PDF/A forbids it.
    #[error(
        "page {page} measures {width} × {height} pt; PDF/A allows 3 to 14,400 pt a side: change the size, or ask for the \
         output_format pdf"
    )]
    PageSize {
        /// One-based.
        page: usize,
        /// Points.
        width: f64,
        /// Points.
        height: f64,
    },
    /// It holds something that PDF/A has no place for.
    #[error("the document can't be PDF/A-2b: {reason}; with output_format pdf it can be made")]
    NotConformant {
        /// Clause of ISO 19005-2 and what is wrong.
        reason: String,
    },
    /// Chromium answered that the page can't be printed.
    #[error("the page could not be printed: {reason}")]
    PrintFailed {
        /// Chromium's word.
        reason: String,
    },
}
