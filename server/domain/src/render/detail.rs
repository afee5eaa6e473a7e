//! Details of one render, as its account sees them.

use strum::{EnumString, IntoStaticStr};
use time::OffsetDateTime;

use crate::{
    callback::Attempt,
    ids::{RenderId, TemplateId},
    render::{
        accessibility::{AccessibilityReport, missing::MissingReport},
        content::{MissingContent, ShownRequest},
        history::{RenderMode, RenderState},
        thumbnail::Pictures,
    },
};

/// Everything the page of a render shows.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderDetail {
    pub id: RenderId,
    /// The document's title, or else what the render is made from.
    pub name: String,
    /// The template, URL or HTML that each part is made from.
    pub sources: Vec<String>,
    /// The templates among the parts, in their order.
    pub templates: Vec<RenderedTemplate>,
    pub state: RenderState,
    pub mode: RenderMode,
    /// `false` for a test key.
    pub live: bool,
    /// Time of acceptance.
    pub at: OffsetDateTime,
    /// Credits charged.
    pub credits: Option<i64>,
    pub document: Option<Document>,
    /// What the check of the document found.
    pub accessibility: Result<AccessibilityReport, MissingReport>,
    /// Why there is no document.
    pub error: Option<Failure>,
    pub timeline: Timeline,
    pub warnings: Vec<String>,
    /// Network requests of its pages.
    pub requests: Vec<Request>,
    /// Console messages of its pages.
    pub console: Vec<Message>,
    /// Whether the account stores content. Otherwise there are no titles, thumbnails and messages.
    pub keeps_content: bool,
    /// Name of the key that requested it.
    pub key: Option<String>,
    /// `None` once it has expired.
    pub idempotency_key: Option<String>,
    /// Options of the request without its content: names in the API, and values.
    pub options: Vec<(String, String)>,
    /// The request with its content.
    pub content: Result<ShownRequest, MissingContent>,
    /// The webhook that is notified when it ends.
    pub callback: Option<Callback>,
}

/// A template from which a part was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedTemplate {
    /// Index of the part, from 0.
    pub part: usize,
    pub id: TemplateId,
    pub name: String,
    /// Number of the version. Renders of earlier releases have none.
    pub version: Option<i64>,
    /// Whether it still exists.
    pub exists: bool,
    /// Number of the newest version, which the editor shows.
    pub newest: i32,
}

/// The document of a render.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub title: Option<String>,
    /// Number of pages.
    pub pages: i32,
    /// Size in bytes.
    pub bytes: i64,
    /// Standards that it conforms to, such as `PDF/A-2a, PDF/UA-1`.
    pub conformance: Option<String>,
    /// Its location, as the store's tools write it.
    pub place: Option<String>,
    /// Address from which it can be downloaded, while it exists.
    pub url: Option<String>,
    /// Time of deletion, if the service deletes it.
    pub expires_at: Option<OffsetDateTime>,
    /// The links to it that are valid; `None` if there are none.
    pub links: Option<ValidLinks>,
    /// Thumbnails of its first pages.
    pub pictures: Pictures,
}

/// Valid links to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValidLinks {
    /// Their number, at least 1.
    pub count: i64,
    /// When the last of them expires.
    pub last_expires_at: OffsetDateTime,
}

/// The error of a render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The message in the client's response.
    pub message: String,
    /// JSON pointer to the responsible part of the request.
    pub pointer: Option<String>,
    /// The phase in which the deadline passed.
    pub phase: Option<Phase>,
}

/// A phase of a render. The names are used in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Phase {
    /// Waiting for a slot.
    Queue,
    /// Loading content, fonts and images.
    Load,
    /// `evaluate_js`.
    Evaluate,
    /// `wait_for`.
    Wait,
    Print,
    /// Joining and completing the document.
    Post,
    /// Uploading to the store.
    Upload,
    /// The first attempt of the webhook delivery.
    Callback,
}

impl Phase {
    /// The phases inside the engine, in order.
    pub const OF_ENGINE: [Self; 6] = [
        Self::Queue,
        Self::Load,
        Self::Evaluate,
        Self::Wait,
        Self::Print,
        Self::Post,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "Queue",
            Self::Load => "Load",
            Self::Evaluate => "Evaluate",
            Self::Wait => "Wait",
            Self::Print => "Print",
            Self::Post => "Post-process",
            Self::Upload => "Upload",
            Self::Callback => "Webhook",
        }
    }

    /// Returns whether the phase consists of waiting only.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Queue | Self::Wait | Self::Callback)
    }
}

/// Durations of the phases of a render.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// The phases, in order.
    pub steps: Vec<Step>,
    /// Milliseconds from acceptance to the end.
    pub whole_ms: Option<f64>,
}

impl Timeline {
    /// Returns the length of the axis in milliseconds. Parts rendered concurrently may take longer than the whole.
    pub fn axis_ms(&self) -> f64 {
        let ends = self.steps.iter().filter_map(|step| match step.what {
            StepTime::Taken { from_ms, took_ms } => Some(from_ms + took_ms),
            StepTime::NotAskedFor | StepTime::NotReached => None,
        });
        ends.fold(self.whole_ms.unwrap_or_default(), f64::max)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub phase: Phase,
    /// Start and duration.
    pub what: StepTime,
    /// Whether the render failed in this phase.
    pub failed: bool,
}

/// Start and duration of a phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepTime {
    /// In milliseconds.
    Taken {
        /// Since acceptance.
        from_ms: f64,
        /// Duration.
        took_ms: f64,
    },
    /// The request doesn't use this phase.
    NotAskedFor,
    /// The render ended before this phase.
    NotReached,
}

/// A network request of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Number of the part, from 1.
    pub part: u64,
    /// Without query string.
    pub url: String,
    /// The resource type.
    pub kind: Option<String>,
    pub outcome: RequestOutcome,
    /// Bytes received over the network.
    pub bytes: Option<i64>,
    /// Duration, in milliseconds.
    pub took_ms: Option<f64>,
}

/// Outcome of a network request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The server responded with this HTTP status.
    Answered(u16),
    /// The address policy refused it, for this reason.
    Refused(String),
    /// It failed, for this reason.
    Failed(String),
    /// The render ended before the response.
    Open,
}

/// A console message of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Number of the part, from 1.
    pub part: u64,
    /// `debug`, `info`, `log`, `warn` or `error`.
    pub level: String,
    pub text: String,
}

/// The webhook of a render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// Address of the endpoint, without query string.
    pub address: Option<String>,
    /// Whether the render has ended and the delivery has begun.
    pub begun: bool,
    /// Whether an attempt is running or scheduled.
    pub trying: bool,
    /// Time of the next attempt.
    pub next: Option<OffsetDateTime>,
    /// Attempts, the oldest first.
    pub attempts: Vec<Attempt>,
}
