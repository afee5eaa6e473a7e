//! Requests that somebody tries, and what comes of them.

use serde::{Deserialize, Serialize};

/// What there is to play with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bench {
    /// Where clients reach the service, without a slash at the end.
    pub base_url: String,
    /// The account's templates.
    pub templates: Vec<TemplateName>,
    /// Options of a former render, as JSON; without its content.
    pub options: Option<String>,
}

/// A template, to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateName {
    /// Identifier.
    pub id: String,
    /// What it is called.
    pub name: String,
}

/// A request that is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The body, JSON.
    pub body: String,
    /// Whether it is queued.
    pub queued: bool,
    /// Whether it costs, and has no watermark.
    pub live: bool,
    /// `Idempotency-Key`; empty: none.
    pub idempotency_key: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Played {
    /// HTTP status.
    pub status: u16,
    /// Those headers of the answer that say something.
    pub headers: Vec<(String, String)>,
    /// `X-Render-Id`.
    pub render: Option<String>,
    /// From the first byte of the request to the last of the answer.
    pub milliseconds: u64,
    /// What the answer holds.
    pub content: Content,
}

/// What an answer holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// A document.
    Pdf {
        /// It, as base64.
        document: String,
        /// Its size in bytes.
        bytes: usize,
        /// Pages of the document.
        page_count: usize,
        /// The first of them, as PNG files in base64.
        pages: Vec<String>,
    },
    /// JSON, as it came.
    Json(String),
}
