//! Resolves a name once, checks its addresses, and dials only those that passed.

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

/// Default of [`GuardLimits::connect_timeout`].
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Default of [`GuardLimits::response_timeout`]. A page that its server generates slowly may take as long as a
/// synchronous render; the engine sets the limit for sub-resources.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);
/// Default of [`GuardLimits::idle_timeout`].
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Default of [`GuardLimits::connections_per_proxy`]: Chromium opens at most 32 connections to one proxy, and another
/// 32 for web sockets.
pub const CONNECTIONS_PER_PROXY: usize = 64;
/// Default of [`GuardLimits::bytes_per_render`]: more than any page needs, too little to harm the network.
pub const BYTES_PER_RENDER: u64 = 256 * 1024 * 1024;

/// Addresses of one name that are tried.
const ADDRESSES_TRIED: usize = 4;
/// Delay after which the next address is tried in parallel (RFC 8305, 5).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// Limits for connections through a [`Guard`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLimits {
    /// Time to connect, over all addresses of a name, without the lookup.
    pub connect_timeout: Duration,
    /// Time from a plain HTTP request to its response header.
    pub response_timeout: Duration,
    /// Time without any byte in either direction after which a connection is closed, at the latest after twice this
    /// time. Should exceed the two above, because waiting for a connection or response counts as idle.
    pub idle_timeout: Duration,
    /// Open connections of one browser session; further ones are closed at once.
    pub connections_per_proxy: usize,
    /// Bytes of one render, sent and received together, after which its connections are closed.
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

/// The address policy with its resolver and limits, shared by all proxies and by all requests to addresses that tenants
/// supply.
pub struct Guard {
    policy: AddressPolicy,
    resolver: Arc<dyn Resolve>,
    dialler: Arc<dyn Dial>,
    limits: GuardLimits,
    refusals: AtomicU64,
}

/// Why a connection could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The policy refuses every address of the name; contains the rule that refused the first.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// The name has no address.
    #[error("the name could not be resolved")]
    NotResolved,
    /// No address could be reached.
    #[error("{}", .0.kind())]
    Failed(#[source] io::Error),
    /// Resolving exceeded [`RESOLVE_TIMEOUT`], or connecting [`GuardLimits::connect_timeout`].
    #[error("timed out")]
    TimedOut,
}

impl Guard {
    /// Creates a guard that resolves names with `resolver`.
    pub fn new(policy: AddressPolicy, resolver: Arc<dyn Resolve>, limits: GuardLimits) -> Arc<Self> {
        Self::with_dialler(policy, resolver, Arc::new(TcpDialler), limits)
    }

    /// Creates a guard that connects with `dialler`, a double in tests.
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

    /// Returns the address policy. Checks made with it directly are not counted in [`Self::refusals`].
    pub fn policy(&self) -> &AddressPolicy {
        &self.policy
    }

    /// Returns the limits that proxies of this guard apply.
    pub fn limits(&self) -> &GuardLimits {
        &self.limits
    }

    /// Calls [`AddressPolicy::check_literal`] and counts a refusal.
    pub fn check_literal(&self, url: &Url) -> Result<(), Refusal> {
        let checked = self.policy.check_literal(url);
        if checked.is_err() {
            self.count_refusal();
        }
        checked
    }

    /// Returns the number of requests for refused hosts since the guard was created.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    fn count_refusal(&self) {
        self.refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// Resolves `host`, a name or address as in a URL, and returns the addresses that may be dialled at `port`: at
    /// least one, at most four.
    ///
    /// Dial only these: a second lookup may return other addresses. Takes at most [`RESOLVE_TIMEOUT`].
    pub async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
        self.resolve_by(&*self.resolver, host, port).await
    }

    /// Resolves `host` with `resolver` and connects to the first allowed address that accepts.
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

    /// Returns the resolver.
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
                    tracing::debug!(host, port, %address, %refusal, "address refused");
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

    /// Tries the addresses in order, each [`NEXT_ADDRESS_AFTER`] after the previous one, or as soon as that has failed.
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
            tracing::debug!(host, %error, "name could not be resolved");
            Err(ConnectError::NotResolved)
        }
        Err(_) => Err(ConnectError::TimedOut),
    }
}
