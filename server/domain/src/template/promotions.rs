//! Promotions: requests to give a channel another release of a template, and what became of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{EnumString, IntoStaticStr};
use time::{Duration, OffsetDateTime, UtcOffset, serde::rfc3339};

use crate::{
    ids::{PromotionId, UserId},
    template::channels::ChannelName,
    validation::{
        Problem, Problems,
        json::{self, Body, Layout},
        schema::RequestBody,
    },
};

/// JSON pointers of the members of a request.
pub const CHANNEL: &str = "/promotion/channel";
pub const VERSION: &str = "/promotion/version";
pub const DUE_AT: &str = "/promotion/due_at";
/// Maximum time until a scheduled promotion is due.
const LONGEST_DELAY: Duration = Duration::days(366);

/// The state of a promotion. The names are used in the API and in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum PromotionState {
    /// Another member has to approve it.
    AwaitingApproval,
    /// It will be done when it is due.
    Scheduled,
    /// The channel has, or had, the release.
    Done,
    Cancelled,
    /// It could not be done when it was due.
    Failed,
}

impl PromotionState {
    pub fn is_open(self) -> bool {
        matches!(self, Self::AwaitingApproval | Self::Scheduled)
    }
}

/// A promotion of a release to a channel, also back to an earlier release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Promotion {
    pub id: PromotionId,
    pub channel: ChannelName,
    /// Number of the release.
    pub version: i32,
    /// Number of the release that the channel had before; `None` if it had none, or the promotion isn't done.
    pub previous_version: Option<i32>,
    pub state: PromotionState,
    /// `None` once the user is deleted.
    pub requested_by: Option<UserId>,
    /// Who has approved it, if approval was needed.
    pub approved_by: Option<UserId>,
    /// Display names of both.
    #[serde(skip)]
    pub requester: Option<String>,
    #[serde(skip)]
    pub approver: Option<String>,
    /// The author of the release.
    #[serde(skip)]
    pub author: Option<UserId>,
    #[serde(with = "rfc3339")]
    pub inserted_at: OffsetDateTime,
    /// When it is to be done; `None`: at once.
    #[serde(with = "rfc3339::option")]
    pub due_at: Option<OffsetDateTime>,
    /// When it was done, was cancelled or failed.
    #[serde(with = "rfc3339::option")]
    pub ended_at: Option<OffsetDateTime>,
}

impl Promotion {
    /// Returns whether a user may approve it: neither the author of the release, nor who requested its promotion.
    pub fn may_be_approved_by(&self, user: UserId) -> bool {
        self.state == PromotionState::AwaitingApproval && self.author != Some(user) && self.requested_by != Some(user)
    }
}

/// The release of a template in a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChannelRelease {
    pub channel: ChannelName,
    /// Number of the version; `None` if the channel has no release.
    pub version: Option<i32>,
    /// Since when the channel has it.
    #[serde(with = "rfc3339::option")]
    pub released_at: Option<OffsetDateTime>,
}

/// A request for a promotion.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PromotionRequest {
    pub channel: ChannelName,
    /// Number of the version.
    pub version: i32,
    /// When it is to be done; `None`: at once.
    #[serde(default, with = "rfc3339::option")]
    pub due_at: Option<OffsetDateTime>,
}

impl PromotionRequest {
    /// Parses and validates a body. Fails with all validation errors, in the order of the document.
    pub fn parse(body: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::default();
        let Some(Body { value: mut body, .. }) = json::parse(body, &Layout::PLAIN, &mut problems) else {
            return Err(problems.sorted(&Value::Null));
        };
        RequestBody::TemplatePromotionCreation.check(&body, &mut problems);
        if let Some(text) = body["promotion"]["due_at"]
            .as_str()
            .filter(|_| !problems.within(DUE_AT))
            && let Err(error) = OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339)
        {
            let detail = format!("Must be a time as in RFC 3339, such as 2030-01-31T08:00:00Z: {error}");
            problems.add(Problem::invalid(DUE_AT, detail));
        }
        if !problems.is_empty() {
            return Err(problems.sorted(&body));
        }
        let request: Result<Self, _> = serde_json::from_value(body["promotion"].take());
        let request = request.map_err(|error| vec![Problem::invalid("", error.to_string())])?;
        Ok(Self {
            due_at: request.due_at.map(|due_at| due_at.to_offset(UtcOffset::UTC)),
            ..request
        })
    }

    /// Returns the validation error of a time that is past or too far away.
    pub fn problem(&self, now: OffsetDateTime) -> Option<Problem> {
        let due_at = self.due_at?;
        let detail = if due_at <= now {
            "Must be in the future; omit it to promote at once"
        } else if due_at > now + LONGEST_DELAY {
            "Must be within a year"
        } else {
            return None;
        };
        Some(Problem::invalid(DUE_AT, detail))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn each_wrong_member_is_named() {
        let pointers = |body: Value| {
            let refused = PromotionRequest::parse(body.to_string().as_bytes()).expect_err("problems");
            refused.into_iter().map(|problem| problem.pointer).collect::<Vec<_>>()
        };
        assert_eq!(pointers(json!({})), ["/promotion"]);
        assert_eq!(
            pointers(json!({"promotion": {"channel": "Prod", "version": 0, "due_at": "tomorrow", "x": 1}})),
            [
                "/promotion/channel",
                "/promotion/version",
                "/promotion/due_at",
                "/promotion/x"
            ]
        );
    }

    #[test]
    fn times_are_in_the_next_year() {
        let body = json!({"promotion": {"channel": "staging", "version": 2, "due_at": "2030-01-31T08:00:00+01:00"}});
        let request = PromotionRequest::parse(body.to_string().as_bytes()).expect("a request");
        let due_at = datetime!(2030-01-31 7:00 UTC);
        assert_eq!(request.due_at, Some(due_at));
        assert_eq!(request.problem(due_at - Duration::DAY), None);
        assert!(request.problem(due_at).is_some());
        assert!(request.problem(due_at - Duration::days(400)).is_some());
        let at_once = PromotionRequest {
            due_at: None,
            ..request
        };
        assert_eq!(at_once.problem(due_at), None);
    }
}
