//! Links to documents in the default storage, which expire.

use std::{fmt, ops::RangeInclusive};

use serde::Serialize;
use serde_json::Value;
use time::{OffsetDateTime, serde::rfc3339};

use crate::{
    ids::DownloadLinkId,
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};

/// Lifetimes of links, in seconds: a minute to the lifetime of documents, 14 days.
const LIFETIMES: RangeInclusive<i32> = 60..=1_209_600;
/// Maximum number of links of a document that have not expired.
pub const MOST_LINKS: i64 = 100;

/// Addresses of new documents, as the owner of an account chooses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentLinks {
    /// Public addresses, no links.
    Public,
    /// Links with the lifetime of the plan.
    ByPlan,
    /// Links with this lifetime in seconds.
    Lasting(i32),
}

impl DocumentLinks {
    /// Reads a choice as [`Display`](fmt::Display) writes it. Returns `None` for anything else, and for a lifetime of less than
    /// a minute or more than 14 days.
    pub fn parse(choice: &str) -> Option<Self> {
        match choice {
            "" => Some(Self::Public),
            BY_PLAN => Some(Self::ByPlan),
            seconds => {
                let seconds = seconds.parse().ok();
                seconds.filter(|seconds| LIFETIMES.contains(seconds)).map(Self::Lasting)
            }
        }
    }
}

const BY_PLAN: &str = "plan";

/// Empty, `plan` or a number of seconds.
impl fmt::Display for DocumentLinks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => Ok(()),
            Self::ByPlan => formatter.write_str(BY_PLAN),
            Self::Lasting(seconds) => seconds.fmt(formatter),
        }
    }
}

/// A request for a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkRequest {
    /// Lifetime in seconds; `None`: that of the account's links, or else of the plan.
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
