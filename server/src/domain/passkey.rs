//! Passkeys as a second factor (Web Authentication, level 3). An authenticator signs a challenge, which counts once, for the name in
//! our address; so what it signs is of no use to anybody else, and an address of somebody else's gets nothing signed.
//!
//! Each wants its person to show themselves, by a finger, a face or a PIN: a device that was left lying is no passkey. Who
//! made the authenticator is not asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::Duration;
use url::Url;
use webauthn_rs::{
    Webauthn, WebauthnBuilder,
    prelude::{Passkey, PasskeyAuthentication, PasskeyRegistration, WebauthnError},
};

use crate::domain::{email::Email, ids::UserId, second_factor::PATIENCE};

/// Passkeys that a person may have.
pub const MAX_PASSKEYS: usize = 10;
/// A challenge counts for so long: as long as the second step of a log-in waits.
pub const CHALLENGE_LASTS: Duration = PATIENCE;
/// Answers are far smaller.
const LARGEST_ANSWER: usize = 64 * 1024;
/// What authenticators show beside the person's name.
const NAME: &str = "Platen";

/// Why an answer of an authenticator is refused. For the log.
#[derive(Debug, thiserror::Error)]
pub enum PasskeyError {
    /// It is no answer, or one that is far too large.
    #[error("the answer can't be read")]
    Unreadable,
    /// What is asked, or is to be stored, can't be written as JSON.
    #[error("what is to be written is no JSON: {0}")]
    Unwritable(#[from] serde_json::Error),
    /// It is not an answer to this challenge, for this address, by this passkey; or the passkey has been copied.
    #[error(transparent)]
    Ceremony(#[from] WebauthnError),
}

/// The service, as authenticators know it.
pub struct RelyingParty(Webauthn);

/// What a browser is to ask an authenticator, as JSON, and what its answer is checked against.
pub struct Asked<C> {
    /// For the browser: `PublicKeyCredentialCreationOptionsJSON` or `PublicKeyCredentialRequestOptionsJSON`.
    pub options: String,
    /// For us; it never leaves the server.
    pub challenge: C,
}

/// The challenge for a new passkey.
#[derive(Serialize, Deserialize)]
pub struct Registration(PasskeyRegistration);

/// The challenge for one of a person's passkeys.
#[derive(Serialize, Deserialize)]
pub struct Authentication(PasskeyAuthentication);

/// What is stored of a passkey. Nothing in it is secret.
pub struct Credential {
    /// What its authenticator calls it.
    pub id: Vec<u8>,
    /// The public key, and what goes with it.
    pub stored: Value,
}

/// One of a person's passkeys has signed.
pub struct Use {
    /// It, as it is to be stored from now on.
    pub credential: Credential,
    /// How often it says that it has signed; 0: it does not count.
    pub sign_count: u32,
}

impl RelyingParty {
    /// The service at this address. `None`: a passkey is bound to a name, and this address has none.
    pub fn at(base_url: &Url) -> Option<Self> {
        let builder = WebauthnBuilder::new(base_url.domain()?, base_url).ok()?;
        builder.rp_name(NAME).build().ok().map(Self)
    }

    /// Asks for a new passkey of a person, whom it is to name by their address; none that they have already.
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

    /// Takes the answer to it.
    pub fn finish_registration(&self, challenge: &Registration, answer: &str) -> Result<Credential, PasskeyError> {
        let passkey = self.0.finish_passkey_registration(&parse(answer)?, &challenge.0)?;
        Credential::of(&passkey)
    }

    /// Asks for one of a person's passkeys. `None`: they have none.
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

    /// Takes the answer to it. `stored`: the person's passkeys now, of which one has to be it.
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

/// What another version of this program wrote, and this one can't read, can't be used; the others can.
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
