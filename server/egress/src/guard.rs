//! Resolve once, check, dial the address that was checked.

pub(crate) mod dial;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::{net::TcpStream, time::timeout};
use url::Url;

use crate::{
    guard::dial::{Dial, TcpDialler},
    policy::{AddressPolicy, LOOPBACK, Refusal, is_localhost},
    resolve::{RESOLVE_TIMEOUT, Resolve},
};

/// Time to reach an address, over all addresses of a name.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// From the request to the head of a plain HTTP response. A page that a server makes slowly may take as long as a
/// synchronous render; what a sub-resource may take is the engine's to say.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);
/// A connection on which nothing moves is cut.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Chromium opens at most 32 connections to one proxy and as many more for web sockets.
pub const CONNECTIONS_PER_PROXY: usize = 64;
/// What one render may fetch and send: more than any page needs, less than would hurt the network.
pub const BYTES_PER_RENDER: u64 = 256 * 1024 * 1024;

/// Addresses of one name that are tried.
const ADDRESSES_TRIED: usize = 4;
/// After so long without an answer the next address is tried as well (RFC 8305, 5).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// Bounds of every connection that goes through a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLimits {
    /// Time to reach an address, over all addresses of a name.
    pub connect_timeout: Duration,
    /// Time from a plain HTTP request to its response's head.
    pub response_timeout: Duration,
    /// A connection on which no byte moves for so long is cut, at the latest after twice this time. Should exceed the
    /// two above, which count as silence.
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
    dialler: Arc<dyn Dial>,
    limits: GuardLimits,
    refusals: AtomicU64,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Every address of the name is refused; the rule for the first of them.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// The name has no address.
    #[error("the name could not be resolved")]
    NotResolved,
    /// No address could be reached.
    #[error("{}", .0.kind())]
    Failed(#[source] io::Error),
    /// Resolving or connecting took too long.
    #[error("timed out")]
    TimedOut,
}

impl Guard {
    /// A guard that asks `resolver` for names.
    pub fn new(policy: AddressPolicy, resolver: Arc<dyn Resolve>, limits: GuardLimits) -> Arc<Self> {
        Self::with_dialler(policy, resolver, Arc::new(TcpDialler), limits)
    }

    /// [`Self::new`] with a double for the network.
    pub(crate) fn with_dialler(
        policy: AddressPolicy,
        resolver: Arc<dyn Resolve>,
        dialler: Arc<dyn Dial>,
        limits: GuardLimits,
    ) -> Arc<Self> {
        Arc::new(Self {
            policy,
            resolver,
            dialler,
            limits,
            refusals: AtomicU64::new(0),
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

    /// As [`AddressPolicy::check_literal`]; counts what is refused.
    pub fn check_literal(&self, url: &Url) -> Result<(), Refusal> {
        let checked = self.policy.check_literal(url);
        if checked.is_err() {
            self.count_refusal();
        }
        checked
    }

    /// Hosts that were refused since the start, each time that one was asked for.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// The addresses of `host` (a name or address as a URL holds it) that may be dialled at `port`, at least one.
    ///
    /// Dial these and no others: a second lookup may say something else.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
        self.resolve_by(&*self.resolver, host, port).await
    }

    /// A connection to the first address of `host`, by the answers of `resolver`, that may be dialled and answers.
    pub(crate) async fn connect_by(
        &self,
        resolver: &dyn Resolve,
        host: &str,
        port: u16,
    ) -> Result<TcpStream, ConnectError> {
        let addresses = self.resolve_by(resolver, host, port).await?;
        match timeout(self.limits.connect_timeout, self.dial(&addresses)).await {
            Ok(connected) => connected.map_err(ConnectError::Failed),
            Err(_) => Err(ConnectError::TimedOut),
        }
    }

    /// The resolver that names are asked of.
    pub(crate) fn resolver(&self) -> Arc<dyn Resolve> {
        Arc::clone(&self.resolver)
    }

    async fn resolve_by(&self, resolver: &dyn Resolve, host: &str, port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
        let host = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let addresses = addresses_of(resolver, host).await?;
        let mut allowed = Vec::new();
        let mut first_refusal = None;
        for address in addresses {
            match self.policy.check(host, address, port) {
                Ok(()) if allowed.len() < ADDRESSES_TRIED => allowed.push(SocketAddr::new(address, port)),
                Ok(()) => {}
                Err(refusal) => {
                    tracing::debug!(host, port, %address, %refusal, "refused an address");
                    first_refusal = first_refusal.or(Some(refusal));
                }
            }
        }
        match first_refusal {
            _ if !allowed.is_empty() => Ok(allowed),
            Some(refusal) => {
                self.count_refusal();
                Err(ConnectError::Refused(refusal))
            }
            None => Err(ConnectError::NotResolved),
        }
    }

    /// Tries the addresses in turn, each a moment after the one before or as soon as that has failed.
    async fn dial(&self, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
        let mut waiting = addresses.iter();
        let mut attempts = FuturesUnordered::new();
        let mut error = io::Error::from(io::ErrorKind::AddrNotAvailable);
        loop {
            attempts.extend(waiting.next().map(|address| self.dialler.dial(*address)));
            tokio::select! {
                attempt = attempts.next() => match attempt {
                    Some(Ok(stream)) => return Ok(stream),
                    Some(Err(failure)) => error = failure,
                    None => return Err(error),
                },
                () = tokio::time::sleep(NEXT_ADDRESS_AFTER), if waiting.len() > 0 => {}
            }
        }
    }
}

async fn addresses_of(resolver: &dyn Resolve, host: &str) -> Result<Vec<IpAddr>, ConnectError> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    if is_localhost(host) {
        return Ok(LOOPBACK.into());
    }
    match timeout(RESOLVE_TIMEOUT, resolver.resolve(host)).await {
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => {
            tracing::debug!(host, %error, "could not resolve a name");
            Err(ConnectError::NotResolved)
        }
        Err(_) => Err(ConnectError::TimedOut),
    }
}
