//! Passwords: bounds and hashing by argon2id.

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use secrecy::{ExposeSecret, SecretString};

/// Shorter ones fall to guessing (NIST SP 800-63B, 5.1.1.2, asks for at least 8).
const MIN_CHARACTERS: usize = 10;
/// Longer ones only cost time.
const MAX_BYTES: usize = 1024;

/// A password that may be chosen.
#[derive(Debug, Clone)]
pub struct Password(SecretString);

/// The password can't be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a password has at least {MIN_CHARACTERS} characters and at most {MAX_BYTES} bytes")]
pub struct InvalidPassword;

/// Hashing failed, for want of memory or randomness.
#[derive(Debug, thiserror::Error)]
#[error("the password could not be hashed: {0}")]
pub struct HashingFailed(argon2::password_hash::Error);

impl Password {
    /// Checks its length.
    pub fn parse(text: String) -> Result<Self, InvalidPassword> {
        if text.chars().count() < MIN_CHARACTERS || text.len() > MAX_BYTES {
            return Err(InvalidPassword);
        }
        Ok(Self(text.into()))
    }

    /// As a PHC string, argon2id with 19 MiB, 2 passes, 1 lane (the crate's default and OWASP's advice). Takes about
    /// 20 ms of one core: call it on a blocking thread.
    pub fn hash(&self) -> Result<String, HashingFailed> {
        Argon2::default()
            .hash_password(self.0.expose_secret().as_bytes())
            .map(|hash| hash.to_string())
            .map_err(HashingFailed)
    }

    /// Whether a stored hash is this password's. Takes as long as [`Self::hash`].
    pub fn matches(&self, stored: &str) -> bool {
        PasswordHash::new(stored).is_ok_and(|hash| {
            Argon2::default()
                .verify_password(self.0.expose_secret().as_bytes(), &hash)
                .is_ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_argon2id_and_matches_only_its_password() {
        let password = Password::parse("correct horse".into()).unwrap();
        let hash = password.hash().unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(password.matches(&hash));
        assert!(!Password::parse("battery staple".into()).unwrap().matches(&hash));
        assert!(!password.matches("not a hash"));
    }

    #[test]
    fn too_short_and_too_long_are_refused() {
        assert_eq!(Password::parse("nine char".into()).map(|_| ()), Err(InvalidPassword));
        assert_eq!(Password::parse("x".repeat(1025)).map(|_| ()), Err(InvalidPassword));
    }
}
