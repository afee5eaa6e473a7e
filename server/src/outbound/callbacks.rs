//! Sends callbacks. A name is looked up by the egress guard, and only what passed it is dialled.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
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

use crate::domain::callback::CallbackTarget;

/// From the look-up of the address to the end of the answer.
const DEADLINE: Duration = Duration::from_secs(10);
/// So much of an answer is read.
const ANSWER_BYTES: usize = 4096;
/// So much of it is kept.
const KEPT_CHARACTERS: usize = 500;
/// Idle connections are kept for the next callback to the same host, but not for long.
const IDLE: Duration = Duration::from_secs(5);
/// Ports for which a client is kept. Nearly all callbacks go to one or two.
const CLIENTS: usize = 16;

/// Cheap to clone.
#[derive(Clone)]
pub struct CallbackClient {
    guard: Arc<Guard>,
    /// By port: the guard decides about a name and a port together, and a resolver hears of the name only.
    clients: Arc<Mutex<HashMap<u16, Client>>>,
}

/// What a receiver answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// How it began, as text.
    pub beginning: String,
}

/// Why there is no answer. Never names the address that a name stands for.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The address policy refuses it.
    #[error("the address is refused: {0}")]
    Refused(Refusal),
    /// A header is not one.
    #[error("the request can't be sent: {0}")]
    Malformed(String),
    /// Too slow.
    #[error("no answer within {} s", DEADLINE.as_secs())]
    TimedOut,
    /// Look-up, connection or transmission failed.
    #[error("{0}")]
    Failed(String),
}

impl CallbackClient {
    /// A client behind a guard.
    pub fn new(guard: Arc<Guard>) -> Self {
        Self {
            guard,
            clients: Arc::default(),
        }
    }

    /// Refuses what is already the literal of an address that may not be reached.
    pub fn check_literal(&self, url: &Url) -> Result<(), Refusal> {
        self.guard.check_literal(url)
    }

    /// Posts a JSON body with these headers, which win over those of the target.
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
        // The resolver is not asked about addresses.
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
            // PostgreSQL takes no U+0000.
            beginning: text
                .chars()
                .filter(|&character| character != '\0')
                .take(KEPT_CHARACTERS)
                .collect(),
        })
    }

    fn client(&self, port: u16) -> Result<Client, reqwest::Error> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
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

/// The last of the causes says what happened; the others name the address, with its query.
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

/// Answers with addresses that may be dialled at one port.
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
