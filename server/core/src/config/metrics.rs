//! The address at which metrics are served, and the token that protects them.

use std::net::SocketAddr;

use secrecy::SecretString;

use crate::config::reader::{Reader, Setting};

/// Shorter tokens could be guessed.
const SHORTEST_TOKEN: usize = 16;

const TOKEN: Setting = Setting::new("PLATEN_METRICS_TOKEN", "16 or more visible ASCII characters")
    .default("none")
    .purpose("Serves Prometheus metrics at /metrics to requests with this bearer token.");
const LISTEN: Setting = Setting::new("PLATEN_METRICS_LISTEN", "address:port")
    .default("none")
    .purpose(
        "Address and port on which /metrics is served in place of PLATEN_LISTEN; without a token, to everyone who \
         can reach it.",
    );

pub(super) const SETTINGS: &[&Setting] = &[&TOKEN, &LISTEN];

/// Without a token or an address no metrics are served.
#[derive(Debug)]
pub struct MetricsConfig {
    /// The bearer token that requests must send.
    pub token: Option<SecretString>,
    /// The address of a separate listener.
    pub listen: Option<SocketAddr>,
}

impl MetricsConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let token = reader.secret(&TOKEN, |text| {
            let sound = text.len() >= SHORTEST_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic());
            sound.then(|| text.into())
        });
        Self {
            token,
            listen: reader.parsed_if_set(&LISTEN, |text| text.parse().ok()),
        }
    }
}
