//! Plans.

use serde::{Deserialize, Serialize};

/// What a plan offers an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// Credits of each month.
    pub credits: i64,
    /// Renders running or waiting at once.
    pub concurrency: i32,
    /// Requests a minute.
    pub rate_per_minute: i32,
    /// Largest body of a request.
    pub body_bytes: i32,
    /// For how long the content and the thumbnails of renders are kept.
    pub retention_days: i32,
    /// Renders that may be queued.
    pub queued_renders: i64,
    /// Documents in default storage.
    pub document_bytes: i64,
    /// Templates.
    pub templates: i64,
}
