//! Sends webhooks.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use platen_domain::callback::CallbackTarget;
use tokio::time::timeout;

use crate::outbound::client::{DEADLINE, OutboundClient, OutboundError, failed};

/// Maximum number of bytes that are read of a response.
const ANSWER_BYTES: usize = 4096;
/// Maximum number of characters that are stored of a response.
const KEPT_CHARACTERS: usize = 500;

/// A receiver's response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// The beginning of the body, as text.
    pub beginning: String,
}

/// Posts a JSON body to a target. `headers` override those of the target. Fails after ten seconds.
pub async fn post(
    client: &OutboundClient,
    target: &CallbackTarget,
    headers: Vec<(HeaderName, String)>,
    body: String,
) -> Result<Answer, OutboundError> {
    let sending = send(client, target, headers, body);
    timeout(DEADLINE, sending).await.unwrap_or(Err(OutboundError::TimedOut))
}

async fn send(
    client: &OutboundClient,
    target: &CallbackTarget,
    own: Vec<(HeaderName, String)>,
    body: String,
) -> Result<Answer, OutboundError> {
    let request = client.client(&target.url)?.post(target.url.clone());
    let request = request.headers(all_headers(target, own)?).body(body);
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

fn all_headers(target: &CallbackTarget, own: Vec<(HeaderName, String)>) -> Result<HeaderMap, OutboundError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &target.headers {
        let name = HeaderName::try_from(name).map_err(|error| OutboundError::Malformed(error.to_string()))?;
        let value = HeaderValue::from_bytes(value.as_bytes());
        headers.append(
            name,
            value.map_err(|error| OutboundError::Malformed(error.to_string()))?,
        );
    }
    let json = (header::CONTENT_TYPE, "application/json".to_owned());
    for (name, value) in own.into_iter().chain([json]) {
        let value = HeaderValue::try_from(value).map_err(|error| OutboundError::Malformed(error.to_string()))?;
        headers.insert(name, value);
    }
    Ok(headers)
}
