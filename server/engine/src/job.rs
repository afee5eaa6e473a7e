//! What goes into the engine and what comes out.

use std::time::Duration;

use platen_pdf::{OutputFormat, PageSelection, Watermark};
use url::Url;
use uuid::Uuid;

use crate::{addresses::may_hold_addresses, page_kind::script_free::is_script_free};

/// On whose behalf a render runs. A session never changes its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// The account, the unit of isolation and fairness.
    pub account: Uuid,
    /// How many renders the account may have running or waiting at once, without those in the background; one more is
    /// refused.
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

impl Lane {
    /// All of them, the first one served first.
    pub const ALL: [Self; 3] = [Self::Preview, Self::Synchronous, Self::Background];
}

/// One document to make. Values are trusted: the caller has checked them.
#[derive(Debug, Clone)]
pub struct RenderJob {
    /// Names the render in logs.
    pub id: Uuid,
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
    /// Drawn across every page that is kept.
    pub watermark: Option<Watermark>,
    /// Kind of PDF.
    pub format: OutputFormat,
    /// More printed pages than this are an error, whatever is kept of them.
    pub page_limit: usize,
    /// More printed bytes of all parts together, headers and footers included, are an error.
    pub printed_limit: usize,
}

/// Content to print.
#[derive(Clone)]
pub enum Part {
    /// A document with an opaque origin.
    Html(String),
    /// An `http` or `https` address.
    Url(Url),
}

impl Part {
    /// Whether loading it certainly runs nothing and asks the network for nothing.
    pub fn is_self_contained(&self) -> bool {
        match self {
            Self::Html(html) => is_script_free(html) && !may_hold_addresses(html),
            Self::Url(_) => false,
        }
    }
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

/// One of the two templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningTemplate {
    /// [`HeaderFooter::header`]
    Header,
    /// [`HeaderFooter::footer`]
    Footer,
}

impl std::fmt::Display for RunningTemplate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Header => "header_template",
            Self::Footer => "footer_template",
        })
    }
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

/// A finished document.
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
    /// What the author of the page should know.
    pub warnings: Vec<Warning>,
}

/// Content never reaches a log.
impl std::fmt::Debug for RenderedDocument {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("RenderedDocument")
            .field("bytes", &self.pdf.len())
            .field("page_count", &self.page_count)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

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
