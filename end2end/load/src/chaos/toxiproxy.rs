//! Toxiproxy: a proxy for TCP that breaks, delays and throttles connections on request.

use std::{fmt, io, time::Duration};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::{chaos::random::Random, error::LoadError, tool::Tool};

/// Proxies listen here, while connections from this machine come from 127.0.0.1, so that none of these can take the port of
/// a proxy that is disabled for a moment.
const LISTEN: &str = "127.0.0.2:0";
/// Maximum duration of a request to Toxiproxy.
const PATIENCE: Duration = Duration::from_secs(30);
/// Name of the only toxic that a proxy has at a time.
const TOXIC: &str = "toxic";

/// A running Toxiproxy, which is killed when dropped.
pub(super) struct Toxiproxy {
    tool: Tool,
    http: reqwest::Client,
}

/// A proxy in front of a server.
pub(super) struct Proxy {
    http: reqwest::Client,
    /// Its address in Toxiproxy's API.
    url: String,
    /// Host and port.
    pub(super) authority: String,
}

/// A fault of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// All connections are closed, and new ones are refused.
    Cut,
    /// All connections are reset, and new ones too.
    Reset,
    /// Nothing arrives any longer, in one direction, until the connections are closed.
    Silence,
    /// Everything arrives later.
    Latency,
    /// Little arrives at a time.
    Bandwidth,
}

impl Disturbance {
    pub(super) const ALL: [Self; 5] = [Self::Cut, Self::Reset, Self::Silence, Self::Latency, Self::Bandwidth];

    /// Returns whether connections end.
    pub(super) fn breaks_connections(self) -> bool {
        matches!(self, Self::Cut | Self::Reset | Self::Silence)
    }

    /// Returns a duration: short ones for faults that fail many attempts at once, because the number of attempts is limited.
    pub(super) fn duration(self, random: &mut Random) -> Duration {
        random.duration(match self {
            Self::Cut | Self::Reset => 500..=2_000,
            Self::Silence => 2_000..=5_000,
            Self::Latency | Self::Bandwidth => 3_000..=8_000,
        })
    }

    /// Returns the toxic that causes it; `None` if the proxy is disabled instead.
    fn toxic(self, random: &mut Random) -> Option<Value> {
        let (kind, attributes) = match self {
            Self::Cut => return None,
            Self::Reset => ("reset_peer", json!({ "timeout": 0 })),
            Self::Silence => ("timeout", json!({ "timeout": random.within(1_000..=3_000) })),
            Self::Latency => {
                let latency = random.within(50..=500);
                ("latency", json!({ "latency": latency, "jitter": latency / 2 }))
            }
            // In kilobytes per second, for each connection.
            Self::Bandwidth => ("bandwidth", json!({ "rate": random.within(32..=128) })),
        };
        let stream = random.either("upstream", "downstream");
        Some(json!({ "name": TOXIC, "type": kind, "stream": stream, "attributes": attributes }))
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cut => "connections cut",
            Self::Reset => "connections reset",
            Self::Silence => "silence",
            Self::Latency => "latency",
            Self::Bandwidth => "low bandwidth",
        })
    }
}

impl Toxiproxy {
    /// Starts the program and waits until it answers.
    pub(super) async fn start() -> Result<Self, LoadError> {
        let tool = Tool::start(
            "Toxiproxy",
            "toxiproxy/toxiproxy-server",
            "/version",
            |command, address, _| {
                command
                    .args(["-host", &address.ip().to_string()])
                    .args(["-port", &address.port().to_string()])
                    .env("LOG_LEVEL", "error");
            },
        );
        Ok(Self {
            tool: tool.await?,
            http: reqwest::Client::builder().no_proxy().timeout(PATIENCE).build()?,
        })
    }

    /// Creates a proxy in front of `upstream`, a host and port.
    pub(super) async fn create_proxy(&self, name: &str, upstream: &str) -> Result<Proxy, LoadError> {
        let url = format!("{}/proxies", self.tool.url);
        let proxy = json!({ "name": name, "listen": LISTEN, "upstream": upstream, "enabled": true });
        let created = send(self.http.post(&url).json(&proxy)).await?;
        let created: Value = created.json().await?;
        let authority = created["listen"].as_str().map(ToOwned::to_owned);
        Ok(Proxy {
            http: self.http.clone(),
            url: format!("{url}/{name}"),
            authority: authority.ok_or_else(|| LoadError::Tool("Toxiproxy", format!("created no proxy: {created}")))?,
        })
    }

    pub(super) async fn stop(self) -> io::Result<()> {
        self.tool.stop().await
    }
}

impl Proxy {
    /// Begins a disturbance.
    pub(super) async fn disturb(&self, disturbance: Disturbance, random: &mut Random) -> Result<(), LoadError> {
        match disturbance.toxic(random) {
            Some(toxic) => self.request(Method::POST, "/toxics", &toxic).await,
            None => self.request(Method::PATCH, "", &json!({ "enabled": false })).await,
        }
    }

    /// Ends a disturbance.
    pub(super) async fn heal(&self, disturbance: Disturbance) -> Result<(), LoadError> {
        if disturbance == Disturbance::Cut {
            return self.request(Method::PATCH, "", &json!({ "enabled": true })).await;
        }
        self.request(Method::DELETE, &format!("/toxics/{TOXIC}"), &Value::Null)
            .await
    }

    async fn request(&self, method: Method, path: &str, body: &Value) -> Result<(), LoadError> {
        let request = self.http.request(method, format!("{}{path}", self.url));
        send(request.json(body)).await?;
        Ok(())
    }
}

async fn send(request: RequestBuilder) -> Result<reqwest::Response, LoadError> {
    Ok(request.send().await?.error_for_status()?)
}
