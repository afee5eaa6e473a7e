//! Passkeys as a second factor (Web Authentication, level 3). An authenticator signs a challenge for the domain of this
//! service. Each challenge is valid once, so a signature is useless to others, and other domains obtain none.
//!
//! User verification by finger, face or PIN is required, so that an unattended device is not enough. Attestation of the
//! authenticator's maker is not requested.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::Duration;
use url::Url;
use webauthn_rs::{
    Webauthn, WebauthnBuilder,
    prelude::{Passkey, PasskeyAuthentication, PasskeyRegistration, WebauthnError},
};

use crate::{email::Email, ids::UserId, second_factor::PATIENCE};

/// Maximum number of passkeys per user.
pub const MAX_PASSKEYS: usize = 10;
/// How long a challenge is valid: as long as the second step of a log-in.
pub const CHALLENGE_LASTS: Duration = PATIENCE;
/// Maximum size of an authenticator's response in bytes; real ones are far smaller.
const LARGEST_ANSWER: usize = 64 * 1024;
/// The service's name in authenticators.
const NAME: &str = "Platen";

/// Why an authenticator's response is refused. For the log.
#[derive(Debug, thiserror::Error)]
pub enum PasskeyError {
    /// The response is not JSON of the expected form, or is too large.
    #[error("the authenticator's response can't be parsed")]
    Unreadable,
    /// Options or credential can't be serialized.
    #[error("options or credential could not be serialized: {0}")]
    Unwritable(#[from] serde_json::Error),
    /// The response does not match challenge, domain or passkey, or the passkey was cloned.
    #[error(transparent)]
    Ceremony(#[from] WebauthnError),
}

/// The service as a relying party of authenticators.
pub struct RelyingParty(Webauthn);

/// The options for a browser's request to an authenticator, and the challenge against which the response is checked.
pub struct Asked<C> {
    /// JSON for the browser: `PublicKeyCredentialCreationOptionsJSON` or `PublicKeyCredentialRequestOptionsJSON`.
    pub options: String,
    /// Stays on the server.
    pub challenge: C,
}

/// The challenge for a new passkey.
#[derive(Serialize, Deserialize)]
pub struct Registration(PasskeyRegistration);

/// The challenge for one of a user's passkeys.
#[derive(Serialize, Deserialize)]
pub struct Authentication(PasskeyAuthentication);

/// The stored data of a passkey, none of which is secret.
pub struct Credential {
    /// The authenticator's credential id.
    pub id: Vec<u8>,
    /// The public key and its metadata.
    pub stored: Value,
}

/// A successful authentication with a passkey.
pub struct Use {
    /// The updated credential, to be stored.
    pub credential: Credential,
    /// The authenticator's signature counter; 0 if it doesn't count.
    pub sign_count: u32,
}

impl RelyingParty {
    /// Creates the relying party for an address. Returns `None` if its host is not a domain name, which passkeys are
    /// bound to.
    pub fn at(base_url: &Url) -> Option<Self> {
        let builder = WebauthnBuilder::new(base_url.domain()?, base_url).ok()?;
        builder.rp_name(NAME).build().ok().map(Self)
    }

    /// Starts the registration of a new passkey for a user. `stored` are the user's passkeys, which are excluded.
    pub fn begin_registration(
        &self,
        user: UserId,
        email: &Email,
        stored: Vec<Value>,
    ) -> Result<Asked<Registration>, PasskeyError> {
        let known = read(stored).iter().map(|passkey| passkey.cred_id().clone()).collect();
        let (options, challenge) =
            self.0
                .start_passkey_registration(user.0, email.as_str(), email.as_str(), Some(known))?;
        Ok(Asked {
            options: serde_json::to_string(&options.public_key)?,
            challenge: Registration(challenge),
        })
    }

    /// Verifies the response to a registration.
    pub fn finish_registration(&self, challenge: &Registration, answer: &str) -> Result<Credential, PasskeyError> {
        let passkey = self.0.finish_passkey_registration(&parse(answer)?, &challenge.0)?;
        Credential::of(&passkey)
    }

    /// Starts the authentication with one of a user's passkeys. Returns `None` if `stored` contains none.
    pub fn begin_authentication(&self, stored: Vec<Value>) -> Result<Option<Asked<Authentication>>, PasskeyError> {
        let passkeys = read(stored);
        if passkeys.is_empty() {
            return Ok(None);
        }
        let (options, challenge) = self.0.start_passkey_authentication(&passkeys)?;
        Ok(Some(Asked {
            options: serde_json::to_string(&options.public_key)?,
            challenge: Authentication(challenge),
        }))
    }

    /// Verifies the response to an authentication. `stored` are the user's current passkeys, which must include the
    /// used one.
    pub fn finish_authentication(
        &self,
        challenge: &Authentication,
        stored: Vec<Value>,
        answer: &str,
    ) -> Result<Use, PasskeyError> {
        let result = self.0.finish_passkey_authentication(&parse(answer)?, &challenge.0)?;
        let mut passkeys = read(stored).into_iter();
        let passkey = passkeys.find(|passkey| passkey.cred_id() == result.cred_id());
        let mut passkey = passkey.ok_or(WebauthnError::CredentialNotFound)?;
        passkey.update_credential(&result);
        Ok(Use {
            credential: Credential::of(&passkey)?,
            sign_count: result.counter(),
        })
    }
}

impl Credential {
    fn of(passkey: &Passkey) -> Result<Self, PasskeyError> {
        Ok(Self {
            id: passkey.cred_id().clone(),
            stored: serde_json::to_value(passkey)?,
        })
    }
}

/// Ignores passkeys that another release wrote and this one can't read; the others remain usable.
fn read(stored: Vec<Value>) -> Vec<Passkey> {
    let passkeys = stored.into_iter().map(serde_json::from_value);
    passkeys.filter_map(Result::ok).collect()
}

fn parse<'a, T: Deserialize<'a>>(answer: &'a str) -> Result<T, PasskeyError> {
    if answer.len() > LARGEST_ANSWER {
        return Err(PasskeyError::Unreadable);
    }
    serde_json::from_str(answer).map_err(|_| PasskeyError::Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Option<RelyingParty> {
        RelyingParty::at(&Url::parse(address).expect("an address"))
    }

    #[test]
    fn only_an_address_with_a_name_has_passkeys() {
        for address in [
            "https://platen.example/",
            "http://localhost:3000/",
            "https://a.example/below/",
        ] {
            assert!(at(address).is_some(), "{address}");
        }
        for address in ["http://127.0.0.1:3000/", "http://[::1]/"] {
            assert!(at(address).is_none(), "{address}");
        }
    }

    #[test]
    fn a_new_passkey_is_to_show_its_person_and_not_its_maker() {
        let email: Email = "ann@example.org".parse().expect("an address");
        let here = at("https://platen.example/").expect("a name");
        let asked = here.begin_registration(UserId::generate(), &email, Vec::new());
        let options: Value = serde_json::from_str(&asked.expect("options").options).expect("JSON");
        assert_eq!(options["rp"]["id"], "platen.example");
        assert_eq!(options["authenticatorSelection"]["userVerification"], "required");
        assert_eq!(options["attestation"], "none");
        assert!(here.begin_authentication(Vec::new()).expect("nothing").is_none());
    }

    #[test]
    fn what_is_no_answer_is_not_read() {
        for answer in ["", "{}", "null", &"[".repeat(LARGEST_ANSWER + 1)] {
            let read: Result<webauthn_rs::prelude::PublicKeyCredential, _> = parse(answer);
            assert!(matches!(read, Err(PasskeyError::Unreadable)));
        }
    }
}
