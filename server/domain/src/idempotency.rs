//! Idempotent requests, which clients may send several times but are performed once.

use std::fmt;

use sha2::{Digest, Sha256};
use time::Duration;

/// How long the response to the first request is stored.
pub const LIFETIME: Duration = Duration::hours(24);

/// The value of the header `Idempotency-Key`, by which a client identifies retries of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// The key is too long, empty, or contains characters other than printable ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("The header Idempotency-Key takes 1 to 255 printable ASCII characters")]
pub struct InvalidKey;

impl IdempotencyKey {
    const MOST_CHARACTERS: usize = 255;

    /// Parses the header's value.
    pub fn parse(value: &[u8]) -> Result<Self, InvalidKey> {
        let text = str::from_utf8(value).map_err(|_| InvalidKey)?;
        let printable = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
        if printable && (1..=Self::MOST_CHARACTERS).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidKey)
        }
    }

    /// Returns the key as the client sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Identifies the content of a request: the SHA-256 of the operation, live or test mode, and the body as received.
#[derive(Clone, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Computes the fingerprint. `operation` is, for instance, `POST /api/v1/renderers/pdf`.
    pub fn new(operation: &str, livemode: bool, body: &[u8]) -> Self {
        let mode = if livemode { "live" } else { "test" };
        let digest = Sha256::new_with_prefix(format!("{operation}\n{mode}\n")).chain_update(body);
        Self(digest.finalize().into())
    }

    /// The bytes, as stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Fingerprint")
    }
}

/// A request with an idempotency key.
#[derive(Debug, Clone)]
pub struct IdempotentRequest {
    pub key: IdempotencyKey,
    pub fingerprint: Fingerprint,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_printable_ascii() {
        for key in ["a", "order 4711/~", &"x".repeat(255)] {
            assert_eq!(IdempotencyKey::parse(key.as_bytes()).expect("a key").as_str(), key);
        }
        for key in ["", "a\tb", "ä", "\u{7f}", &"x".repeat(256)] {
            assert_eq!(IdempotencyKey::parse(key.as_bytes()), Err(InvalidKey), "{key}");
        }
        assert_eq!(IdempotencyKey::parse(b"\xff"), Err(InvalidKey));
    }

    #[test]
    fn a_fingerprint_tells_operation_mode_and_body_apart() {
        let of = |operation, livemode, body: &str| Fingerprint::new(operation, livemode, body.as_bytes());
        let one = of("POST /a", true, "{}");
        assert_eq!(one, of("POST /a", true, "{}"));
        for other in [
            of("POST /b", true, "{}"),
            of("POST /a", false, "{}"),
            of("POST /a", true, "{ }"),
        ] {
            assert_ne!(one, other);
        }
    }
}
