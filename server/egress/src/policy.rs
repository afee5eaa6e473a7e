//! Which addresses may be dialled.

mod ranges;

use std::net::IpAddr;

use url::{Host, Url};

use crate::allow::AllowList;

/// Refuses every address that is not public, but for those that the operator opened.
#[derive(Debug, Clone, Default)]
pub struct AddressPolicy {
    allow: AllowList,
}

/// The rule that refused a connection, in words for the user; never the address, which may tell of the inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// 127.0.0.0/8, `::1`, `localhost`, names below `localhost`.
    #[error("a loopback address")]
    Loopback,
    /// 0.0.0.0/8, `::`.
    #[error("an unspecified address")]
    Unspecified,
    /// RFC 1918 and unique local addresses (RFC 4193).
    #[error("an address of a private network")]
    Private,
    /// 100.64.0.0/10 (RFC 6598).
    #[error("an address shared behind a carrier's NAT")]
    CarrierNat,
    /// 169.254.0.0/16, where clouds keep their metadata service, and `fe80::/10`.
    #[error("a link-local address")]
    LinkLocal,
    /// A metadata service that looks like a public address.
    #[error("an address of a cloud's metadata service")]
    Metadata,
    /// 224.0.0.0/4, `ff00::/8`.
    #[error("a multicast address")]
    Multicast,
    /// Documentation, benchmarking, protocol assignments, all that nobody may use yet or any more.
    #[error("an address reserved for special use")]
    Reserved,
    /// An IPv6 address that stands for an IPv4 address: mapped, compatible, NAT64, 6to4, Teredo.
    #[error("an IPv4 address written as an IPv6 address")]
    EmbeddedIpv4,
    /// No such port.
    #[error("port 0")]
    PortZero,
}

impl AddressPolicy {
    /// The policy with the operator's exceptions.
    pub fn new(allow: AllowList) -> Self {
        Self { allow }
    }

    /// Whether `address` may be dialled for `host` at `port`; `host` as a parsed URL holds it, an IPv6 address without
    /// brackets.
    pub fn check(&self, host: &str, address: IpAddr, port: u16) -> Result<(), Refusal> {
        if port == 0 {
            return Err(Refusal::PortZero);
        }
        match ranges::special_use(address) {
            Some(refusal) if !self.allow.allows(host, address, port) => Err(refusal),
            _ => Ok(()),
        }
    }

    /// What can be said of `url` without looking its name up: refuses an address that [`Self::check`] refuses, and
    /// `localhost`.
    pub fn check_literal(&self, url: &Url) -> Result<(), Refusal> {
        let port = url.port_or_known_default().unwrap_or_default();
        match url.host() {
            Some(Host::Ipv4(address)) => self.check(&address.to_string(), address.into(), port),
            Some(Host::Ipv6(address)) => self.check(&address.to_string(), address.into(), port),
            Some(Host::Domain(name)) if is_localhost(name) => self.check_any(name, &LOOPBACK, port),
            Some(Host::Domain(_)) if port == 0 => Err(Refusal::PortZero),
            Some(Host::Domain(_)) | None => Ok(()),
        }
    }

    /// Whether any of `addresses` may be dialled; else the rule that refused the first.
    fn check_any(&self, host: &str, addresses: &[IpAddr], port: u16) -> Result<(), Refusal> {
        let mut first = Ok(());
        for address in addresses {
            match self.check(host, *address, port) {
                Ok(()) => return Ok(()),
                refusal => first = first.and(refusal),
            }
        }
        first
    }
}

/// What `localhost` resolves to, whatever the resolver would say (RFC 6761, 6.3).
pub(crate) const LOOPBACK: [IpAddr; 2] = [
    IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
    IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
];

/// `localhost` and the names below it.
pub(crate) fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}
