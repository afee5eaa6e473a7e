//! Sends webhooks. Host names are resolved by the egress guard, and only addresses that it allows are connected to.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{HeaderMap, HeaderName, HeaderValue, header};
use platen_domain::callback::CallbackTarget;
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

/// Time limit from the resolution of the name to the end of the response.
const DEADLINE: Duration = Duration::from_secs(10);
/// Maximum number of bytes that are read of a response.
const ANSWER_BYTES: usize = 4096;
/// Maximum number of characters that are stored of a response.
const KEPT_CHARACTERS: usize = 500;
/// Idle connections are reused by webhooks to the same host, but only for a short time.
const IDLE: Duration = Duration::from_secs(5);
/// Maximum number of ports with a client of their own. Nearly all webhooks use one or two ports.
const CLIENTS: usize = 16;

/// Sends webhooks; cheap to clone.
#[derive(Clone)]
pub struct CallbackClient {
    guard: Arc<Guard>,
    /// By port: the guard decides about host name and port together, but a resolver receives only the name.
    clients: Arc<Mutex<HashMap<u16, Client>>>,
}

/// A receiver's response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// The beginning of the body, as text.
    pub beginning: String,
}

/// Why there is no response. Messages never contain the resolved address.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
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

impl CallbackClient {
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

    /// Posts a JSON body. `headers` override those of the target. Fails after ten seconds.
    pub async fn post(
        &self,
        target: &CallbackTarget,
        headers: Vec<(HeaderName, String)>,
        body: String,
    ) -> Result<Answer, SendError> {
        let sending = self.send(target, headers, body);
        tokio::time::timeout(DEADLINE, sending)
            .await
            .unwrap_or(Err(SendError::TimedOut))
    }

    async fn send(
        &self,
        target: &CallbackTarget,
        own: Vec<(HeaderName, String)>,
        body: String,
    ) -> Result<Answer, SendError> {
        // IP addresses don't pass through the resolver.
        self.check_literal(&target.url).map_err(SendError::Refused)?;
        let client = self.client(target.url.port_or_known_default().unwrap_or_default());
        let request = client
            .map_err(|error| failed(&error))?
            .post(target.url.clone())
            .headers(all_headers(target, own)?)
            .body(body);
        let mut answer = request.send().await.map_err(|error| failed(&error))?;
        let mut beginning = Vec::new();
        while beginning.len() < ANSWER_BYTES {
            match answer.chunk().await.map_err(|error| failed(&error))? {
                Some(chunk) => beginning.extend_from_slice(&chunk),
                None => break,
            }
        }
        let text = String::from_utf8_lossy(&beginning);
        Ok(Answer {
            status: answer.status().as_u16(),
            // Postgres doesn't accept U+0000.
            beginning: text
                .chars()
                .filter(|&character| character != '\0')
                .take(KEPT_CHARACTERS)
                .collect(),
        })
    }

    fn client(&self, port: u16) -> Result<Client, reqwest::Error> {
        let mut clients = lock(&self.clients);
        if let Some(client) = clients.get(&port) {
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
            .build()?;
        if clients.len() >= CLIENTS {
            clients.clear();
        }
        clients.insert(port, client.clone());
        Ok(client)
    }
}

fn all_headers(target: &CallbackTarget, own: Vec<(HeaderName, String)>) -> Result<HeaderMap, SendError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &target.headers {
        let name = HeaderName::try_from(name).map_err(|error| SendError::Malformed(error.to_string()))?;
        let value = HeaderValue::from_bytes(value.as_bytes());
        headers.append(name, value.map_err(|error| SendError::Malformed(error.to_string()))?);
    }
    let json = (header::CONTENT_TYPE, "application/json".to_owned());
    for (name, value) in own.into_iter().chain([json]) {
        let value = HeaderValue::try_from(value).map_err(|error| SendError::Malformed(error.to_string()))?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Reports only the root cause, because the other errors of the chain contain the URL with its query.
fn failed(error: &reqwest::Error) -> SendError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match cause.downcast_ref::<ConnectError>() {
        Some(ConnectError::Refused(refusal)) => SendError::Refused(*refusal),
        _ => SendError::Failed(cause.to_string()),
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
