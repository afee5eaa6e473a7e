//! The webhook that a client requests for a render, and attempts to call it.

use std::fmt;

use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use time::OffsetDateTime;
use url::Url;

use crate::{
    ids::{DeliveryId, RenderId},
    validation::{Problem, member},
};

/// Maximum number of additional headers.
const MOST_HEADERS: usize = 50;
/// Maximum total size of additional headers, in bytes.
const MOST_HEADER_BYTES: usize = 16 * 1024;
/// Headers set by the service, or specific to a connection (RFC 9110, 7.6.1).
const RESERVED: [&str; 15] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
];

/// The URL of a webhook, and additional headers.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackTarget {
    /// `http` or `https`.
    pub url: Url,
    /// Valid names and values of HTTP headers.
    pub headers: Vec<(String, String)>,
}

/// URL and headers may contain secrets of the client.
impl fmt::Debug for CallbackTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CallbackTarget({})", self.url.host_str().unwrap_or_default())
    }
}

/// Maximum length of a webhook's URL, in bytes.
pub const LONGEST_URL: usize = 8192;
/// Maximum length of a URL that is stored for display, in bytes.
const LONGEST_ADDRESS: usize = 500;

/// Returns a webhook's URL for display: without credentials, query and fragment.
pub fn shown_address(url: &Url) -> String {
    let mut address = format!("{}{}", url.origin().ascii_serialization(), url.path());
    address.truncate(address.floor_char_boundary(LONGEST_ADDRESS));
    address
}

/// Returns the validation errors of additional headers at `pointer`.
pub fn header_problems<'a>(pointer: &str, headers: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Problem> {
    let (mut problems, mut count, mut bytes) = (Vec::new(), 0, 0);
    for (name, value) in headers {
        count += 1;
        bytes += name.len() + value.len();
        let lower = name.to_ascii_lowercase();
        let reason = if HeaderName::try_from(&lower).is_err() {
            "A header's name may contain letters, digits and !#$%&'*+-.^_`|~"
        } else if RESERVED.contains(&lower.as_str()) {
            "This header is set by the service"
        } else if HeaderValue::from_bytes(value.as_bytes()).is_err() {
            "A header's value must not contain control characters"
        } else {
            continue;
        };
        problems.push(Problem::invalid(member(pointer, name), reason));
    }
    if count > MOST_HEADERS {
        problems.push(Problem::invalid(
            pointer,
            format!("Must have at most {MOST_HEADERS} members; has {count}"),
        ));
    } else if bytes > MOST_HEADER_BYTES {
        let detail = format!("Must have at most {MOST_HEADER_BYTES} bytes in all; has {bytes}");
        problems.push(Problem::invalid(pointer, detail));
    }
    problems
}

/// One attempt of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// HTTP status of the response; `None` without a response.
    pub status: Option<i32>,
    /// Why there was no response.
    pub error: Option<String>,
    /// Beginning of the response body.
    pub answer: String,
    /// From the DNS lookup to the end of the response.
    pub duration_ms: i32,
    /// When the attempt began.
    pub inserted_at: OffsetDateTime,
}

impl Attempt {
    /// Returns whether the endpoint responded with a 2xx status.
    pub fn was_received(&self) -> bool {
        matches!(self.status, Some(200..=299))
    }
}

/// Status of a delivery. The names are used in query parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "kebab-case")]
pub enum DeliveryState {
    /// The endpoint responded with a 2xx status.
    Delivered,
    /// An attempt is running or scheduled.
    Trying,
    /// It failed, or was discarded, and is not retried.
    GivenUp,
}

impl DeliveryState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Delivered => "Delivered",
            Self::Trying => "Pending",
            Self::GivenUp => "Stopped",
        }
    }
}

/// What a delivery is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryTarget {
    /// The webhook in the request of a render.
    Request,
    /// A webhook endpoint of the account.
    Endpoint,
    /// The webhook of a batch.
    Batch,
}

/// A webhook delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: DeliveryId,
    pub target: DeliveryTarget,
    /// The render that it is about, if any.
    pub render: Option<RenderId>,
    /// Event type; `success` or `failed` for the webhook of a request.
    pub event: String,
    /// URL of the receiver, without query string.
    pub address: Option<String>,
    pub state: DeliveryState,
    /// The reason of the last failure, of a delivery to an endpoint that was stopped.
    pub stopped: Option<String>,
    /// Seconds until the next attempt.
    pub next_in_seconds: Option<i64>,
    /// `webhook-id`, by which receivers recognize retries.
    pub webhook_id: String,
    /// The body, JSON.
    pub body: String,
    /// Attempts, the oldest first.
    pub attempts: Vec<Attempt>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(headers: &[(&str, &str)]) -> Vec<String> {
        let problems = header_problems("/headers", headers.iter().copied());
        problems.into_iter().map(|problem| problem.pointer).collect()
    }

    #[test]
    fn headers_that_a_client_may_add() {
        assert_eq!(
            pointers(&[("X-Order", "47/11 ä"), ("Authorization", "Bearer x")]),
            [""; 0]
        );
        for (name, value, pointer) in [
            ("Host", "x", "/headers/Host"),
            ("Webhook-Id", "x", "/headers/Webhook-Id"),
            ("CONTENT-TYPE", "x", "/headers/CONTENT-TYPE"),
            ("", "x", "/headers/"),
            ("a b", "x", "/headers/a b"),
            ("a/b", "x", "/headers/a~1b"),
            ("x", "a\r\nHost: b", "/headers/x"),
            ("x", "\u{0}", "/headers/x"),
        ] {
            assert_eq!(pointers(&[(name, value)]), [pointer], "{name}: {value}");
        }
        let many: Vec<_> = (0..51).map(|number| format!("x-{number}")).collect();
        let many: Vec<_> = many.iter().map(|name| (name.as_str(), "")).collect();
        assert_eq!(pointers(&many), ["/headers"]);
        assert_eq!(pointers(&[("x", &"y".repeat(17_000))]), ["/headers"]);
    }

    #[test]
    fn secrets_do_not_print() {
        let target = CallbackTarget {
            url: "https://user:secret@example.com/secret?token=secret"
                .parse()
                .expect("a URL"),
            headers: vec![("authorization".into(), "secret".into())],
        };
        assert_eq!(format!("{target:?}"), "CallbackTarget(example.com)");
    }
}
