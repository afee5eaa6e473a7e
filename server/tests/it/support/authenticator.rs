//! A software authenticator: creates a passkey and signs with it, with responses in the form of a browser's (Web
//! Authentication Level 3).

use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The origin of the service in tests without a process.
pub(crate) const ORIGIN: &str = "https://platen.example";

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const HAS_CREDENTIAL: u8 = 0x40;

/// A passkey. Tests change the public fields to provoke errors.
pub(crate) struct Authenticator {
    key: EcdsaKeyPair,
    pub(crate) id: Vec<u8>,
    /// The origin that the user believes to be on.
    pub(crate) origin: &'static str,
    /// Whether it has verified the user.
    pub(crate) verifies: bool,
    /// The signature counter.
    pub(crate) count: u32,
    /// Whether it increments the counter.
    pub(crate) counts: bool,
}

impl Authenticator {
    pub(crate) fn new() -> Self {
        Self {
            key: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).expect("a key"),
            id: rand::random::<[u8; 16]>().to_vec(),
            origin: ORIGIN,
            verifies: true,
            count: 0,
            counts: true,
        }
    }

    /// Responds to a creation challenge.
    pub(crate) fn make(&mut self, options: &str) -> String {
        let options: Value = serde_json::from_str(options).expect("JSON");
        let relying_party = options["rp"]["id"].as_str().expect("a name");
        let mut data = self.data(relying_party, HAS_CREDENTIAL);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).expect("short").to_be_bytes());
        data.extend(&self.id);
        data.extend(self.public_key());
        // {"fmt": "none", "attStmt": {}, "authData": …}
        let mut attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58".to_vec();
        attestation.push(u8::try_from(data.len()).expect("short"));
        attestation.extend(data);
        self.answer(&json!({
            "clientDataJSON": self.client_data("webauthn.create", &options),
            "attestationObject": encode(&attestation),
            "transports": ["internal"],
        }))
    }

    /// Responds to an authentication challenge.
    pub(crate) fn show(&mut self, options: &str) -> String {
        let options: Value = serde_json::from_str(options).expect("JSON");
        let data = self.data(options["rpId"].as_str().expect("a name"), 0);
        let client_data = self.client_data("webauthn.get", &options);
        let signed = BASE64URL_NOPAD.decode(client_data.as_bytes()).expect("base64");
        let signed = [&data[..], &Sha256::digest(signed)].concat();
        let signature = self.key.sign(&aws_lc_rs::rand::SystemRandom::new(), &signed);
        self.answer(&json!({
            "clientDataJSON": client_data,
            "authenticatorData": encode(&data),
            "signature": encode(signature.expect("signed").as_ref()),
        }))
    }

    fn answer(&self, response: &Value) -> String {
        let id = encode(&self.id);
        json!({
            "id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {},
            "authenticatorAttachment": "platform",
        })
        .to_string()
    }

    fn client_data(&self, kind: &str, options: &Value) -> String {
        let data = json!({
            "type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": false,
        });
        encode(data.to_string().as_bytes())
    }

    fn data(&mut self, relying_party: &str, flags: u8) -> Vec<u8> {
        self.count += u32::from(self.counts);
        let mut data = Sha256::digest(relying_party).to_vec();
        data.push(flags | USER_PRESENT | if self.verifies { USER_VERIFIED } else { 0 });
        data.extend(self.count.to_be_bytes());
        data
    }

    /// Returns the COSE key {1: 2, 3: -7, -1: 1, -2: x, -3: y}: a P-256 point for ES256 (RFC 9053).
    fn public_key(&self) -> Vec<u8> {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        [b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20", x, b"\x22\x58\x20", y].concat()
    }
}

fn encode(bytes: &[u8]) -> String {
    BASE64URL_NOPAD.encode(bytes)
}
