//! The operator's exceptions to the address policy.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    num::NonZeroU16,
    str::FromStr,
};

use ipnet::IpNet;

/// `PLATEN_EGRESS_ALLOW`: comma-separated entries, each a `host`, `host:port`, address, `address:port` (an IPv6 address
/// then in brackets) or network.
///
/// A host entry allows every address that the name resolves to, but no other name of the same address. An address or
/// network entry applies under every name. An entry without a port allows all ports. An empty list allows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    entries: Vec<Entry>,
}

/// An entry of [`AllowList`] that has none of the allowed forms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{entry}` {problem}; separate entries with commas, each a host (`intranet.example`), an address (`10.1.2.3`, \
     `fd00::1`), either with a port (`intranet.example:8080`, `[fd00::1]:8080`), or a network (`10.1.0.0/16`)"
)]
pub struct AllowListError {
    entry: String,
    problem: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    subject: Subject,
    port: Option<NonZeroU16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    /// As in a parsed URL: lower case, punycode, no final dot.
    Host(String),
    Network(IpNet),
}

impl AllowList {
    /// Adds the entries of another list.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self
    }

    /// Returns whether an entry allows `address` at `port` for `host`, spelled as in a parsed URL.
    pub(crate) fn allows(&self, host: &str, address: IpAddr, port: u16) -> bool {
        self.entries.iter().any(|entry| {
            entry.port.is_none_or(|open| open.get() == port)
                && match &entry.subject {
                    Subject::Host(name) => name == host.strip_suffix('.').unwrap_or(host),
                    Subject::Network(network) => network.contains(&address),
                }
        })
    }
}

impl FromStr for AllowList {
    type Err = AllowListError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let entries = text.split(',').map(|entry| entry.trim().parse());
        Ok(Self {
            entries: entries.collect::<Result<_, _>>()?,
        })
    }
}

impl FromStr for Entry {
    type Err = AllowListError;

    fn from_str(entry: &str) -> Result<Self, Self::Err> {
        parse_entry(entry).map_err(|problem| AllowListError {
            entry: entry.to_owned(),
            problem,
        })
    }
}

fn parse_entry(entry: &str) -> Result<Entry, &'static str> {
    if entry.is_empty() {
        return Err("is empty");
    }
    if let Some((address, prefix)) = entry.split_once('/') {
        return parse_network(address, prefix);
    }
    if let Ok(address) = entry.parse::<IpAddr>() {
        return Ok(Entry {
            subject: Subject::Network(address.into()),
            port: None,
        });
    }
    if let Ok(address) = entry.parse::<SocketAddr>() {
        return Ok(Entry {
            subject: Subject::Network(address.ip().into()),
            port: Some(NonZeroU16::new(address.port()).ok_or("has port 0")?),
        });
    }
    let (host, port) = match entry.split_once(':') {
        Some((host, port)) => (host, Some(port.parse().map_err(|_| "needs a port from 1 to 65535")?)),
        None => (entry, None),
    };
    Ok(Entry {
        subject: Subject::Host(parse_host(host)?),
        port,
    })
}

fn parse_network(address: &str, prefix: &str) -> Result<Entry, &'static str> {
    let address: IpAddr = address.parse().map_err(|_| "is not a network")?;
    let prefix = prefix.parse().map_err(|_| "has an invalid prefix length")?;
    let network = IpNet::new(address, prefix).map_err(|_| "has a prefix length that exceeds the address")?;
    if network.addr() != network.network() {
        return Err("has address bits set beyond its prefix");
    }
    Ok(Entry {
        subject: Subject::Network(network),
        port: None,
    })
}

fn parse_host(host: &str) -> Result<String, &'static str> {
    match url::Host::parse(host) {
        Ok(url::Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(&name);
            let letters = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || !name.chars().all(letters) {
                return Err("is not a host name");
            }
            Ok(name.to_owned())
        }
        // Short, octal and hexadecimal forms such as `127.1` are valid but easily misread.
        Ok(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => Err("is not an address in its standard form"),
        Err(_) => Err("is not a host name"),
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, entry) in self.entries.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            match (&entry.subject, entry.port) {
                (Subject::Host(name), None) => f.write_str(name)?,
                (Subject::Host(name), Some(port)) => write!(f, "{name}:{port}")?,
                (Subject::Network(network), Some(port)) => SocketAddr::new(network.addr(), port.get()).fmt(f)?,
                (Subject::Network(network), None) => write!(f, "{network}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn allows(list: &str, host: &str, address: &str, port: u16) -> bool {
        let list: AllowList = list.parse().unwrap();
        list.allows(host, address.parse().unwrap(), port)
    }

    #[test]
    fn nothing_is_allowed_by_an_empty_list() {
        assert!(!allows("", "a.example", "10.0.0.1", 80));
        assert!(!allows("  ", "a.example", "10.0.0.1", 80));
    }

    #[test]
    fn a_host_is_allowed_with_all_its_addresses_but_only_by_its_name() {
        assert!(allows("Intranet.Example.", "intranet.example", "10.0.0.1", 80));
        assert!(allows("intranet.example", "intranet.example.", "fd00::1", 443));
        assert!(allows("bücher.example", "xn--bcher-kva.example", "10.0.0.1", 80));
        assert!(!allows("intranet.example", "sub.intranet.example", "10.0.0.1", 80));
        assert!(!allows("intranet.example", "evil.example", "10.0.0.1", 80));
    }

    #[test]
    fn a_port_narrows_an_entry() {
        assert!(allows("a.example:8080", "a.example", "10.0.0.1", 8080));
        assert!(!allows("a.example:8080", "a.example", "10.0.0.1", 80));
        assert!(allows("127.0.0.1:8080", "any.example", "127.0.0.1", 8080));
        assert!(!allows("127.0.0.1:8080", "any.example", "127.0.0.1", 8081));
        assert!(allows("[::1]:8080", "any.example", "::1", 8080));
        assert!(!allows("[::1]:8080", "any.example", "::1", 80));
    }

    #[test]
    fn an_address_or_network_is_opened_under_every_name() {
        let list = "10.1.0.0/16, fd00::/8, 192.168.0.7, ::1";
        for (address, open) in [
            ("10.1.255.1", true),
            ("10.2.0.1", false),
            ("fd12::1", true),
            ("fe80::1", false),
            ("192.168.0.7", true),
            ("192.168.0.8", false),
            ("::1", true),
            ("::ffff:10.1.0.1", false),
        ] {
            assert_eq!(allows(list, "any.example", address, 1234), open, "{address}");
        }
    }

    #[test]
    fn an_error_names_the_entry_and_the_forms() {
        for entry in [
            "",
            "a.example:",
            "a.example:0",
            "a.example:65536",
            "127.0.0.1:0",
            "[::1]:0",
            "[::1]",
            "[::1",
            "http://a.example",
            "*.example",
            "a b",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "10.0.0.0/x",
            "a.example/8",
            "127.1",
            "0x7f000001",
            "2130706433",
            ":80",
            ".",
        ] {
            let list = format!("good.example,{entry},10.0.0.0/8");
            let error = list.parse::<AllowList>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{entry}` ")), "{error}");
            assert!(error.contains("`10.1.0.0/16`"), "{error}");
        }
    }

    fn any_entry() -> impl Strategy<Value = String> {
        let port = prop_oneof![Just(None), (1..=u16::MAX).prop_map(Some)];
        // No two consecutive hyphens: `xn--…` is a host name only if it decodes (RFC 5891, section 4.2.3.1).
        let host = "[a-z](-?[a-z0-9]){0,8}(\\.[a-z]{1,8}){0,3}";
        prop_oneof![
            (host, port.clone()).prop_map(|(host, port)| port.map_or(host.clone(), |port| format!("{host}:{port}"))),
            (any::<IpAddr>(), port).prop_map(|(address, port)| match port {
                Some(port) => SocketAddr::new(address, port).to_string(),
                None => address.to_string(),
            }),
            (any::<[u8; 4]>(), 0..=32_u8)
                .prop_map(|(octets, bits)| IpNet::new(octets.into(), bits).unwrap().trunc().to_string()),
            (any::<[u8; 16]>(), 0..=128_u8)
                .prop_map(|(octets, bits)| IpNet::new(octets.into(), bits).unwrap().trunc().to_string()),
        ]
    }

    proptest! {
        #[test]
        fn every_good_list_reads_back_as_written(entries in prop::collection::vec(any_entry(), 0..6)) {
            let list: AllowList = entries.join(" , ").parse().unwrap();
            prop_assert_eq!(list.to_string().parse::<AllowList>().unwrap(), list);
        }

        #[test]
        fn each_address_entry_opens_itself(address in any::<IpAddr>(), port in 1..=u16::MAX) {
            let list: AllowList = SocketAddr::new(address, port).to_string().parse().unwrap();
            prop_assert!(list.allows("any.example", address, port));
            prop_assert!(!list.allows("any.example", address, port ^ 1));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC*") {
            let _ = text.parse::<AllowList>();
        }
    }
}
