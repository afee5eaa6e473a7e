//! The master key, which encrypts secrets at rest.

use std::sync::Arc;

use platen_domain::encryption::SecretKey;

use crate::config::reader::{Reader, Setting};

const SECRET_KEY: Setting = Setting {
    name: "PLATEN_SECRET_KEY",
    purpose: "Master key that encrypts secrets and idempotent responses; create one with `openssl rand -base64 32`. \
              `serve` requires it when DATABASE_URL is set.",
    allowed: "32 bytes as base64 or as 64 hexadecimal digits",
    default: "a key that is generated in the data folder",
};

const FORMER_SECRET_KEY: Setting = Setting {
    name: "PLATEN_FORMER_SECRET_KEY",
    purpose: "The previous key that PLATEN_SECRET_KEY replaces, until `platen secret-key rewrap` has run.",
    allowed: "32 bytes as base64 or as 64 hexadecimal digits",
    default: "none",
};

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
