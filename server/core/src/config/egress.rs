//! Private hosts that pages may reach, in addition to public addresses.

use platen_egress::allow::AllowList;

use crate::config::reader::{Reader, Setting};

const ALLOW: Setting = Setting::new("PLATEN_EGRESS_ALLOW", "host, host:port, address, network")
    .default("none")
    .purpose("Private hosts that pages may reach despite the address policy, separated by commas.");

pub(super) const SETTINGS: &[&Setting] = &[&ALLOW];

#[derive(Debug)]
pub struct EgressConfig {
    /// Exceptions from the address policy.
    pub allow: AllowList,
}

impl EgressConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let allow = reader.parsed_if_set(&ALLOW, |text| text.parse().ok());
        Self {
            allow: allow.unwrap_or_default(),
        }
    }
}
