//! Events that Stripe sends. Of their data only the customer is read: the handler requests the current state from
//! Stripe, so that the rest of an event, the order of events and repeated deliveries do not matter.

use aws_lc_rs::hmac;
use miniserde::{Deserialize, json};
use secrecy::{ExposeSecret, SecretString};
use time::{Duration, OffsetDateTime};

use crate::wire::moment;

/// Name of the header with the signature.
pub const SIGNATURE_HEADER: &str = "stripe-signature";

/// Largest age of a signature. An older one may be replayed.
const TOLERANCE: Duration = Duration::minutes(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Id, the same in repeated deliveries.
    pub id: String,
    /// Type, such as `customer.subscription.updated`; `unknown` if it can't be read.
    pub kind: String,
    /// When the event was created; the time of receipt if it can't be read.
    pub created_at: OffsetDateTime,
    /// Id of the customer that the event concerns; `None` if it concerns none, or if its shape is unknown.
    pub customer: Option<String>,
}

/// Why an event is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The header is missing or malformed.
    #[error("the header Stripe-Signature is missing or malformed")]
    NotSigned,
    /// No signature matches: the secret is another one, or the body was changed.
    #[error("the signature does not match; PLATEN_STRIPE_WEBHOOK_SECRET may belong to another endpoint")]
    Forged,
    /// The signature is too old, or its time lies in the future.
    #[error("the signature is more than five minutes old, or a clock is wrong")]
    Stale,
    /// The signature is valid, but the body is not an event.
    #[error("the body is not an event")]
    NoEvent,
}

#[derive(Deserialize)]
struct NameWire {
    id: String,
}

#[derive(Deserialize)]
struct KindWire {
    r#type: String,
}

#[derive(Deserialize)]
struct TimeWire {
    created: i64,
}

#[derive(Deserialize)]
struct AboutWire {
    data: DataWire,
}

#[derive(Deserialize)]
struct DataWire {
    object: ObjectWire,
}

#[derive(Deserialize)]
struct ObjectWire {
    id: Option<String>,
    object: String,
    customer: Option<String>,
}

/// Verifies the signature of an event and reads it. Only its id must have the known shape.
pub fn read(
    body: &str,
    signature: Option<&str>,
    secret: &SecretString,
    now: OffsetDateTime,
) -> Result<Event, WebhookError> {
    check(body, signature.ok_or(WebhookError::NotSigned)?, secret, now)?;
    let name: NameWire = json::from_str(body).map_err(|_| WebhookError::NoEvent)?;
    let kind = json::from_str(body).map(|kind: KindWire| kind.r#type);
    let created_at = json::from_str(body).map(|time: TimeWire| moment(time.created));
    Ok(Event {
        id: name.id,
        kind: kind.unwrap_or_else(|_| "unknown".to_owned()),
        created_at: created_at.unwrap_or(now),
        customer: customer(body),
    })
}

fn customer(body: &str) -> Option<String> {
    let about: AboutWire = json::from_str(body).ok()?;
    let object = about.data.object;
    if object.object == "customer" {
        object.id
    } else {
        object.customer
    }
}

/// Verifies the signature. The header is `t=<seconds>,v1=<hex>`, with one `v1` for each active secret; other schemes
/// are ignored.
fn check(body: &str, signature: &str, secret: &SecretString, now: OffsetDateTime) -> Result<(), WebhookError> {
    let parts = || signature.split(',').filter_map(|part| part.trim().split_once('='));
    let signed_at = parts().find(|(name, _)| *name == "t").ok_or(WebhookError::NotSigned)?.1;
    let seconds: i64 = signed_at.parse().map_err(|_| WebhookError::NotSigned)?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
    let signed = format!("{signed_at}.{body}");
    let mut signatures = parts()
        .filter(|(name, _)| *name == "v1")
        .filter_map(|(_, hex)| from_hex(hex));
    if !signatures.any(|signature| hmac::verify(&key, signed.as_bytes(), &signature).is_ok()) {
        return Err(WebhookError::Forged);
    }
    if (now - moment(seconds)).abs() > TOLERANCE {
        return Err(WebhookError::Stale);
    }
    Ok(())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
    let pairs = digits?;
    pairs
        .len()
        .is_multiple_of(2)
        .then(|| pairs.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"id":"evt_1","type":"invoice.paid","created":1793451600,"data":{"object":{"id":"in_1","object":"invoice","customer":"cus_1"}}}"#;
    /// By `printf '%s' "1793451600.$BODY" | openssl dgst -sha256 -hmac whsec_test`.
    const SIGNATURE: &str = "57299e66a50bb3ae7dd77f5ae976a92cebbf97d01d687dca0e701158672fb327";

    fn read_at(body: &str, signature: &str, seconds: i64) -> Result<Event, WebhookError> {
        read(body, Some(signature), &"whsec_test".into(), moment(seconds))
    }

    #[test]
    fn an_event_with_stripes_signature_is_read() {
        let header = format!("t=1793451600,v0=00,v1=abcd,v1={SIGNATURE}");
        let event = read_at(BODY, &header, 1_793_451_600 + 299).expect("an event");
        assert_eq!((event.id.as_str(), event.kind.as_str()), ("evt_1", "invoice.paid"));
        assert_eq!(event.customer.as_deref(), Some("cus_1"));
    }

    #[test]
    fn what_is_forged_changed_or_old_is_not() {
        let header = format!("t=1793451600,v1={SIGNATURE}");
        let problems = [
            (BODY.replace("cus_1", "cus_2"), header.as_str(), 0, WebhookError::Forged),
            (BODY.to_owned(), "t=1793451600,v1=", 0, WebhookError::Forged),
            (BODY.to_owned(), "t=1793451600", 0, WebhookError::Forged),
            (BODY.to_owned(), "v1=00", 0, WebhookError::NotSigned),
            (BODY.to_owned(), header.as_str(), 301, WebhookError::Stale),
            (BODY.to_owned(), header.as_str(), -301, WebhookError::Stale),
        ];
        for (body, header, later, problem) in problems {
            assert_eq!(
                read_at(&body, header, 1_793_451_600 + later),
                Err(problem),
                "{header} {later}"
            );
        }
        let unsigned = read(BODY, None, &"whsec_test".into(), moment(0));
        assert_eq!(unsigned, Err(WebhookError::NotSigned));
    }

    #[test]
    fn an_event_of_another_shape_is_one_all_the_same() {
        let read = |body: &str| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, b"whsec_test");
            let tag = hmac::sign(&key, format!("1793451600.{body}").as_bytes());
            let hex: Vec<String> = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
            read_at(body, &format!("t=1793451600,v1={}", hex.concat()), 1_793_451_600)
        };
        let event = read(r#"{"id":"evt_2","type":{"name":"novel"},"created":"2026-10-31T09:00:00Z"}"#);
        let event = event.expect("an event");
        assert_eq!((event.id.as_str(), event.kind.as_str()), ("evt_2", "unknown"));
        assert_eq!(
            (event.created_at.unix_timestamp(), event.customer),
            (1_793_451_600, None)
        );
        assert_eq!(read("[]"), Err(WebhookError::NoEvent));
    }

    #[test]
    fn whom_an_event_of_an_unknown_shape_is_about_stays_open() {
        let about = |object: &str| customer(&format!(r#"{{"data":{{"object":{object}}}}}"#));
        assert_eq!(about(r#"{"object":"customer","id":"cus_1"}"#).as_deref(), Some("cus_1"));
        assert_eq!(about(r#"{"object":"radar.review","id":"prv_1"}"#), None);
        assert_eq!(about(r#"{"object":"invoice","customer":{"id":"cus_1"}}"#), None);
        assert_eq!(about("[]"), None);
    }
}
