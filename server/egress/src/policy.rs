//! The address policy: which addresses may be dialled.

mod ranges;

use std::net::IpAddr;

use url::{Host, Url};

use crate::allow::AllowList;

/// Refuses every address that is not public, except those on the operator's [`AllowList`].
#[derive(Debug, Clone, Default)]
pub struct AddressPolicy {
    allow: AllowList,
}

/// The rule that refused a connection, in words for the user. Never contains the address, which might reveal the
/// internal network.
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
    /// 169.254.0.0/16, which contains the metadata services of clouds, and `fe80::/10`.
    #[error("a link-local address")]
    LinkLocal,
    /// 168.63.129.16, Azure's host agent: a metadata service at an otherwise public address.
    #[error("an address of a cloud's metadata service")]
    Metadata,
    /// 224.0.0.0/4, `ff00::/8`.
    #[error("a multicast address")]
    Multicast,
    /// Documentation, benchmarking, protocol assignments, and ranges that are unassigned or withdrawn.
    #[error("an address reserved for special use")]
    Reserved,
    /// An IPv6 address that embeds an IPv4 address: mapped, compatible, NAT64, 6to4, Teredo.
    #[error("an IPv4 address written as an IPv6 address")]
    EmbeddedIpv4,
    /// Port 0, which can't be dialled and no allow list opens.
    #[error("port 0")]
    PortZero,
}

impl AddressPolicy {
    /// Creates a policy with the operator's exceptions.
    pub fn new(allow: AllowList) -> Self {
        Self { allow }
    }

    /// Checks whether `address` may be dialled for `host` at `port`. `host` is spelled as in a parsed URL, an IPv6
    /// address without brackets.
    pub fn check(&self, host: &str, address: IpAddr, port: u16) -> Result<(), Refusal> {
        if port == 0 {
            return Err(Refusal::PortZero);
        }
        match ranges::special_use(address) {
            Some(refusal) if !self.allow.allows(host, address, port) => Err(refusal),
            _ => Ok(()),
        }
    }

    /// Checks `url` without resolving its name: refuses addresses that [`Self::check`] refuses, `localhost` unless
    /// allowed, and port 0. Other names pass and must be checked again once resolved.
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

    /// Checks whether any of `addresses` may be dialled; the error is the rule that refused the first.
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

/// The addresses of `localhost`, which is never passed to a resolver (RFC 6761, 6.3).
pub(crate) const LOOPBACK: [IpAddr; 2] = [
    IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
    IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
];

/// Returns whether `name` is `localhost` or a name below it.
pub(crate) fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allow: &str) -> AddressPolicy {
        AddressPolicy::new(allow.parse().unwrap())
    }

    fn literal(allow: &str, url: &str) -> Result<(), Refusal> {
        policy(allow).check_literal(&Url::parse(url).unwrap())
    }

    #[test]
    fn every_spelling_of_a_special_address_is_refused() {
        for (url, refusal) in [
            ("http://127.0.0.1/", Refusal::Loopback),
            ("http://127.1/", Refusal::Loopback),
            ("http://127.0.1/", Refusal::Loopback),
            ("http://2130706433/", Refusal::Loopback),
            ("http://0x7f000001/", Refusal::Loopback),
            ("http://0x7F.0.0.0x1/", Refusal::Loopback),
            ("http://0177.0.0.1/", Refusal::Loopback),
            ("http://017700000001/", Refusal::Loopback),
            ("http://127.0.0.1./", Refusal::Loopback),
            ("http://%31%32%37.0.0.1/", Refusal::Loopback),
            ("http://127。0。0。1/", Refusal::Loopback),
            ("http://①②⑦.0.0.1/", Refusal::Loopback),
            ("http://user:password@127.0.0.1:8080/", Refusal::Loopback),
            ("https://localhost/", Refusal::Loopback),
            ("https://LOCALHOST./", Refusal::Loopback),
            ("https://a.b.localhost/", Refusal::Loopback),
            ("ws://ｌocalhost/", Refusal::Loopback),
            ("http://[::1]/", Refusal::Loopback),
            ("http://[0:0:0:0:0:0:0:1]/", Refusal::Loopback),
            ("http://0/", Refusal::Unspecified),
            ("http://0.0.0.0/", Refusal::Unspecified),
            ("http://[::]/", Refusal::Unspecified),
            ("http://[::127.0.0.1]/", Refusal::EmbeddedIpv4),
            ("http://[::ffff:127.0.0.1]/", Refusal::EmbeddedIpv4),
            ("http://[::ffff:7f00:1]/", Refusal::EmbeddedIpv4),
            ("http://[::ffff:8.8.8.8]/", Refusal::EmbeddedIpv4),
            ("http://[64:ff9b::127.0.0.1]/", Refusal::EmbeddedIpv4),
            ("http://[64:ff9b:1::a00:1]/", Refusal::EmbeddedIpv4),
            ("http://[2002:7f00:1::]/", Refusal::EmbeddedIpv4),
            ("http://[2001:0:7f00:1::]/", Refusal::EmbeddedIpv4),
            ("http://10.0.0.1/", Refusal::Private),
            ("http://10.1/", Refusal::Private),
            ("http://0xac100001/", Refusal::Private),
            ("http://192.168.257/", Refusal::Private),
            ("http://[fd00::1]/", Refusal::Private),
            ("http://[fec0::1]/", Refusal::Private),
            ("http://169.254.169.254/latest/meta-data/", Refusal::LinkLocal),
            ("http://2852039166/", Refusal::LinkLocal),
            ("http://[fe80::1]/", Refusal::LinkLocal),
            ("http://[fd00:ec2::254]/", Refusal::Private),
            ("http://168.63.129.16/", Refusal::Metadata),
            ("http://100.100.100.200/", Refusal::CarrierNat),
            ("http://224.0.0.1/", Refusal::Multicast),
            ("http://[ff02::1]/", Refusal::Multicast),
            ("http://255.255.255.255/", Refusal::Reserved),
            ("http://[2001:db8::1]/", Refusal::Reserved),
            ("http://a.example:0/", Refusal::PortZero),
            ("http://93.184.216.34:0/", Refusal::PortZero),
        ] {
            assert_eq!(literal("", url), Err(refusal), "{url}");
        }
    }

    #[test]
    fn public_addresses_and_names_pass() {
        for url in [
            "http://93.184.216.34/",
            "https://[2606:2800:220:1::1]:8443/",
            "https://a.example/",
            "https://localhost.example/",
            "https://notlocalhost/",
        ] {
            assert_eq!(literal("", url), Ok(()), "{url}");
        }
    }

    #[test]
    fn the_operator_opens_what_is_named_and_nothing_else() {
        assert_eq!(literal("127.0.0.1:3000", "http://127.0.0.1:3000/"), Ok(()));
        assert_eq!(literal("127.0.0.1:3000", "http://0x7f.1:3000/"), Ok(()));
        assert_eq!(literal("127.0.0.1:3000", "http://localhost:3000/"), Ok(()));
        assert_eq!(literal("[::1]:3000", "http://localhost:3000/"), Ok(()));
        assert_eq!(literal("localhost", "http://localhost/"), Ok(()));
        assert_eq!(
            literal("127.0.0.1:3000", "http://127.0.0.1:3001/"),
            Err(Refusal::Loopback)
        );
        assert_eq!(
            literal("127.0.0.1:3000", "http://localhost:80/"),
            Err(Refusal::Loopback)
        );
        assert_eq!(
            literal("127.0.0.1", "http://[::ffff:127.0.0.1]/"),
            Err(Refusal::EmbeddedIpv4)
        );
        assert_eq!(literal("localhost", "http://127.0.0.1/"), Err(Refusal::Loopback));
        assert_eq!(literal("127.0.0.0/8", "http://127.0.0.1:0/"), Err(Refusal::PortZero));
    }

    #[test]
    fn a_refusal_does_not_tell_the_address() {
        let address: IpAddr = "10.9.8.7".parse().unwrap();
        let refusal = policy("").check("a.example", address, 80).unwrap_err();
        assert_eq!(refusal.to_string(), "an address of a private network");
    }
}
