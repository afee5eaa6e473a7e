//! Metrics of client connections.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use strum::{IntoStaticStr, VariantArray};

use crate::service::metrics::{exposition::Exposition, instruments::Family};

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Refusal {
    /// Its network has too many open connections.
    Network,
    /// The service has too many open connections.
    Total,
}

/// What the service waited for when a connection timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(const_into_str, serialize_all = "snake_case")]
pub enum Overdue {
    /// The header of a request, which the client did not complete.
    Header,
    /// The next request on a kept-alive connection.
    Idle,
    /// The client, which did not read the response.
    Write,
}

/// Counts client connections.
pub struct ConnectionMetrics {
    open: AtomicU64,
    refused: Family<Refusal, u64>,
    timed_out: Family<Overdue, u64>,
}

impl Default for ConnectionMetrics {
    fn default() -> Self {
        Self {
            open: AtomicU64::new(0),
            refused: Family::of(Refusal::VARIANTS.iter().copied()),
            timed_out: Family::of(Overdue::VARIANTS.iter().copied()),
        }
    }
}

/// Counts a connection as open until it is dropped.
pub struct OpenConnection(Arc<ConnectionMetrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConnectionMetrics {
    /// Counts an accepted connection.
    pub fn open(self: &Arc<Self>) -> OpenConnection {
        self.open.fetch_add(1, Ordering::Relaxed);
        OpenConnection(Arc::clone(self))
    }

    /// Counts a refused connection.
    pub fn refused(&self, refusal: Refusal) {
        self.refused.record(refusal, |refused| *refused += 1);
    }

    /// Counts a connection that was closed because of a slow client.
    pub fn timed_out(&self, overdue: Overdue) {
        self.timed_out.record(overdue, |timed_out| *timed_out += 1);
    }

    pub(super) fn expose(&self, exposition: &mut Exposition) {
        exposition.gauge(
            "platen_http_connections",
            "Open client connections.",
            [(vec![], self.open.load(Ordering::Relaxed) as f64)],
        );
        exposition.counter(
            "platen_http_connections_refused_total",
            "Client connections that were refused.",
            self.refused
                .all()
                .iter()
                .map(|(refusal, count)| (vec![("limit", refusal.into_str())], *count)),
        );
        exposition.counter(
            "platen_http_connections_timed_out_total",
            "Client connections that were closed because of a slow client.",
            self.timed_out
                .all()
                .iter()
                .map(|(overdue, count)| (vec![("phase", overdue.into_str())], *count)),
        );
    }
}
