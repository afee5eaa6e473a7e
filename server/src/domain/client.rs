//! Who is at the other end of a request, before anybody is logged in.

use std::net::{IpAddr, Ipv6Addr};

/// Longer descriptions of a program are cut.
const USER_AGENT_CHARACTERS: usize = 300;

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The client's own address, as far as trusted proxies say it.
    pub address: IpAddr,
    /// What its program says of itself: the beginning of the header `User-Agent`, without control characters.
    pub user_agent: String,
}

impl Client {
    /// A client with what it says of itself.
    pub fn new(address: IpAddr, user_agent: &str) -> Self {
        let printable = user_agent.chars().filter(|character| !character.is_control());
        Self {
            address: address.to_canonical(),
            user_agent: printable.take(USER_AGENT_CHARACTERS).collect(),
        }
    }

    /// What is counted as one client: an address, or the 64 bits of a network in which one client may take any address
    /// (RFC 4291, 2.5.4).
    pub fn network(&self) -> IpAddr {
        match self.address {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            v4 @ IpAddr::V4(_) => v4,
        }
    }
}

/// What people call a program and its system, from what it says of itself: `Firefox on Linux`. Guesswork, for lists.
pub fn device(user_agent: &str) -> String {
    // Most say that they are others as well: the most particular names come first.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> String {
        let client = Client::new(address.parse().expect("an address"), "");
        client.network().to_string()
    }

    #[test]
    fn whoever_has_a_network_is_one_client() {
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
    }

    #[test]
    fn a_program_does_not_say_too_much() {
        let client = Client::new("192.0.2.7".parse().expect("an address"), &"a\u{1b}ä".repeat(200));
        assert_eq!(client.user_agent, "aä".repeat(150));
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
