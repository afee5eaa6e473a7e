//! The client's address.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::ConnectInfo,
    http::{HeaderMap, HeaderName, header, request::Parts},
};
use platen_domain::{client::Client, network::Network};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns address and browser of the client, or `None` if the connection has no address.
pub(super) fn client(parts: &Parts, trusted_proxies: &[Network]) -> Option<Client> {
    let address = client_address(parts, trusted_proxies)?;
    let user_agent = parts.headers.get(header::USER_AGENT);
    let user_agent = user_agent.map(|user_agent| String::from_utf8_lossy(user_agent.as_bytes()));
    Some(Client::new(address, &user_agent.unwrap_or_default()))
}

/// Returns the address of the client: the connection's peer or, if that is a trusted proxy, the address for which it
/// forwards. `None` if the connection has no address.
pub(super) fn client_address(parts: &Parts, trusted_proxies: &[Network]) -> Option<IpAddr> {
    let ConnectInfo(peer) = parts.extensions.get::<ConnectInfo<SocketAddr>>()?;
    Some(forwarded_for(peer.ip(), &parts.headers, trusted_proxies))
}

/// Each proxy appends the address of its peer, so the list is read from the end. The first address that isn't a trusted
/// proxy is the client's; anything before it may be forged by the client. An entry that isn't an address ends the
/// search at the proxy that wrote it.
fn forwarded_for(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[Network]) -> IpAddr {
    let lines: Vec<&str> = headers
        .get_all(FORWARDED_FOR)
        .iter()
        .map(|line| line.to_str().unwrap_or_default())
        .collect();
    let mut address = peer.to_canonical();
    for entry in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        if !trusted_proxies.iter().any(|network| network.contains(address)) {
            break;
        }
        match entry_address(entry.trim()) {
            Some(next) => address = next.to_canonical(),
            None => break,
        }
    }
    address
}

/// Parses an entry of the header. Some proxies append the port.
fn entry_address(entry: &str) -> Option<IpAddr> {
    let with_port = || entry.parse::<SocketAddr>().ok().map(|address| address.ip());
    entry.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn found(peer: &str, lines: &[&'static str], trusted: &[&str]) -> String {
        let headers = lines
            .iter()
            .map(|line| (FORWARDED_FOR, HeaderValue::from_static(line)))
            .collect();
        let trusted: Vec<Network> = trusted.iter().map(|network| network.parse().unwrap()).collect();
        forwarded_for(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn the_header_counts_only_from_a_trusted_proxy() {
        assert_eq!(found("192.0.2.1", &["198.51.100.7"], &[]), "192.0.2.1");
        assert_eq!(found("192.0.2.1", &["198.51.100.7"], &["192.0.2.0/24"]), "198.51.100.7");
        assert_eq!(
            found("::ffff:192.0.2.1", &["198.51.100.7"], &["192.0.2.0/24"]),
            "198.51.100.7"
        );
        assert_eq!(found("192.0.2.1", &[], &["192.0.2.0/24"]), "192.0.2.1");
    }

    #[test]
    fn what_a_client_made_up_is_not_reached() {
        let trusted = ["192.0.2.0/24", "2001:db8::/32"];
        assert_eq!(
            found("192.0.2.1", &["10.0.0.1, 198.51.100.7"], &trusted),
            "198.51.100.7"
        );
        assert_eq!(
            found("192.0.2.1", &["10.0.0.1, 198.51.100.7, 192.0.2.9"], &trusted),
            "198.51.100.7"
        );
        assert_eq!(
            found("192.0.2.1", &["10.0.0.1", "198.51.100.7,[2001:db8::5]:443"], &trusted),
            "198.51.100.7"
        );
        assert_eq!(found("192.0.2.1", &["198.51.100.7:4711"], &trusted), "198.51.100.7");
    }

    #[test]
    fn an_entry_that_is_no_address_ends_the_search() {
        let trusted = ["192.0.2.0/24"];
        for lines in [["10.0.0.1, unknown"], ["10.0.0.1,"], ["10.0.0.1, _hidden, 192.0.2.9"]] {
            let address = found("192.0.2.1", &lines, &trusted);
            assert!(address.starts_with("192.0.2."), "{address}");
        }
    }
}
