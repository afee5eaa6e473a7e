//! Where metrics are served, and to whom.

use std::net::SocketAddr;

use secrecy::SecretString;

use crate::config::reader::{Fault, Reader, Setting};

/// A shorter token could be guessed.
const SHORTEST_TOKEN: usize = 16;

const TOKEN: Setting = Setting {
    name: "PLATEN_METRICS_TOKEN",
    purpose: "Serves metrics for Prometheus at /metrics to those who send it as a bearer token.",
    allowed: "16 or more visible ASCII characters",
    default: "none",
};
const LISTEN: Setting = Setting {
    name: "PLATEN_METRICS_LISTEN",
    purpose: "Address and port on which /metrics is served in place of PLATEN_LISTEN; without a token to everybody who \
              reaches it.",
    allowed: "address:port",
    default: "none",
};

pub(super) const SETTINGS: &[&Setting] = &[&TOKEN, &LISTEN];

/// See the module. Without either there are no metrics.
#[derive(Debug)]
pub struct MetricsConfig {
    /// What whoever asks has to send.
    pub token: Option<SecretString>,
    /// A listener of its own.
    pub listen: Option<SocketAddr>,
}

impl MetricsConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let token = reader.text(&TOKEN);
        let sound = |token: &String| token.len() >= SHORTEST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.as_ref().is_some_and(|token| !sound(token)) {
            reader.faults.push(Fault::Secret {
                name: TOKEN.name,
                allowed: TOKEN.allowed,
            });
        }
        let listen = reader.parsed_or(&LISTEN, Some(None), |text| text.parse().ok().map(Some));
        Some(Self {
            token: token.map(SecretString::from),
            listen: listen?,
        })
    }
}
