//! The HTTP client for addresses that tenants specify. Host names are resolved by the egress guard, and only addresses that it
//! allows are connected to.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use platen_egress::{
    guard::{ConnectError, Guard},
    policy::Refusal,
};
use reqwest::{
    Client,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect::Policy,
};
use url::Url;

use crate::mutex::lock;

/// Time limit from the resolution of a name to the end of the response.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);
/// Idle connections are reused by requests to the same host, but only for a short time.
const IDLE: Duration = Duration::from_secs(5);
/// Maximum number of ports with a client of their own. Nearly all requests use one or two ports.
const CLIENTS: usize = 16;

/// Sends requests; cheap to clone.
#[derive(Clone)]
pub struct OutboundClient {
    guard: Arc<Guard>,
    /// By port: the guard decides about host name and port together, but a resolver receives only the name.
    clients: Arc<Mutex<HashMap<u16, Client>>>,
}

/// Why there is no response. Messages never contain the resolved address.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    #[error("the address is refused: {0}")]
    Refused(Refusal),
    /// A header is invalid.
    #[error("the request can't be sent: {0}")]
    Malformed(String),
    #[error("no response within {} s", DEADLINE.as_secs())]
    TimedOut,
    /// Resolution, connection or transmission failed.
    #[error("{0}")]
    Failed(String),
}

impl OutboundClient {
    /// Creates a client whose connections are checked by the guard.
    pub fn new(guard: Arc<Guard>) -> Self {
        Self {
            guard,
            clients: Arc::default(),
        }
    }

    /// Checks a URL whose host is an IP address. Fails if that address may not be reached.
    pub fn check_literal(&self, url: &Url) -> Result<(), Refusal> {
        self.guard.check_literal(url)
    }

    /// Returns a client for a URL. Fails if its host is an address that may not be reached, because those don't pass through the
    /// resolver.
    pub(super) fn client(&self, url: &Url) -> Result<Client, OutboundError> {
        self.check_literal(url).map_err(OutboundError::Refused)?;
        let port = url.port_or_known_default().unwrap_or_default();
        if let Some(client) = lock(&self.clients).get(&port) {
            return Ok(client.clone());
        }
        let resolver = GuardedResolver {
            guard: Arc::clone(&self.guard),
            port,
        };
        let client = Client::builder()
            .user_agent(concat!("Platen/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .redirect(Policy::none())
            .pool_idle_timeout(IDLE)
            .dns_resolver(Arc::new(resolver))
            .build()
            .map_err(|error| failed(&error))?;
        let mut clients = lock(&self.clients);
        if clients.len() >= CLIENTS
            && let Some(other) = clients.keys().next().copied()
        {
            clients.remove(&other);
        }
        clients.insert(port, client.clone());
        Ok(client)
    }
}

/// Reports only the root cause, because the other errors of the chain contain the URL with its query.
pub(super) fn failed(error: &reqwest::Error) -> OutboundError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match cause.downcast_ref::<ConnectError>() {
        Some(ConnectError::Refused(refusal)) => OutboundError::Refused(*refusal),
        _ => OutboundError::Failed(cause.to_string()),
    }
}

/// Resolves names to addresses that may be connected to at one port.
struct GuardedResolver {
    guard: Arc<Guard>,
    port: u16,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (guard, port) = (Arc::clone(&self.guard), self.port);
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = guard.resolve(name.as_str(), port).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
