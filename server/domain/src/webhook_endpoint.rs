//! Webhook endpoints of an account, and the events that they receive.

use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::{ids::EndpointId, sentence::sentence};

/// Maximum number of endpoints of an account.
pub const MOST_ENDPOINTS: usize = 10;
/// Maximum length of a description, in characters.
pub const LONGEST_DESCRIPTION: usize = 200;
/// An endpoint whose deliveries have failed for this long, without a success, is disabled.
pub const FAILS_FOR: Duration = Duration::days(5);

/// An event that endpoints can receive. The names are used in payloads, in forms and in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum EventType {
    #[strum(serialize = "render.succeeded")]
    RenderSucceeded,
    #[strum(serialize = "render.failed")]
    RenderFailed,
    #[strum(serialize = "credits.low")]
    CreditsLow,
    #[strum(serialize = "key.expiring")]
    KeyExpiring,
    #[strum(serialize = "batch.ended")]
    BatchEnded,
}

impl EventType {
    /// Returns when the event occurs.
    pub fn occasion(self) -> &'static str {
        match self {
            Self::RenderSucceeded => "A render has a document",
            Self::RenderFailed => "A render failed or was cancelled",
            Self::CreditsLow => "80 % of the credits are used, and all",
            Self::KeyExpiring => "An API key expires in seven days",
            Self::BatchEnded => "All rows of a batch have ended, or it was cancelled",
        }
    }

    /// Returns the payload of an example.
    pub fn example(self) -> Value {
        let render = "0192f0c1-7b20-7d31-8f02-5c9e4b1a6d3f";
        let data = match self {
            Self::RenderSucceeded => json!({
                "render_id": render, "state": "succeeded", "mode": "async", "livemode": true, "page_count": 2,
                "document_url": "https://pdf.example/files/renders/6f1c4a52-90d1-4b6e-8a3e-1f7e5f0c2b9d.pdf",
            }),
            Self::RenderFailed => json!({
                "render_id": render, "state": "failed", "mode": "sync", "livemode": false,
                "error": {
                    "code": "unreachable", "message": "The address answered with status 404.", "pointer": "/parts/0",
                },
            }),
            Self::CreditsLow => json!({
                "credits_used": 800, "credits": 1000, "overage_limit": 0, "period_ends_at": "2026-12-01T00:00:00Z",
            }),
            Self::KeyExpiring => json!({
                "key_id": "0192f0c1-90aa-7c02-a1d0-3b5a7c9e1f24", "name": "Invoices", "livemode": true,
                "expires_at": "2026-11-28T00:00:00Z",
            }),
            Self::BatchEnded => json!({
                "batch_id": "0192f0c2-1f60-7a44-9c3b-8d2e5f7a1b06", "name": "Invoices of November", "state": "ended",
                "livemode": true, "rows": 5000, "succeeded": 4998, "failed": 2,
            }),
        };
        payload(
            "evt_0192f0c17bd47e6a9c1f2b3d4e5f6a7b",
            self.into_str(),
            "2026-11-21T09:30:00.212Z",
            &data,
        )
    }
}

/// Type of the event that tests an endpoint. All endpoints receive it, on request only.
pub const TEST_EVENT: &str = "webhook.test";

/// Returns the body of an event. The same arguments return the same bytes, so that it isn't stored.
pub fn event_body(id: Uuid, event: &str, at: OffsetDateTime, mut data: Value) -> String {
    // Errors are stored without capital and full stop.
    if let Some(message) = data["error"]["message"].as_str().map(sentence) {
        data["error"]["message"] = message.into();
    }
    let at = at.format(&Rfc3339).unwrap_or_default();
    payload(&format!("evt_{}", id.simple()), event, &at, &data).to_string()
}

fn payload(id: &str, event: &str, at: &str, data: &Value) -> Value {
    json!({"id": id, "type": event, "timestamp": at, "data": data})
}

/// Status of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointState {
    /// It receives events.
    Enabled,
    /// It receives events, but the last attempts failed, the first of them then.
    Failing(OffsetDateTime),
    /// A member disabled it.
    Disabled,
    /// The service disabled it after [`FAILS_FOR`].
    DisabledByService,
}

/// A webhook endpoint.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookEndpoint {
    pub id: EndpointId,
    /// The URL without credentials, query and fragment.
    pub address: String,
    /// The whole URL, which may contain secrets.
    pub url: String,
    /// May be empty.
    pub description: String,
    pub events: Vec<EventType>,
    pub state: EndpointState,
    pub inserted_at: OffsetDateTime,
}

/// Omits the URL.
impl std::fmt::Debug for WebhookEndpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("WebhookEndpoint");
        shown
            .field("id", &self.id)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// Returns a description as it is stored, or `None` if it is too long or has more than one line.
pub fn read_description(typed: &str) -> Option<&str> {
    let typed = typed.trim();
    (typed.chars().count() <= LONGEST_DESCRIPTION && !typed.chars().any(char::is_control)).then_some(typed)
}

/// Parses event types as submitted. `None` if there are none, or one is unknown.
pub fn read_events(typed: &[String]) -> Option<Vec<EventType>> {
    let events: Option<Vec<EventType>> = typed.iter().map(|event| event.parse().ok()).collect();
    let mut events = events.filter(|events| !events.is_empty())?;
    events.sort_unstable();
    events.dedup();
    Some(events)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_body_has_the_members_of_standard_webhooks() {
        let data = json!({"render_id": "x", "error": {"code": "script", "message": "it threw", "pointer": null}});
        let body = event_body(Uuid::nil(), "render.failed", datetime!(2026-11-21 09:30 UTC), data);
        assert_eq!(
            body,
            concat!(
                r#"{"id":"evt_00000000000000000000000000000000","type":"render.failed","timestamp":"2026-11-21T09:30:00Z","#,
                r#""data":{"render_id":"x","error":{"code":"script","message":"It threw.","pointer":null}}}"#
            )
        );
        let body = event_body(
            Uuid::nil(),
            TEST_EVENT,
            datetime!(2026-11-21 09:30 UTC),
            json!({"livemode": false}),
        );
        assert!(body.ends_with(r#""data":{"livemode":false}}"#), "{body}");
    }

    #[test]
    fn events_are_read_as_they_are_written() {
        for event in EventType::VARIANTS {
            assert_eq!(event.into_str().parse(), Ok(*event));
            assert_eq!(event.example()["type"], event.into_str());
        }
        let read = |typed: &[&str]| read_events(&typed.iter().map(|&event| event.to_owned()).collect::<Vec<_>>());
        assert_eq!(
            read(&["key.expiring", "render.failed", "key.expiring"]),
            Some(vec![EventType::RenderFailed, EventType::KeyExpiring])
        );
        assert_eq!(read(&[]), None);
        assert_eq!(read(&["render.failed", TEST_EVENT]), None);
    }

    #[test]
    fn a_description_is_one_short_line() {
        assert_eq!(read_description(" Billing "), Some("Billing"));
        assert_eq!(read_description(""), Some(""));
        assert_eq!(read_description("a\nb"), None);
        assert_eq!(read_description(&"ä".repeat(201)), None);
    }
}
