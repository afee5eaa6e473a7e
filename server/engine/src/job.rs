//! What goes into the engine and what comes out.

use std::time::Duration;

use platen_pdf::{OutputFormat, PageSelection};
use url::Url;
use uuid::Uuid;

/// On whose behalf a render runs. A session never changes its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The account, the unit of isolation and fairness.
    pub account: Uuid,
    /// How many renders the account may have running or waiting at once; one more is refused.
    pub concurrency: usize,
}

/// Which queue a render waits in. A free slot goes to the first lane that has somebody waiting, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Somebody looks at an editor.
    Preview,
    /// Somebody holds a connection open.
    Synchronous,
    /// Nobody waits.
    Background,
}

/// One document to make. Values are trusted: the caller has checked them.
#[derive(Debug, Clone)]
pub struct RenderJob {
    /// Names the render in logs.
    pub id: Uuid,
    /// Where it waits.
    pub lane: Lane,
    /// What to print, in this order; at least one.
    pub parts: Vec<Part>,
    /// How to print it.
    pub print: PrintSettings,
    /// Media type that style sheets see.
    pub media: MediaType,
    /// Set before the part is loaded.
    pub cookie: Option<Cookie>,
    /// JavaScript evaluated in the page after it is loaded; a promise is awaited.
    pub evaluate: Option<String>,
    /// Awaited after `evaluate`.
    pub wait_for: Option<WaitFor>,
    /// The pages to keep of the whole document; without it, all.
    pub selection: Option<PageSelection>,
    /// Kind of PDF.
    pub format: OutputFormat,
    /// From admission to the finished bytes.
    pub deadline: Duration,
    /// More printed pages than this are an error, whatever is kept of them.
    pub page_limit: usize,
}

/// Content to print.
#[derive(Clone)]
pub enum Part {
    /// A document with an opaque origin.
    Html(String),
    /// An `http` or `https` address.
    Url(Url),
}

/// Content never reaches a log.
impl std::fmt::Debug for Part {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Html(html) => write!(formatter, "Html({} bytes)", html.len()),
            Self::Url(url) => write!(formatter, "Url({})", url.host_str().unwrap_or_default()),
        }
    }
}

/// Paper and decoration. Lengths in inches, as `Page.printToPDF` takes them.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintSettings {
    /// Width of the sheet as it lies, orientation applied.
    pub paper_width: f64,
    /// Height of the sheet as it lies.
    pub paper_height: f64,
    /// Top, right, bottom, left.
    pub margins: [f64; 4],
    /// 0.1 to 2.
    pub scale: f64,
    /// Print background colours and pictures.
    pub backgrounds: bool,
    /// The sheet that CSS `@page` names wins over the paper; otherwise content is scaled to the paper.
    pub prefer_css_page_size: bool,
    /// Running header and footer, in the margins.
    pub header_footer: Option<HeaderFooter>,
}

/// HTML whose elements of class `date`, `title`, `url`, `pageNumber`, `totalPages` are filled. Empty: none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderFooter {
    /// Drawn in the top margin.
    pub header: String,
    /// Drawn in the bottom margin.
    pub footer: String,
}

/// CSS media type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MediaType {
    /// `@media print`
    #[default]
    Print,
    /// `@media screen`
    Screen,
}

/// A cookie for a URL part whose host matches the domain.
#[derive(Clone, PartialEq, Eq)]
pub struct Cookie {
    /// Cookie name.
    pub name: String,
    /// Cookie value.
    pub value: String,
    /// Domain, with or without a leading dot.
    pub domain: String,
}

/// The value is a secret of the caller.
impl std::fmt::Debug for Cookie {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Cookie({} for {})", self.name, self.domain)
    }
}

/// Rendering goes on once the first element that matches has the attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitFor {
    /// CSS selector.
    pub selector: String,
    /// Attribute name.
    pub attribute: String,
}

/// A finished document and what the engine saw on the way.
#[derive(Clone)]
pub struct RenderedDocument {
    /// The PDF file.
    pub pdf: Vec<u8>,
    /// The standard that it was checked to conform to, for instance `PDF/A-2b`; nothing for plain PDF.
    pub conformance: Option<&'static str>,
    /// Pages in it.
    pub page_count: usize,
    /// The first part's title, blank removed.
    pub title: Option<String>,
    /// Where the time went.
    pub phases: PhaseTimes,
    /// What the author of the page should know.
    pub warnings: Vec<Warning>,
    /// What the parts fetched, part by part in order, at most [`REQUEST_LOG_LIMIT`] entries.
    pub requests: Vec<NetworkRequest>,
}

/// Content never reaches a log.
impl std::fmt::Debug for RenderedDocument {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RenderedDocument")
            .field("bytes", &self.pdf.len())
            .field("page_count", &self.page_count)
            .field("phases", &self.phases)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Entries kept of a render's network log.
pub const REQUEST_LOG_LIMIT: usize = 500;

/// What a render goes through, in this order. The words are the same in time-outs, headers and logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Waiting for a slot.
    Queue,
    /// Getting a session, putting the content in, waiting until it is loaded.
    Load,
    /// `evaluate_js`.
    Evaluate,
    /// `wait_for`.
    Wait,
    /// `Page.printToPDF` and reading its stream.
    Print,
    /// Completing the PDF.
    Post,
}

impl Phase {
    /// The word used towards clients.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Load => "load",
            Self::Wait => "wait",
            Self::Evaluate => "evaluate",
            Self::Print => "print",
            Self::Post => "post",
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Wall time of each phase; of all tries, if the browser died during the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhaseTimes {
    /// See [`Phase::Queue`].
    pub queue: Duration,
    /// See [`Phase::Load`].
    pub load: Duration,
    /// See [`Phase::Evaluate`].
    pub evaluate: Duration,
    /// See [`Phase::Wait`].
    pub wait: Duration,
    /// See [`Phase::Print`].
    pub print: Duration,
    /// See [`Phase::Post`].
    pub post: Duration,
}

impl PhaseTimes {
    /// Each phase with its time, in the order in which headers and records name them.
    pub fn by_phase(&self) -> [(Phase, Duration); 6] {
        [
            (Phase::Queue, self.queue),
            (Phase::Load, self.load),
            (Phase::Wait, self.wait),
            (Phase::Evaluate, self.evaluate),
            (Phase::Print, self.print),
            (Phase::Post, self.post),
        ]
    }

    /// The time of one phase.
    pub fn of(&mut self, phase: Phase) -> &mut Duration {
        match phase {
            Phase::Queue => &mut self.queue,
            Phase::Load => &mut self.load,
            Phase::Evaluate => &mut self.evaluate,
            Phase::Wait => &mut self.wait,
            Phase::Print => &mut self.print,
            Phase::Post => &mut self.post,
        }
    }
}

/// Something that did not stop the render but that the author of the page should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable name, for instance `cookie_unused`.
    pub code: &'static str,
    /// A sentence for people.
    pub message: String,
}

/// One request of the page, as DevTools and the guard tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRequest {
    /// Address without query string and fragment, at most 500 characters.
    pub url: String,
    /// HTTP status, once a response came.
    pub status: Option<u16>,
    /// Why it failed.
    pub error: Option<String>,
    /// The rule of the egress guard that refused it.
    pub refused: Option<String>,
}

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
    /// More pages than the operation allows.
    #[error("the document has {pages} pages; {limit} are allowed")]
    TooManyPages {
        /// As printed.
        pages: usize,
        /// See [`RenderJob::page_limit`].
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
