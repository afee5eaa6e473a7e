//! Limits on open connections, in total and from each network.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use platen_core::{
    config::{Config, connections::Timeouts},
    service::metrics::connections::Refusal,
};
use platen_domain::{client::network, network::Network};

/// While more than three quarters of the connections are in use, clients get no longer than this for a header and
/// between two requests, to free connections for new clients.
const UNDER_PRESSURE: Duration = Duration::from_secs(2);
/// Minimum interval between log entries, so that an attack isn't logged once for each connection.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Counts the open connections of a listener.
pub(super) struct ConnectionLimits {
    total: usize,
    per_network: usize,
    trusted_proxies: Vec<Network>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_network: HashMap<IpAddr, usize>,
    refused: u64,
    logged_at: Option<Instant>,
}

/// An open connection's share of the limits, released on drop.
pub(super) struct Place {
    limits: Arc<ConnectionLimits>,
    /// `None` for a trusted proxy, which forwards clients of many networks.
    network: Option<IpAddr>,
}

impl ConnectionLimits {
    pub(super) fn new(config: &Config, open_files: u64) -> Self {
        let total = config.connections.total(open_files);
        Self {
            total,
            per_network: config.connections.per_network(total),
            trusted_proxies: config.http.trusted_proxies.clone(),
            open: Mutex::default(),
        }
    }

    /// Admits a connection, if the limits permit.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Result<Place, Refusal> {
        let trusted = self.trusted_proxies.iter().any(|proxy| proxy.contains(peer));
        let network = (!trusted).then(|| network(peer));
        let mut open = self.lock();
        if open.total >= self.total {
            open.log_refusal(peer, "PLATEN_CONNECTIONS");
            return Err(Refusal::Total);
        }
        if let Some(network) = network {
            if open
                .by_network
                .get(&network)
                .is_some_and(|count| *count >= self.per_network)
            {
                open.log_refusal(peer, "PLATEN_CONNECTIONS_PER_NETWORK");
                return Err(Refusal::Network);
            }
            *open.by_network.entry(network).or_default() += 1;
        }
        open.total += 1;
        Ok(Place {
            limits: Arc::clone(self),
            network,
        })
    }

    /// Returns the timeouts that apply at the current number of open connections.
    pub(super) fn under_pressure(&self, timeouts: Timeouts) -> Timeouts {
        if self.lock().total <= self.total / 4 * 3 {
            return timeouts;
        }
        Timeouts {
            header: timeouts.header.min(UNDER_PRESSURE),
            idle: timeouts.idle.min(UNDER_PRESSURE),
            ..timeouts
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn log_refusal(&mut self, peer: IpAddr, setting: &'static str) {
        self.refused += 1;
        if self.logged_at.is_some_and(|at| at.elapsed() < LOG_EVERY) {
            return;
        }
        tracing::warn!(
            client = %peer,
            setting,
            refused = self.refused,
            open = self.total,
            "connections refused: limit reached; if the client is a proxy, add it to PLATEN_TRUSTED_PROXIES"
        );
        (self.refused, self.logged_at) = (0, Some(Instant::now()));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.limits.lock();
        open.total -= 1;
        let Some(network) = self.network else { return };
        if let Some(count) = open.by_network.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                open.by_network.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(total: &str, per_network: &str) -> Arc<ConnectionLimits> {
        let config = Config::read(&|name| match name {
            "PLATEN_CONNECTIONS" => Some(total.to_owned()),
            "PLATEN_CONNECTIONS_PER_NETWORK" => Some(per_network.to_owned()),
            "PLATEN_TRUSTED_PROXIES" => Some("10.0.0.0/8".to_owned()),
            _ => None,
        });
        Arc::new(ConnectionLimits::new(&config.expect("sound settings"), 65_536))
    }

    fn admit(limits: &Arc<ConnectionLimits>, peer: &str) -> Result<Place, Refusal> {
        limits.admit(peer.parse().expect("an address"))
    }

    #[test]
    fn a_network_has_no_more_than_its_share_and_gets_places_back() {
        let limits = limits("16", "4");
        let mut places: Vec<_> = (0..4)
            .map(|host| admit(&limits, &format!("2001:db8::{host}")).expect("a place"))
            .collect();
        assert_eq!(admit(&limits, "2001:db8::9").err(), Some(Refusal::Network));
        assert!(admit(&limits, "2001:db8:0:1::9").is_ok());
        places.pop();
        assert!(admit(&limits, "2001:db8::9").is_ok());
        drop(places);
        assert!(limits.lock().by_network.is_empty());
    }

    #[test]
    fn proxies_have_all_there_is_and_not_more() {
        let limits = limits("16", "4");
        let places: Vec<_> = (0..16).map_while(|_| admit(&limits, "10.1.2.3").ok()).collect();
        assert_eq!(places.len(), 16);
        assert_eq!(admit(&limits, "192.0.2.1").err(), Some(Refusal::Total));
    }

    #[test]
    fn the_last_quarter_of_places_has_to_be_used_quickly() {
        let limits = limits("16", "16");
        let timeouts = Timeouts {
            header: Duration::from_secs(10),
            idle: Duration::from_secs(1),
            write: Duration::from_secs(30),
        };
        let mut places: Vec<_> = (0..12).map_while(|_| admit(&limits, "192.0.2.1").ok()).collect();
        assert_eq!(limits.under_pressure(timeouts).header, timeouts.header);
        places.extend(admit(&limits, "192.0.2.1").ok());
        let hurried = limits.under_pressure(timeouts);
        assert_eq!((hurried.header, hurried.idle), (UNDER_PRESSURE, timeouts.idle));
    }
}
