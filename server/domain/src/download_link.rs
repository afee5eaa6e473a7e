//! Links to documents in the default storage, which expire.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;
use time::{Duration, OffsetDateTime, serde::rfc3339};

use crate::{
    ids::DownloadLinkId,
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};

/// Lifetimes of links, in seconds: a minute to the lifetime of documents, 14 days.
pub const LIFETIMES: RangeInclusive<i32> = 60..=1_209_600;
/// Lifetime of links unless the account or the request names another.
pub const DEFAULT_LIFETIME: Duration = Duration::hours(24);
/// Maximum number of links of a document that have not expired.
pub const MOST_LINKS: i64 = 100;

/// A request for a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkRequest {
    /// Lifetime in seconds; `None`: that of the account's links.
    pub expires_in: Option<i32>,
    /// Whether the link ends with its first use.
    pub single_use: bool,
}

impl LinkRequest {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(Body { value: body, .. }) = json::parse(body, &Layout::PLAIN, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::DownloadLinkCreation.check(&body, &mut problems);
        if !problems.is_empty() {
            return Err(problems.sorted(&body));
        }
        let link = &body["link"];
        Ok(Self {
            // JSON Schema has validated that it is whole and within `LIFETIMES`; `60.0` is an integer, too.
            expires_in: link["expires_in"].as_f64().map(|seconds| seconds as i32),
            single_use: link["single_use"].as_bool().unwrap_or_default(),
        })
    }
}

/// A new link, with its address, which is not stored.
#[derive(Debug, Serialize)]
pub struct DownloadLink {
    pub id: DownloadLinkId,
    pub url: String,
    pub single_use: bool,
    #[serde(with = "rfc3339")]
    pub expires_at: OffsetDateTime,
}
