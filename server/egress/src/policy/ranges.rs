//! Special-purpose address ranges.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Refusal;

/// Returns why an address is not public, or `None` for a public one.
///
/// Follows the IANA special-purpose registries (RFC 6890 and its successors): IPv4 addresses are public unless listed
/// there; IPv6 addresses only within `2000::/3`, unless listed.
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
        // Azure's host agent serves credentials at this otherwise public address.
        [168, 63, 129, 16] => Some(Refusal::Metadata),
        [169, 254, ..] => Some(Refusal::LinkLocal),
        // Protocol assignments; documentation (three ranges); 6to4 relays (withdrawn); benchmarking; reserved.
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
        // Protocol assignments (with benchmarking and ORCHID); documentation (two ranges).
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some(Refusal::Reserved),
        [0x2000..=0x3fff, ..] => None,
        // Unique local addresses, and the site-local addresses that they replaced (RFC 3879).
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Some(Refusal::Private),
        [0xfe80..=0xfebf, ..] => Some(Refusal::LinkLocal),
        [0xff00..=0xffff, ..] => Some(Refusal::Multicast),
        _ => Some(Refusal::Reserved),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_special_range_is_refused_from_its_first_to_its_last_address() {
        use Refusal::{
            CarrierNat, EmbeddedIpv4, LinkLocal, Loopback, Metadata, Multicast, Private, Reserved, Unspecified,
        };
        for (first, last, refusal) in [
            ("0.0.0.0", "0.255.255.255", Unspecified),
            ("10.0.0.0", "10.255.255.255", Private),
            ("100.64.0.0", "100.127.255.255", CarrierNat),
            ("127.0.0.0", "127.255.255.255", Loopback),
            ("168.63.129.16", "168.63.129.16", Metadata),
            ("169.254.0.0", "169.254.255.255", LinkLocal),
            ("172.16.0.0", "172.31.255.255", Private),
            ("192.0.0.0", "192.0.0.255", Reserved),
            ("192.0.2.0", "192.0.2.255", Reserved),
            ("192.88.99.0", "192.88.99.255", Reserved),
            ("192.168.0.0", "192.168.255.255", Private),
            ("198.18.0.0", "198.19.255.255", Reserved),
            ("198.51.100.0", "198.51.100.255", Reserved),
            ("203.0.113.0", "203.0.113.255", Reserved),
            ("224.0.0.0", "239.255.255.255", Multicast),
            ("240.0.0.0", "255.255.255.255", Reserved),
            ("::", "::", Unspecified),
            ("::1", "::1", Loopback),
            ("::2", "::ffff:ffff", EmbeddedIpv4),
            ("::ffff:0.0.0.0", "::ffff:255.255.255.255", EmbeddedIpv4),
            ("::ffff:0:0.0.0.0", "::ffff:0:255.255.255.255", EmbeddedIpv4),
            ("64:ff9b::", "64:ff9b::ffff:ffff", EmbeddedIpv4),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", EmbeddedIpv4),
            ("100::", "100::ffff:ffff:ffff:ffff", Reserved),
            ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", EmbeddedIpv4),
            ("2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
            ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Reserved),
            ("2001:10::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", EmbeddedIpv4),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
            ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private),
            ("fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Reserved),
            ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal),
            ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private),
            ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast),
        ] {
            for address in [first, last] {
                assert_eq!(special_use(address.parse().unwrap()), Some(refusal), "{address}");
            }
        }
    }

    #[test]
    fn the_neighbours_of_special_ranges_are_public() {
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255",
            "198.51.101.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2000::",
            "2001:200::",
            "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:db9::",
            "2003::",
            "2606:2800:220:1::1",
            "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "3fff:1000::",
        ] {
            assert_eq!(special_use(address.parse().unwrap()), None, "{address}");
        }
    }
}
