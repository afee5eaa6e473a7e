//! The client of a request, before authentication.

use std::net::{IpAddr, Ipv6Addr};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::ids::{DeviceId, SessionId};

/// Longer `User-Agent` headers are truncated.
const USER_AGENT_CHARACTERS: usize = 300;
const DEVICE_BYTES: usize = 32;

/// The client of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The client's IP address, as reported by trusted proxies.
    pub address: IpAddr,
    /// The beginning of the header `User-Agent`, without control characters.
    pub user_agent: String,
    /// The browser's device token, the same for all its users; `None` if there is none, or it was not read.
    pub device: Option<DeviceDigest>,
}

/// The value of the cookie that identifies a browser. Does not print.
#[derive(Debug, Clone)]
pub struct DeviceToken(SecretString);

/// The SHA-256 of a [`DeviceToken`]. Tokens are random, so a slow hash would add no security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceDigest(pub [u8; 32]);

impl DeviceToken {
    /// Creates a token from random bytes.
    pub fn from_random(random: [u8; DEVICE_BYTES]) -> Self {
        Self(BASE64_URL_SAFE_NO_PAD.encode(random).into())
    }

    /// Parses the value of a cookie. Returns `None` if it is not a token of this service.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == DEVICE_BYTES).then(|| Self(text.into()))
    }

    /// Returns the value for the cookie: 43 characters that need no escaping.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the digest, which is stored instead of the token.
    pub fn digest(&self) -> DeviceDigest {
        DeviceDigest(Sha256::digest(self.expose()).into())
    }
}

impl Client {
    /// Creates a client; control characters in the user agent are removed.
    pub fn new(address: IpAddr, user_agent: &str) -> Self {
        let printable = user_agent.chars().filter(|character| !character.is_control());
        Self {
            address: address.to_canonical(),
            user_agent: printable.take(USER_AGENT_CHARACTERS).collect(),
            device: None,
        }
    }

    /// Returns the client with the digest of its browser's token.
    #[must_use]
    pub fn with_device(self, device: DeviceDigest) -> Self {
        Self {
            device: Some(device),
            ..self
        }
    }

    /// See [`network`].
    pub fn network(&self) -> IpAddr {
        network(self.address)
    }
}

/// Returns the network that is counted as one client: the IPv4 address itself, or the /64 prefix of an IPv6 address,
/// within which a client may use any address (RFC 4291, 2.5.4).
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Returns a readable name of a browser and its system from the user agent, such as `Firefox on Linux`. A guess, for
/// lists.
pub fn device(user_agent: &str) -> String {
    // Most browsers name others too, so the most specific names come first.
    const BROWSERS: [(&str, &str); 7] = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ];
    const SYSTEMS: [(&str, &str); 7] = [
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("CrOS", "ChromeOS"),
        ("Windows", "Windows"),
        ("Macintosh", "Mac"),
        ("Linux", "Linux"),
    ];
    let find = |names: &[(&str, &'static str)]| {
        let mut names = names.iter();
        names.find(|(part, _)| user_agent.contains(part)).map(|(_, name)| *name)
    };
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => "Unknown device".to_owned(),
    }
}

/// One of a user's sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// Public id, not the cookie's value.
    pub id: SessionId,
    /// Whether it is the session of this request.
    pub current: bool,
    /// Address of the login.
    pub address: IpAddr,
    /// User agent of the login.
    pub user_agent: String,
    /// Time of the login.
    pub since: OffsetDateTime,
    /// Time of last use, up to five minutes late.
    pub seen: OffsetDateTime,
}

/// A browser that can log in without the second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedDevice {
    pub id: DeviceId,
    /// IP address of the last log-in.
    pub address: String,
    /// User agent of the last log-in.
    pub user_agent: String,
    /// Time of the last log-in.
    pub used_at: OffsetDateTime,
    pub remembered_until: OffsetDateTime,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> String {
        let client = Client::new(address.parse().expect("an address"), "");
        client.network().to_string()
    }

    #[test]
    fn ipv6_clients_are_identified_by_their_64_bit_prefix() {
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
    }

    #[test]
    fn a_program_does_not_say_too_much() {
        let address = "192.0.2.7".parse().expect("an address");
        let client = Client::new(address, &"a\u{1b}ä".repeat(200));
        assert_eq!(client.user_agent, "aä".repeat(150));
    }

    #[test]
    fn a_cookie_of_ours_is_read_and_does_not_print() {
        let token = DeviceToken::from_random([0xfb; 32]);
        let read = DeviceToken::parse(token.expose()).expect("a token");
        assert_eq!(read.digest(), token.digest());
        assert!(!format!("{token:?}").contains(token.expose()));
        for text in ["", "abc", &token.expose()[1..], &"a".repeat(100_000)] {
            assert!(DeviceToken::parse(text).is_none());
        }
    }

    #[test]
    fn people_recognise_their_devices() {
        for (user_agent, expected) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/19.0 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 \
                 Safari/537.36 Edg/142.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile \
                 Safari/537.36",
                "Chrome on Android",
            ),
            ("curl/8.5.0", "Unknown device"),
            ("", "Unknown device"),
        ] {
            assert_eq!(device(user_agent), expected, "{user_agent}");
        }
    }
}
