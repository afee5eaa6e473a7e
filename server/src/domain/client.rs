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
}
