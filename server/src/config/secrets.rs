//! The key under which secrets at rest are sealed.

use std::sync::Arc;

use crate::{
    config::reader::{Fault, Reader, Setting},
    domain::sealing::SecretKey,
};

const SECRET_KEY: Setting = Setting {
    name: "PLATEN_SECRET_KEY",
    purpose: "Key under which secrets and kept answers are sealed; `openssl rand -base64 32` makes one. `serve` needs it \
              when DATABASE_URL is set.",
    allowed: "32 bytes as base64 or as 64 hexadecimal digits",
    default: "a key that is made in the data folder",
};

pub(super) const SETTINGS: &[&Setting] = &[&SECRET_KEY];

/// See the module.
#[derive(Debug)]
pub struct SecretsConfig {
    /// `None`: the one in the data folder.
    pub key: Option<Arc<SecretKey>>,
}

impl SecretsConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let text = reader.text(&SECRET_KEY);
        let key = text.as_deref().and_then(SecretKey::parse);
        if text.is_some() && key.is_none() {
            reader.faults.push(Fault::Secret {
                name: SECRET_KEY.name,
                allowed: SECRET_KEY.allowed,
            });
        }
        Self { key: key.map(Arc::new) }
    }
}
