//! Random tokens in links: of mails, which prove that their user receives mail at an address and are valid once, and of documents.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use strum::IntoStaticStr;
use time::Duration;

const BYTES: usize = 32;

/// A token in plain text. Does not print.
#[derive(Debug)]
pub struct OneTimeToken(SecretString);

/// The SHA-256 of a token. Tokens are random, so a slow hash would add no security.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest(pub [u8; 32]);

/// The purpose of a token. The names are used in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Purpose {
    /// To complete a sign-up.
    Verify,
    ResetPassword,
    /// To confirm a new email address.
    ChangeEmail,
}

impl Purpose {
    /// Returns how long a token is valid, from the time when its mail is written.
    pub fn lifetime(self) -> Duration {
        match self {
            Self::Verify | Self::ChangeEmail => Duration::hours(24),
            Self::ResetPassword => Duration::hours(1),
        }
    }
}

impl OneTimeToken {
    /// Creates a token from random bytes.
    pub fn from_random(random: [u8; BYTES]) -> Self {
        Self(BASE64_URL_SAFE_NO_PAD.encode(random).into())
    }

    /// Returns the token for the link: 43 characters that need no escaping.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the digest, which is stored instead of the token.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest::of(self.expose())
    }
}

impl TokenDigest {
    /// Returns the digest of a text from a link, whether or not it is a token.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_needs_no_escaping_and_the_token_does_not_print() {
        let token = OneTimeToken::from_random([0xfb; 32]);
        assert_eq!(token.expose().len(), 43);
        assert!(
            token
                .expose()
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
        assert!(!format!("{token:?}").contains(token.expose()));
        assert_eq!(token.digest(), TokenDigest::of(token.expose()));
    }
}
