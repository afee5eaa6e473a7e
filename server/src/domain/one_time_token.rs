//! What the links in mails hold: proof that somebody reads what is sent to an address. Each is good for one use.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use time::Duration;

const BYTES: usize = 32;

/// A token as it stands in a link. Does not print.
#[derive(Debug)]
pub struct OneTimeToken(SecretString);

/// SHA-256 of a token. Tokens are random enough that nothing slower is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenDigest(pub [u8; 32]);

/// What a token is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To end a sign-up.
    Verify,
    /// To choose another password.
    ResetPassword,
    /// To take another address.
    ChangeEmail,
}

impl Purpose {
    /// The word used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::ResetPassword => "reset_password",
            Self::ChangeEmail => "change_email",
        }
    }

    /// From the moment when its mail is written.
    pub fn lifetime(self) -> Duration {
        match self {
            Self::Verify | Self::ChangeEmail => Duration::hours(24),
            Self::ResetPassword => Duration::hours(1),
        }
    }
}

impl OneTimeToken {
    /// The token of random bytes.
    pub fn from_random(random: [u8; BYTES]) -> Self {
        Self(BASE64_URL_SAFE_NO_PAD.encode(random).into())
    }

    /// As it stands in a link: 43 characters that need no escaping there.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// What is stored of it.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest::of(self.expose())
    }
}

impl TokenDigest {
    /// The digest of what a link held, whatever that is.
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
