//! Signatures of webhooks by the scheme of Standard Webhooks (1.0.0): an HMAC-SHA-256 over id, timestamp and body.

use aws_lc_rs::hmac;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use secrecy::{ExposeSecret, SecretBox, SecretString};
use time::OffsetDateTime;
use uuid::Uuid;

const PREFIX: &str = "whsec_";
const BYTES: usize = 32;

/// The secret shared with the receiver of webhooks. Does not print.
#[derive(Debug)]
pub struct WebhookSecret(SecretBox<[u8; BYTES]>);

/// The bytes were not created by [`WebhookSecret::to_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret has {BYTES} bytes")]
pub struct MalformedSecret;

impl WebhookSecret {
    /// Creates a secret from random bytes.
    pub fn from_random(random: [u8; BYTES]) -> Self {
        Self(SecretBox::new(Box::new(random)))
    }

    /// Restores a secret from its decrypted bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MalformedSecret> {
        bytes.try_into().map(Self::from_random).map_err(|_| MalformedSecret)
    }

    /// Returns the bytes, to be encrypted.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.expose_secret().to_vec()
    }

    /// Returns the secret as receivers configure it: `whsec_` and base64.
    pub fn to_text(&self) -> SecretString {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(self.0.expose_secret())).into()
    }

    fn sign(&self, content: &[u8]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.0.expose_secret());
        format!("v1,{}", BASE64_STANDARD.encode(hmac::sign(&key, content)))
    }
}

/// Returns the header `webhook-id`.
pub fn webhook_id(id: Uuid) -> String {
    format!("msg_{}", id.simple())
}

/// Returns the header `webhook-signature`: one signature per secret. `timestamp` is in seconds since 1970.
pub fn signatures(secrets: &[WebhookSecret], id: &str, timestamp: i64, body: &str) -> String {
    let content = format!("{id}.{timestamp}.{body}");
    let signatures: Vec<_> = secrets.iter().map(|secret| secret.sign(content.as_bytes())).collect();
    signatures.join(" ")
}

/// Dates of the signing secrets of an account.
#[derive(Debug, Clone)]
pub struct SecretStatus {
    /// Time of creation. `None`: it is created at first use.
    pub made_at: Option<OffsetDateTime>,
    /// Time until which the previous secret signs as well.
    pub former_until: Option<OffsetDateTime>,
    /// The secret itself, while it is revealed.
    pub shown: Option<SecretString>,
}

impl SecretStatus {
    /// Returns the secret as text, while it is revealed.
    pub fn revealed(&self) -> Option<&str> {
        self.shown.as_ref().map(ExposeSecret::expose_secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(first: u8) -> WebhookSecret {
        WebhookSecret::from_random(std::array::from_fn(|index| first + index as u8))
    }

    #[test]
    fn a_known_signature() {
        let body = r#"{"status":"success"}"#;
        let of_one = signatures(&[secret(0)], "msg_1", 1_700_000_000, body);
        assert_eq!(of_one, "v1,i0mkkcVkgDAc9k8aKWcgdWgIUnW09BpPmBbEz+BwF9M=");
        let of_two = signatures(&[secret(7), secret(0)], "msg_1", 1_700_000_000, body);
        let (first, second) = of_two.split_once(' ').expect("two");
        assert_eq!(second, of_one);
        assert_ne!(first, of_one);
    }

    #[test]
    fn receivers_get_it_in_base64() {
        let text = secret(0).to_text();
        assert_eq!(
            text.expose_secret(),
            "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        );
        assert!(WebhookSecret::from_bytes(&secret(1).to_bytes()).is_ok());
        assert!(WebhookSecret::from_bytes(b"short").is_err());
        assert!(!format!("{:?}", secret(65)).contains("65"));
    }
}
