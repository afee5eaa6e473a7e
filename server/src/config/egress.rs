//! What pages may fetch beside public addresses.

use crate::config::reader::{Reader, Setting};

const ALLOW: Setting = Setting {
    name: "PLATEN_EGRESS_ALLOW",
    purpose: "Private hosts that pages may reach all the same, separated by commas.",
    allowed: "host, host:port, address, network",
    default: "none",
};

pub(super) const SETTINGS: &[&Setting] = &[&ALLOW];

/// See the module.
#[derive(Debug)]
pub struct EgressConfig {
    /// Entries of the list, blanks removed.
    pub allow: Vec<String>,
}

impl EgressConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let text = reader.text(&ALLOW).unwrap_or_default();
        let allow = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        Some(Self {
            allow: allow.map(ToOwned::to_owned).collect(),
        })
    }
}
