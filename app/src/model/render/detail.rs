//! All that is known of one render.

use time::OffsetDateTime;

use crate::model::{
    delivery::Attempt,
    render::{RenderMode, RenderState},
};

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderDetail {
    /// Its id.
    pub id: String,
    /// What it is called: its title, else what it is made from.
    pub name: String,
    /// What its parts are made from.
    pub sources: Vec<String>,
    /// See [`RenderState`].
    pub state: RenderState,
    /// See [`RenderMode`].
    pub mode: RenderMode,
    /// False for test keys.
    pub live: bool,
    /// When it was accepted.
    pub at: OffsetDateTime,
    /// What was charged.
    pub credits: Option<i64>,
    /// The document, if there is one.
    pub document: Option<Document>,
    /// Why there is none.
    pub error: Option<Failure>,
    /// Where the time went.
    pub timeline: Timeline,
    /// What its author should know.
    pub warnings: Vec<String>,
    /// What its pages fetched.
    pub requests: Vec<Request>,
    /// What their scripts said.
    pub console: Vec<Message>,
    /// Whether the account keeps content; else there are neither titles nor pictures nor messages.
    pub keeps_content: bool,
    /// What the key is called that it was asked for with.
    pub key: Option<String>,
    /// As long as it counts.
    pub idempotency_key: Option<String>,
    /// The request without its content: JSON.
    pub options: String,
    /// Who is told of its end.
    pub callback: Option<Callback>,
}

/// A document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its title.
    pub title: Option<String>,
    /// Pages in it.
    pub pages: i32,
    /// Its size.
    pub bytes: i64,
    /// The standard that it conforms to.
    pub conformance: Option<String>,
    /// Where it is, in words of its store.
    pub place: Option<String>,
    /// Where it can be had, as long as it is there.
    pub url: Option<String>,
    /// When it is deleted there, if that is ours to do.
    pub expires_at: Option<OffsetDateTime>,
    /// Its first pages.
    pub pictures: Pictures,
}

/// What there is to see of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pictures {
    /// These pages.
    Drawn(Vec<Picture>),
    /// They are being drawn.
    Coming,
    /// Nothing.
    None,
}

/// A page, small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture {
    /// From 1.
    pub page: i16,
    /// Pixels.
    pub width: i32,
    /// Pixels.
    pub height: i32,
}

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What the client was told.
    pub message: String,
    /// What in the request is to blame.
    pub pointer: Option<String>,
    /// In which phase time ran out.
    pub phase: Option<Phase>,
}

/// What a render goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for its turn.
    Queue,
    /// Content, fonts, pictures.
    Load,
    /// Its script.
    Evaluate,
    /// What it waits for.
    Wait,
    /// Printing.
    Print,
    /// Joining and completing.
    Post,
    /// On the way to its store.
    Upload,
    /// The first try to tell of it.
    Callback,
}

impl Phase {
    /// Those inside the engine, in the order in which they come.
    pub const OF_ENGINE: [Self; 6] = [
        Self::Queue,
        Self::Load,
        Self::Evaluate,
        Self::Wait,
        Self::Print,
        Self::Post,
    ];

    /// The word for it in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Load => "load",
            Self::Evaluate => "evaluate",
            Self::Wait => "wait",
            Self::Print => "print",
            Self::Post => "post",
            Self::Upload => "upload",
            Self::Callback => "callback",
        }
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "Queue",
            Self::Load => "Load",
            Self::Evaluate => "Evaluate",
            Self::Wait => "Wait",
            Self::Print => "Print",
            Self::Post => "Post-process",
            Self::Upload => "Upload",
            Self::Callback => "Callback",
        }
    }

    /// The one with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::OF_ENGINE.into_iter().find(|phase| phase.word() == word)
    }

    /// Whether nothing is done in it but waiting.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Queue | Self::Wait | Self::Callback)
    }
}

/// Where the time of a render went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Its phases, in the order in which they come.
    pub steps: Vec<Step>,
    /// Milliseconds from acceptance to the end.
    pub whole_ms: Option<f64>,
}

impl Timeline {
    /// How long the axis is, in milliseconds. Parts that are rendered at the same time may take longer than the whole.
    pub fn axis_ms(&self) -> f64 {
        let ends = self.steps.iter().filter_map(|step| match step.what {
            StepTime::Taken { from_ms, took_ms } => Some(from_ms + took_ms),
            StepTime::NotAskedFor | StepTime::NotReached => None,
        });
        ends.fold(self.whole_ms.unwrap_or_default(), f64::max)
    }
}

/// One phase of a render.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Which.
    pub phase: Phase,
    /// When and how long.
    pub what: StepTime,
    /// Whether the render failed in it.
    pub failed: bool,
}

/// When a phase was, and how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepTime {
    /// Milliseconds.
    Taken {
        /// Since the beginning.
        from_ms: f64,
        /// Its own.
        took_ms: f64,
    },
    /// The request does not want it.
    NotAskedFor,
    /// The render ended before.
    NotReached,
}

/// A request of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// From 1.
    pub part: u64,
    /// Without query string.
    pub url: String,
    /// What for.
    pub kind: Option<String>,
    /// What became of it.
    pub outcome: RequestOutcome,
    /// As they came over the wire.
    pub bytes: Option<i64>,
    /// Milliseconds.
    pub took_ms: Option<f64>,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestOutcome {
    /// It was answered with this status.
    Answered(u16),
    /// The guard refused it, for this reason.
    Refused(String),
    /// There was no answer, for this reason.
    Failed(String),
    /// The render ended before.
    Open,
}

/// What a script said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// From 1.
    pub part: u64,
    /// `debug`, `info`, `log`, `warn` or `error`.
    pub level: String,
    /// What it said.
    pub text: String,
}

/// Who is told of a render's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// Where, without query string.
    pub address: Option<String>,
    /// Whether the render has ended, so that it can be told of.
    pub begun: bool,
    /// Whether it is tried, or will be.
    pub trying: bool,
    /// When the next try is, if there is one.
    pub next: Option<OffsetDateTime>,
    /// The tries, the oldest first.
    pub attempts: Vec<Attempt>,
}
