//! Limits of client connections, and timeouts for clients.

use std::time::Duration;

use crate::config::reader::{Reader, Setting};

/// Number of open files reserved for the database, browsers, requests of pages, and documents.
pub const RESERVED_FILES: u64 = 1024;

/// Each connection may hold a header of 32 KiB and the kernel's buffers.
const MOST_BY_DEFAULT: usize = 4096;
const FEWEST_BY_DEFAULT: usize = 64;

const CONNECTIONS: Setting = Setting::new("PLATEN_CONNECTIONS", "16 to 1000000")
    .default("a quarter of the limit of open files, 4096 at most")
    .purpose("Maximum number of open client connections; further ones receive status 503 and are closed.");
const PER_NETWORK: Setting = Setting::new("PLATEN_CONNECTIONS_PER_NETWORK", "4 to 1000000")
    .default("a quarter of PLATEN_CONNECTIONS, 64 at least")
    .purpose("Client connections from one IPv4 address or IPv6 /64 network; PLATEN_TRUSTED_PROXIES are exempt.");
const HEADER_SECONDS: Setting = Setting::new("PLATEN_HEADER_SECONDS", "1 to 3600")
    .default("10")
    .purpose("Seconds from the start of a connection, or the first byte of a later request, to the end of its header.");
const IDLE_SECONDS: Setting = Setting::new("PLATEN_IDLE_SECONDS", "1 to 3600")
    .default("75")
    .purpose("Seconds that a connection stays open between two requests; proxies should close idle ones earlier.");
const WRITE_SECONDS: Setting = Setting::new("PLATEN_WRITE_SECONDS", "1 to 3600")
    .default("30")
    .purpose("Seconds that a client may pause reading its response.");

pub(super) const SETTINGS: &[&Setting] = &[
    &CONNECTIONS,
    &PER_NETWORK,
    &HEADER_SECONDS,
    &IDLE_SECONDS,
    &WRITE_SECONDS,
];

#[derive(Debug)]
pub struct ConnectionsConfig {
    /// Maximum number of connections. `None`: derived from the limit of open files.
    pub total: Option<usize>,
    /// Maximum number of connections from one network. `None`: derived from the total.
    pub per_network: Option<usize>,
    pub timeouts: Timeouts,
}

/// Timeouts for clients.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For receiving the header of a request.
    pub header: Duration,
    /// For the next request to begin.
    pub idle: Duration,
    /// For the client to accept more of a response.
    pub write: Duration,
}

impl ConnectionsConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        Self {
            total: reader.number_if_set(&CONNECTIONS, 16..=1_000_000),
            per_network: reader.number_if_set(&PER_NETWORK, 4..=1_000_000),
            timeouts: Timeouts {
                header: reader.seconds(&HEADER_SECONDS, 1..=3600),
                idle: reader.seconds(&IDLE_SECONDS, 1..=3600),
                write: reader.seconds(&WRITE_SECONDS, 1..=3600),
            },
        }
    }

    /// Returns the maximum number of connections of a process that may have `open_files` files open.
    pub fn total(&self, open_files: u64) -> usize {
        let quarter = usize::try_from(open_files / 4).unwrap_or(usize::MAX);
        self.total
            .unwrap_or_else(|| quarter.clamp(FEWEST_BY_DEFAULT, MOST_BY_DEFAULT))
    }

    /// Returns the maximum number of connections from one network, given the total.
    pub fn per_network(&self, total: usize) -> usize {
        self.per_network.unwrap_or_else(|| (total / 4).max(FEWEST_BY_DEFAULT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> ConnectionsConfig {
        let lookup = |name: &str| {
            let mut settings = settings.iter();
            settings
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        };
        ConnectionsConfig::from_env(&mut Reader::new(&lookup))
    }

    #[test]
    fn defaults_follow_the_limit_of_open_files() {
        let defaults = read(&[]);
        for (open_files, total, per_network) in [
            (100, 64, 64),
            (1_024, 256, 64),
            (8_192, 2_048, 512),
            (1_048_576, 4_096, 1_024),
        ] {
            assert_eq!(defaults.total(open_files), total);
            assert_eq!(defaults.per_network(total), per_network);
        }
    }

    #[test]
    fn settings_win() {
        let set = read(&[("PLATEN_CONNECTIONS", "20000"), ("PLATEN_CONNECTIONS_PER_NETWORK", "7")]);
        assert_eq!((set.total(1_024), set.per_network(20_000)), (20_000, 7));
    }
}
