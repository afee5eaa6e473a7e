//! Input and output of the engine. Types with a serialized form are stored in queued requests, and most of them are read
//! from requests to the API: a change of fields requires a new version of both.

use std::time::Duration;

use platen_egress::assets::Assets;
use platen_pdf::{
    OutputFormat, PageSelection, Watermark,
    check::{contrast::LowContrast, levels::Finding, standards::Conformance},
};
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};
use url::Url;
use uuid::Uuid;

/// The account that a render runs for, and its limit. A session never changes its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// Id of the account, the unit of isolation and fairness.
    pub account: Uuid,
    /// Maximum number of renders of the account that run or wait, not counting those in [`Lane::Background`]; further
    /// ones are refused. Also limits how many parts of a render are printed concurrently.
    pub concurrency: usize,
}

/// Priority class of a waiting render. A free slot goes to the first lane with a waiting render, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Lane {
    /// Preview in an editor that a user is looking at.
    Preview,
    /// Synchronous render: a client holds a connection open.
    Synchronous,
    /// Asynchronous render: no client is waiting.
    Background,
}

/// One document to render. The engine trusts the values; its caller must have validated them.
#[derive(Debug, Clone)]
pub struct RenderJob {
    /// Id of the render, for logs.
    pub id: Uuid,
    /// Parts to print, in document order; at least one.
    pub parts: Vec<Part>,
    /// Page setup and print options.
    pub print: PrintSettings,
    /// Media type that style sheets match.
    pub media: MediaType,
    /// Cookie to set before URL parts of its domain are loaded.
    pub cookie: Option<Cookie>,
    /// JavaScript evaluated in the page after it is loaded; a promise is awaited.
    pub evaluate: Option<String>,
    /// Condition awaited after `evaluate`.
    pub wait_for: Option<WaitFor>,
    /// Pages of the whole document to retain; `None` retains all.
    pub selection: Option<PageSelection>,
    /// Watermark drawn across every selected page.
    pub watermark: Option<Watermark>,
    /// Kind of PDF.
    pub format: OutputFormat,
    /// Language of pages without a valid `<html lang>`, a tag in the form of BCP 47.
    pub language: Option<String>,
    /// Assets that HTML parts, headers and footers name by `asset:NAME`. Other pages can't read them.
    pub assets: Assets,
    /// Maximum number of printed pages, counted before `selection` is applied.
    pub page_limit: usize,
    /// Maximum number of printed bytes of all parts together, headers and footers included.
    pub printed_limit: usize,
}

/// One source of a document.
#[derive(Clone)]
pub enum Part {
    /// HTML, loaded as a document with an opaque origin.
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

/// Page setup, header and footer. Lengths are in inches, as in `Page.printToPDF`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintSettings {
    /// Page width in inches, orientation applied.
    pub paper_width: f64,
    /// Page height in inches, orientation applied.
    pub paper_height: f64,
    /// Top, right, bottom, left, in inches.
    pub margins: [f64; 4],
    /// Scale of the content, 0.1 to 2.
    pub scale: f64,
    /// Whether background colours and images are printed.
    pub backgrounds: bool,
    /// Whether a page size in CSS `@page` overrides the paper size; otherwise content is scaled to the paper.
    pub prefer_css_page_size: bool,
    /// Running header and footer, in the margins.
    pub header_footer: Option<HeaderFooter>,
}

/// HTML templates of header and footer, in which elements of the classes `date`, `title`, `url`, `pageNumber` and
/// `totalPages` are filled. An empty template prints nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderFooter {
    /// Template drawn in the top margin.
    pub header: String,
    /// Template drawn in the bottom margin.
    pub footer: String,
}

/// One of the two templates of [`HeaderFooter`], displayed as its name in the API.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaType {
    /// `@media print`
    #[default]
    Print,
    /// `@media screen`
    Screen,
}

/// A cookie for a URL part whose host matches the domain.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cookie {
    /// Cookie name.
    pub name: String,
    /// Cookie value.
    pub value: String,
    /// Domain, with or without a leading dot. Also matches its subdomains.
    pub domain: String,
}

/// The value is a secret of the caller.
impl std::fmt::Debug for Cookie {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Cookie({} for {})", self.name, self.domain)
    }
}

/// Condition to await: the first element that matches `selector` has `attribute`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Standards that the file conforms to and declares; empty for plain PDF.
    pub conformance: Vec<Conformance>,
    /// What prevents the file from conforming to more; empty for plain PDF.
    pub findings: Vec<Finding>,
    /// Texts whose contrast with their background is too low; empty for plain PDF.
    pub low_contrast: Vec<LowContrast>,
    /// Number of pages in the file.
    pub page_count: usize,
    /// Number of these pages that come from each part.
    pub pages_by_part: Vec<usize>,
    /// The first part's title, trimmed; `None` if empty.
    pub title: Option<String>,
    /// Problems that did not fail the render.
    pub warnings: Vec<Warning>,
}

impl RenderedDocument {
    /// Returns the names of the standards that the file conforms to, such as `PDF/A-2a, PDF/UA-1`; `None` for plain PDF.
    pub fn conformance_names(&self) -> Option<String> {
        (!self.conformance.is_empty()).then(|| Conformance::list(&self.conformance))
    }
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

/// Phase of a render, in order. The names are the same in timeout errors, headers and logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Phase {
    /// Waiting for a slot.
    Queue,
    /// Obtaining a session, loading the content, waiting until it is complete.
    Load,
    /// Evaluating `evaluate_js`.
    Evaluate,
    /// Awaiting `wait_for`.
    Wait,
    /// `Page.printToPDF` and reading its stream.
    Print,
    /// Joining, completing and validating the PDF.
    Post,
}

/// Wall-clock time of each phase, summed over all attempts if the browser died.
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
    /// Returns each phase with its time, in the order used in headers and records.
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

    /// Returns the time of `phase`, for updating.
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

/// A problem that did not fail the render but that the author of the page should know about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable code, for example `cookie_unused`.
    pub code: &'static str,
    /// Human-readable description.
    pub message: String,
}
