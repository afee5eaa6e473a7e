//! Passwords: length limits, and hashing with argon2id.

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use secrecy::{ExposeSecret, SecretString};

/// Shorter ones can be guessed (NIST SP 800-63B, 5.1.1.2, requires at least 8).
pub const MIN_CHARACTERS: usize = 12;
/// Longer ones would only cost time.
const MAX_BYTES: usize = 1024;

/// Parameters for argon2id recommended by OWASP. A change applies to an existing password at the user's next log-in.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// A password of valid length.
#[derive(Debug, Clone)]
pub struct Password(SecretString);

/// The password is too short or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a password has at least {MIN_CHARACTERS} characters and at most {MAX_BYTES} bytes")]
pub struct InvalidPassword;

/// Hashing failed for lack of memory or randomness.
#[derive(Debug, thiserror::Error)]
#[error("the password could not be hashed: {0}")]
pub struct HashingFailed(argon2::password_hash::Error);

/// The result of comparing a password with a stored hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The password is wrong, or there is none.
    Wrong,
    Right,
    /// The password is right, but its hash has outdated parameters.
    Outdated,
}

impl Password {
    /// Validates the length.
    pub fn parse(text: impl Into<SecretString>) -> Result<Self, InvalidPassword> {
        let secret = text.into();
        let text = secret.expose_secret();
        if text.chars().count() < MIN_CHARACTERS || text.len() > MAX_BYTES {
            return Err(InvalidPassword);
        }
        Ok(Self(secret))
    }

    /// Returns the hash as a PHC string: argon2id with 19 MiB, 2 passes and 1 lane. Takes about 20 ms of processor
    /// time; call it on a blocking thread.
    pub fn hash(&self) -> Result<String, HashingFailed> {
        let hash = current().hash_password(self.0.expose_secret().as_bytes());
        hash.map(|hash| hash.to_string()).map_err(HashingFailed)
    }
}

/// Compares an entered password with a stored hash. Without a hash it compares with a decoy, so that the call takes as
/// long as [`Password::hash`] in any case.
pub fn check(typed: &SecretString, stored: Option<&str>) -> Check {
    let typed = typed.expose_secret();
    // No user has an empty password.
    let typed = if typed.len() > MAX_BYTES { "" } else { typed };
    let decoy = decoy();
    let Ok(hash) = PasswordHash::new(stored.unwrap_or(&decoy)) else {
        return Check::Wrong;
    };
    // Parameters are read from the hash.
    if Argon2::default().verify_password(typed.as_bytes(), &hash).is_err() {
        return Check::Wrong;
    }
    let made_with = Params::try_from(&hash);
    let same = hash.algorithm.as_str() == Algorithm::Argon2id.as_str()
        && hash.version == Some(Version::V0x13.into())
        && made_with.is_ok_and(|made_with| {
            (made_with.m_cost(), made_with.t_cost(), made_with.p_cost()) == (MEMORY_KIB, PASSES, LANES)
        });
    if same { Check::Right } else { Check::Outdated }
}

fn current() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Returns a hash with the current parameters that no password matches.
fn decoy() -> String {
    format!(
        "$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}$AAAAAAAAAAAAAAAAAAAAAA${}",
        "A".repeat(43)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> SecretString {
        text.to_owned().into()
    }

    #[test]
    fn a_hash_is_argon2id_and_matches_only_its_password() {
        let hash = Password::parse("correct horse").expect("sound").hash().expect("a hash");
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_eq!(check(&typed("correct horse"), Some(&hash)), Check::Right);
        for wrong in ["battery staple", "", &"x".repeat(1_000_000)] {
            assert_eq!(check(&typed(wrong), Some(&hash)), Check::Wrong);
        }
        assert_eq!(check(&typed("correct horse"), Some("not a hash")), Check::Wrong);
    }

    #[test]
    fn the_decoy_hash_costs_as_much_as_those_of_users() {
        let decoy = decoy();
        let hash = PasswordHash::new(&decoy).expect("a sound hash");
        let params = Params::try_from(&hash).expect("sound parameters");
        assert_eq!((params.m_cost(), params.t_cost(), params.p_cost()), (19_456, 2, 1));
        assert_eq!(check(&typed("correct horse"), None), Check::Wrong);
    }

    #[test]
    fn a_hash_with_other_parameters_is_outdated() {
        for (algorithm, memory) in [(Algorithm::Argon2id, 1024), (Algorithm::Argon2i, MEMORY_KIB)] {
            let params = Params::new(memory, PASSES, LANES, None).expect("sound");
            let former = Argon2::new(algorithm, Version::V0x13, params);
            let hash = former.hash_password(b"correct horse").expect("a hash").to_string();
            assert_eq!(check(&typed("correct horse"), Some(&hash)), Check::Outdated);
            assert_eq!(check(&typed("battery staple"), Some(&hash)), Check::Wrong);
        }
    }

    #[test]
    fn too_short_and_too_long_are_refused() {
        for text in ["eleven char", &"x".repeat(1025)] {
            assert_eq!(Password::parse(text).map(|_| ()), Err(InvalidPassword));
        }
    }
}
