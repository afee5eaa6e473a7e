//! Private hosts that pages may reach, in addition to public addresses.

use platen_egress::allow::AllowList;

use crate::config::reader::{Reader, Setting};

const ALLOW: Setting = Setting {
    name: "PLATEN_EGRESS_ALLOW",
    purpose: "Private hosts that pages may reach despite the address policy, separated by commas.",
    allowed: "host, host:port, address, network",
    default: "none",
};

pub(super) const SETTINGS: &[&Setting] = &[&ALLOW];

#[derive(Debug)]
pub struct EgressConfig {
    /// Exceptions from the address policy.
    pub allow: AllowList,
}

impl EgressConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let allow = reader.parsed_or(&ALLOW, Some(AllowList::default()), |text| text.parse().ok());
        Some(Self { allow: allow? })
    }
}
