//! Requests that users try in the playground, and their responses.

use serde::{Deserialize, Serialize};

/// Data of the playground's form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bench {
    /// Public base URL of the service, without a trailing slash.
    pub base_url: String,
    pub templates: Vec<TemplateName>,
}

/// The request of an earlier render.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replayed {
    /// As JSON, without the value of a cookie.
    Request(String),
    /// Why it can't be opened.
    Missing(String),
}

/// A template to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateName {
    pub id: String,
    pub name: String,
}

/// A request to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The body, JSON.
    pub body: String,
    /// Whether the render is asynchronous.
    pub queued: bool,
    /// `false` for a test render, which is free of charge and stamped.
    pub live: bool,
    /// `Idempotency-Key`. Empty: none.
    pub idempotency_key: String,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Played {
    /// HTTP status.
    pub status: u16,
    /// The relevant response headers.
    pub headers: Vec<(String, String)>,
    /// `X-Render-Id`.
    pub render: Option<String>,
    /// From the first byte of the request to the last byte of the response.
    pub milliseconds: u64,
    pub content: Content,
}

/// Content of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    Pdf {
        /// The document, in base64.
        document: String,
        /// Size in bytes.
        bytes: usize,
        /// Number of pages.
        page_count: usize,
        /// The first pages, as PNG files in base64.
        pages: Vec<String>,
    },
    /// JSON, as received.
    Json(String),
}
