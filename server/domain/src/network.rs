//! Networks from which requests are allowed.

use std::{fmt, net::IpAddr, str::FromStr};

use ipnet::IpNet;

/// A network such as `203.0.113.0/24` or `2001:db8::/32`; a single address is a network of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

impl Network {
    /// Returns whether the address belongs to the network. IPv4-mapped IPv6 addresses count as IPv4 addresses.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// The text is neither an address nor a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an address such as 203.0.113.7, or a network such as 203.0.113.0/24 or 2001:db8::/32")]
pub struct InvalidNetwork;

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let network: IpNet = match text.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().into(),
            Err(_) => text.parse().map_err(|_| InvalidNetwork)?,
        };
        Ok(Self(network.trunc()))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(network: &str, address: &str) -> bool {
        let network: Network = network.parse().expect("a network");
        network.contains(address.parse().expect("an address"))
    }

    #[test]
    fn addresses_lie_in_networks() {
        assert!(contains("203.0.113.0/24", "203.0.113.255"));
        assert!(!contains("203.0.113.0/24", "203.0.114.0"));
        assert!(contains("203.0.113.7", "203.0.113.7"));
        assert!(!contains("203.0.113.7", "203.0.113.8"));
        assert!(contains("2001:db8::/32", "2001:db8:1::1"));
        assert!(contains("203.0.113.0/24", "::ffff:203.0.113.9"));
        assert!(contains("::ffff:203.0.113.9", "203.0.113.9"));
        assert!(!contains("0.0.0.0/0", "2001:db8::1"));
    }

    #[test]
    fn a_network_is_written_in_one_way() {
        for (written, shown) in [
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("10.1.2.3", "10.1.2.3/32"),
            ("2001:DB8::", "2001:db8::/128"),
        ] {
            assert_eq!(written.parse::<Network>().expect("a network").to_string(), shown);
        }
        for text in ["", "10.0.0.0/33", "10.0.0", "example.org", "10.0.0.0/8,10.1.0.0/16"] {
            assert_eq!(text.parse::<Network>(), Err(InvalidNetwork), "{text}");
        }
    }
}
