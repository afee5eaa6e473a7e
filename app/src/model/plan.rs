//! Plans.

use serde::{Deserialize, Serialize};

/// A plan on offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub name: String,
    /// Credits per month.
    pub credits: i64,
    /// Renders running or waiting at the same time.
    pub concurrency: i32,
    /// Requests per minute.
    pub rate_per_minute: i32,
    /// Size of the largest request body.
    pub body_bytes: i32,
    /// Days for which content and thumbnails of renders are retained.
    pub retention_days: i32,
    /// Number of renders that may be queued.
    pub queued_renders: i64,
    /// Size of documents in the default storage.
    pub document_bytes: i64,
    /// Number of templates.
    pub templates: i64,
}
