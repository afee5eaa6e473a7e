//! Whom a request is for.

use std::fmt;

use hyper::http::uri::Authority;
use url::Host;

/// Host and port of a request, in the form that URLs have: names in lower case, addresses in their usual spelling.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// An IPv6 address is without brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

impl Target {
    /// `None` for what no URL could hold, or when the port is missing and has no default.
    pub(super) fn parse(authority: &Authority, default_port: Option<u16>) -> Option<Self> {
        let host = match Host::parse(authority.host()).ok()? {
            Host::Domain(name) => name,
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let (_, after_user) = authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
        let port = match after_user.strip_prefix(authority.host())? {
            "" | ":" => default_port?,
            port => port.strip_prefix(':')?.parse().ok()?,
        };
        Some(Self { host, port })
    }
}

impl fmt::Display for Target {
    /// The value of a `Host` header for plain HTTP, where port 80 goes without saying.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?;
        } else {
            f.write_str(&self.host)?;
        }
        if self.port == 80 {
            Ok(())
        } else {
            write!(f, ":{}", self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(authority: &str) -> Option<(String, u16)> {
        let target = Target::parse(&authority.parse().ok()?, Some(80))?;
        Some((target.host, target.port))
    }

    #[test]
    fn a_target_has_one_spelling() {
        for (authority, host, port) in [
            ("a.example", "a.example", 80),
            ("A.Example:8080", "a.example", 8080),
            ("user:secret@a.example:81", "a.example", 81),
            ("a.example:", "a.example", 80),
            ("0x7f.1", "127.0.0.1", 80),
            ("2130706433:443", "127.0.0.1", 443),
            ("[0:0::1]:443", "::1", 443),
        ] {
            assert_eq!(parse(authority), Some((host.to_owned(), port)), "{authority}");
        }
    }

    #[test]
    fn what_no_url_could_hold_is_no_target() {
        for authority in [
            "a.example:65536",
            "a.example:x",
            "[::1",
            "[fe80::1%25eth0]",
            "1.2.3.4.5",
            "a b",
        ] {
            assert_eq!(parse(authority), None, "{authority}");
        }
    }
}
