//! What the operator opens in spite of the address policy.

use std::str::FromStr;

/// `PLATEN_EGRESS_ALLOW`: comma-separated `host`, `host:port`, address, `address:port`, network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {}

/// An entry that says nothing we can follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AllowListError(String);

impl FromStr for AllowList {
    type Err = AllowListError;

    fn from_str(_text: &str) -> Result<Self, Self::Err> {
        Ok(Self {})
    }
}
