//! Metrics of client connections.

use prometheus::{IntCounterVec, IntGauge, Registry};
use strum::{IntoStaticStr, VariantNames};

use crate::service::metrics::instruments::{counters, registered};

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Refusal {
    /// Its network has too many open connections.
    Network,
    /// The service has too many open connections.
    Total,
}

/// What the service waited for when a connection timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Overdue {
    /// The header of a request, which the client did not complete.
    Header,
    /// The next request on a kept-alive connection.
    Idle,
    /// The client, which did not read the response.
    Write,
}

/// Counts client connections. Cheap to clone.
#[derive(Clone)]
pub struct ConnectionMetrics {
    open: IntGauge,
    refused: IntCounterVec,
    timed_out: IntCounterVec,
}

/// Counts a connection as open until it is dropped.
pub struct OpenConnection(IntGauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl ConnectionMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        Self {
            open: registered(
                registry,
                IntGauge::new("platen_http_connections", "Open client connections."),
            ),
            refused: counters(
                registry,
                "platen_http_connections_refused_total",
                "Client connections that were refused.",
                ["limit"],
                Refusal::VARIANTS.as_chunks().0,
            ),
            timed_out: counters(
                registry,
                "platen_http_connections_timed_out_total",
                "Client connections that were closed because of a slow client.",
                ["phase"],
                Overdue::VARIANTS.as_chunks().0,
            ),
        }
    }

    /// Counts an accepted connection.
    pub fn open(&self) -> OpenConnection {
        self.open.inc();
        OpenConnection(self.open.clone())
    }

    /// Counts a refused connection.
    pub fn refused(&self, refusal: Refusal) {
        self.refused.with_label_values(&[refusal.into_str()]).inc();
    }

    /// Counts a connection that was closed because of a slow client.
    pub fn timed_out(&self, overdue: Overdue) {
        self.timed_out.with_label_values(&[overdue.into_str()]).inc();
    }
}
