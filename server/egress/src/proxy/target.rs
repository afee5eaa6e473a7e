//! The target of a request.

use std::fmt;

use hyper::http::uri::Authority;
use url::Host;

/// Host and port of a request, normalized as in a parsed URL: names in lower case, addresses in their standard form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// IPv6 addresses have no brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

impl Target {
    /// Parses `authority`, ignoring user information. Returns `None` if it can't be part of a URL, or if the port is
    /// missing and `default_port` is `None`.
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
    /// Writes the value of a `Host` header for plain HTTP, which omits port 80.
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
