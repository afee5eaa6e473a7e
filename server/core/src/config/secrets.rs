//! The master key, which encrypts secrets at rest.

use std::sync::Arc;

use platen_domain::encryption::SecretKey;

use crate::config::reader::{Reader, Setting};

const SECRET_KEY: Setting = Setting::new("PLATEN_SECRET_KEY", "32 bytes as base64 or as 64 hexadecimal digits")
    .default("a key that is generated in the data folder")
    .purpose(
        "Master key that encrypts secrets and content of accounts; create one with `openssl rand -base64 32`. \
         `serve` requires it when DATABASE_URL is set.",
    );

const FORMER_SECRET_KEY: Setting = Setting::new(
    "PLATEN_FORMER_SECRET_KEY",
    "32 bytes as base64 or as 64 hexadecimal digits",
)
.default("none")
.purpose("The previous key that PLATEN_SECRET_KEY replaces, until `platen secret-key rewrap` has run.");

pub(super) const SETTINGS: &[&Setting] = &[&SECRET_KEY, &FORMER_SECRET_KEY];

#[derive(Debug)]
pub struct SecretsConfig {
    /// `None`: the key in the data folder.
    pub key: Option<Arc<SecretKey>>,
    /// The previous key, which only decrypts.
    pub former: Option<Arc<SecretKey>>,
}

impl SecretsConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        Self {
            key: reader.secret(&SECRET_KEY, SecretKey::parse).map(Arc::new),
            former: reader.secret(&FORMER_SECRET_KEY, SecretKey::parse).map(Arc::new),
        }
    }
}
