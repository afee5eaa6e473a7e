//! The client of a running service, for commands that use its API with a key from the environment.

use std::{env, error::Error, time::Duration};

use clap::Args;
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url, header, redirect::Policy};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::cli::failure::Failure;

/// Environment variable of the API key.
const KEY: &str = "PLATEN_KEY";
/// Maximum size of a response in bytes: a page of the largest templates, most of whose characters are escaped.
const LARGEST_RESPONSE: usize = 160 << 20;
/// Maximum duration of a request, without waiting for the account's rate limit: a comparison may wait a minute for others,
/// and renders two documents.
const LONGEST_REQUEST: Duration = Duration::from_mins(5);
/// Maximum duration of establishing a connection.
const LONGEST_CONNECTING: Duration = Duration::from_secs(10);
/// Maximum number of times that a request is sent, if the service is at a limit.
const TRIES: usize = 5;
/// The longest wait before a request is sent again.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Where the service is.
#[derive(Args)]
pub(super) struct ServerArgument {
    /// Address of the service. The key is the value of the environment variable `PLATEN_KEY`.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:3000")]
    server: Url,
}

/// A service, and a key of one of its accounts.
pub(super) struct Client {
    http: reqwest::Client,
    address: Url,
    key: SecretString,
}

/// A request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    /// The service was not reached, or its response is not one of Platen.
    #[error("{address}: {cause}")]
    Unusable { address: String, cause: String },
    /// The service refused the request, with this body, which is `null` if it isn't JSON.
    #[error("{}", messages(*status, body).join("\n"))]
    Refused { status: StatusCode, body: Value },
}

impl ClientError {
    /// Returns whether the same request may succeed later: the service was not reached, or it or a proxy before it had trouble.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unusable { .. } => true,
            Self::Refused { status, .. } => status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

/// The envelope of responses.
#[derive(Deserialize)]
pub(super) struct Data<T> {
    pub(super) data: T,
}

impl ServerArgument {
    /// Returns the client of the service. `scopes` are those that the key needs, for the error if there is none.
    pub(super) fn client(&self, scopes: &str) -> Result<Client, Failure> {
        let key = env::var(KEY).map_err(|_| {
            let reason =
                format!("the environment variable {KEY} is not set: set it to an API key with the scopes {scopes}");
            Failure::by_caller(&reason)
        })?;
        // Files of secrets often end with a line break.
        let key = key.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::by_caller(&format!(
                "the environment variable {KEY} holds no API key"
            )));
        }
        Ok(Client::new(self.server.clone(), SecretString::from(key))?)
    }
}

impl Client {
    /// `address` is that of the service, without a path of the API.
    pub(super) fn new(mut address: Url, key: SecretString) -> Result<Self, reqwest::Error> {
        // The key authenticates requests. A user name and password would be shown in errors.
        let _ = address.set_username("");
        let _ = address.set_password(None);
        // The key must not be sent to another address.
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .timeout(LONGEST_REQUEST)
            .connect_timeout(LONGEST_CONNECTING)
            .user_agent(concat!("platen/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, address, key })
    }

    /// Sends a request that `prepare` completes, and again while the service is at a limit. Returns a response of success.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        prepare: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response, ClientError> {
        let mut tries = 0;
        loop {
            tries += 1;
            let response = self.attempt(method.clone(), path, &prepare).await?;
            match retry_after(&response).filter(|_| tries < TRIES) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return self.checked(response).await,
            }
        }
    }

    /// As [`Self::send`], but only once, also while the service is at a limit.
    pub(super) async fn send_once(
        &self,
        method: Method,
        path: &str,
        prepare: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response, ClientError> {
        let response = self.attempt(method, path, prepare).await?;
        self.checked(response).await
    }

    async fn attempt(
        &self,
        method: Method,
        path: &str,
        prepare: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response, ClientError> {
        let address = self.address.join(path).map_err(|error| self.unusable(&error))?;
        let request = self.http.request(method, address);
        let request = prepare(request.bearer_auth(self.key.expose_secret()));
        request.send().await.map_err(|error| self.unreached(error))
    }

    async fn checked(&self, response: Response) -> Result<Response, ClientError> {
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(self.refusal(response).await)
        }
    }

    pub(super) async fn read<T: DeserializeOwned>(&self, response: Response) -> Result<T, ClientError> {
        let bytes = self.bytes(response).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| self.unusable(&format!("the response is not that of this version of Platen: {error}")))
    }

    pub(super) async fn bytes(&self, mut response: Response) -> Result<Vec<u8>, ClientError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreached(error))? {
            if bytes.len() + chunk.len() > LARGEST_RESPONSE {
                return Err(self.unusable(&format!("the response has more than {LARGEST_RESPONSE} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    async fn refusal(&self, response: Response) -> ClientError {
        let status = response.status();
        match self.bytes(response).await {
            Ok(bytes) => ClientError::Refused {
                status,
                body: serde_json::from_slice(&bytes).unwrap_or_default(),
            },
            Err(error) => error,
        }
    }

    /// Returns the error with its causes: only they tell whether the name, the port or the certificate is wrong.
    fn unreached(&self, error: reqwest::Error) -> ClientError {
        let error = error.without_url();
        let mut causes = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(deeper) = cause {
            causes.push(deeper.to_string());
            cause = deeper.source();
        }
        let advice = if error.is_connect() {
            ". Is --server the address of the service?"
        } else {
            ""
        };
        self.unusable(&(causes.join(": ") + advice))
    }

    pub(super) fn unusable(&self, cause: &impl ToString) -> ClientError {
        ClientError::Unusable {
            address: self.address.to_string(),
            cause: cause.to_string(),
        }
    }
}

/// Returns the errors of a response in one of the API's three formats, with the pointers of those that have one.
pub(super) fn errors(status: StatusCode, body: &Value) -> Vec<(Option<&str>, String)> {
    if let Some(errors) = body["errors"].as_array() {
        let errors = errors.iter().map(|error| {
            let detail = error["detail"].as_str().unwrap_or_default();
            (error["source"]["pointer"].as_str(), detail.to_owned())
        });
        return errors.collect();
    }
    let message = body["message"].as_str().or(body["error"]["message"].as_str());
    let text = message.map_or_else(|| format!("the service responded with {status}"), ToOwned::to_owned);
    vec![(None, text)]
}

fn messages(status: StatusCode, body: &Value) -> Vec<String> {
    let errors = errors(status, body).into_iter();
    let messages = errors.map(|(pointer, text)| match pointer {
        Some(pointer) if !pointer.is_empty() => format!("{pointer}: {text}"),
        _ => text,
    });
    messages.collect()
}

/// Returns how long to wait if the service is at a limit.
fn retry_after(response: &Response) -> Option<Duration> {
    if !matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    ) {
        return None;
    }
    let seconds = response
        .headers()
        .get(header::RETRY_AFTER)?
        .to_str()
        .ok()?
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}
