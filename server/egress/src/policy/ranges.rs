//! The addresses that are not for everybody.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Refusal;

/// Why an address is not public; `None` for a public one.
///
/// After the IANA special-purpose registries (RFC 6890 and its successors): of IPv4 all but what they list is public,
/// of IPv6 only `2000::/3` without what they list.
pub(super) fn special_use(address: IpAddr) -> Option<Refusal> {
    match address {
        IpAddr::V4(address) => special_use_v4(address),
        IpAddr::V6(address) => special_use_v6(address),
    }
}

fn special_use_v4(address: Ipv4Addr) -> Option<Refusal> {
    match address.octets() {
        [0, ..] => Some(Refusal::Unspecified),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some(Refusal::Private),
        [100, 64..=127, ..] => Some(Refusal::CarrierNat),
        [127, ..] => Some(Refusal::Loopback),
        // Azure's host agent hands out credentials at what looks like a public address.
        [168, 63, 129, 16] => Some(Refusal::Metadata),
        [169, 254, ..] => Some(Refusal::LinkLocal),
        // Protocol assignments; documentation, three times; 6to4 relays, withdrawn; benchmarking; reserved.
        [192, 0, 0 | 2, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [240..=255, ..] => Some(Refusal::Reserved),
        [224..=239, ..] => Some(Refusal::Multicast),
        _ => None,
    }
}

fn special_use_v6(address: Ipv6Addr) -> Option<Refusal> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(Refusal::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Refusal::Loopback),
        // Compatible, mapped, translated (RFC 2765), NAT64 (both prefixes), Teredo, 6to4.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..]
        | [0x64, 0xff9b, 0 | 1, ..]
        | [0x2001, 0, ..]
        | [0x2002, ..] => Some(Refusal::EmbeddedIpv4),
        // Protocol assignments, benchmarking and ORCHID among them; documentation, twice.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some(Refusal::Reserved),
        [0x2000..=0x3fff, ..] => None,
        // Unique local addresses, and the site-local ones that came before them (RFC 3879).
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Some(Refusal::Private),
        [0xfe80..=0xfebf, ..] => Some(Refusal::LinkLocal),
        [0xff00..=0xffff, ..] => Some(Refusal::Multicast),
        _ => Some(Refusal::Reserved),
    }
}
