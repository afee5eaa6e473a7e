//! The address that the service listens on, and the address that clients use.

use std::{net::SocketAddr, time::Duration};

use platen_domain::network::Network;
use url::{Host, Url};

use crate::config::reader::{Reader, Setting, http_url};

const LISTEN: Setting = Setting::new("PLATEN_LISTEN", "address:port")
    .default("127.0.0.1:3000")
    .purpose("Address and port that the service listens on; port 0 selects a free one.");
const BASE_URL: Setting = Setting::new(
    "PLATEN_BASE_URL",
    "http:// or https:// address without query and fragment",
)
.default("http:// and PLATEN_LISTEN")
.purpose("Address at which clients reach the service.");
const TRUSTED_PROXIES: Setting = Setting::new("PLATEN_TRUSTED_PROXIES", "address, network")
    .default("none")
    .purpose("Proxies in front of the service, separated by commas; their X-Forwarded-For gives the client's address.");
const SHUTDOWN_GRACE: Setting = Setting::new("PLATEN_SHUTDOWN_GRACE", "0 to 3600")
    .default("30")
    .purpose("Seconds that running renders get to finish after SIGTERM.");

pub(super) const SETTINGS: &[&Setting] = &[&LISTEN, &BASE_URL, &TRUSTED_PROXIES, &SHUTDOWN_GRACE];

#[derive(Debug)]
pub struct HttpConfig {
    pub listen: SocketAddr,
    /// The address that clients use. If it was not set and the port to listen on is 0, its port is 0 too; see
    /// [`Self::base_url_for`].
    pub base_url: Url,
    /// Whether `base_url` is derived from `listen`.
    base_url_follows_listen: bool,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<Network>,
    /// Time from the first signal to the cancellation of running renders.
    pub shutdown_grace: Duration,
}

impl HttpConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let listen = reader.parsed(&LISTEN, |text| text.parse().ok());
        let base_url = reader.parsed_if_set(&BASE_URL, http_url);
        let trusted_proxies = reader.parsed_if_set(&TRUSTED_PROXIES, |text| {
            text.split(',').map(|network| network.trim().parse().ok()).collect()
        });
        Self {
            listen,
            base_url_follows_listen: base_url.is_none(),
            base_url: base_url.unwrap_or_else(|| local_url(listen)),
            trusted_proxies: trusted_proxies.unwrap_or_default(),
            shutdown_grace: reader.seconds(&SHUTDOWN_GRACE, 0..=3600),
        }
    }

    /// Returns whether only this machine can reach the service: it listens on loopback, its address has a loopback
    /// name, and no proxy is in front of it.
    pub fn is_private(&self) -> bool {
        let named = match self.base_url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        named && self.listen.ip().is_loopback() && self.trusted_proxies.is_empty()
    }

    /// Returns the base address of the bound listener; with port 0, only the listener knows the port.
    pub fn base_url_for(&self, bound: SocketAddr) -> Url {
        if self.base_url_follows_listen {
            local_url(bound)
        } else {
            self.base_url.clone()
        }
    }
}

fn local_url(address: SocketAddr) -> Url {
    // Addresses in URLs have no zone.
    let address = SocketAddr::new(address.ip(), address.port());
    Url::parse(&format!("http://{address}/")).expect("an address is a host and a port")
}
