//! Loads files from URLs.

use http::header;
use platen_domain::asset::LARGEST_ASSET;
use reqwest::Response;
use tokio::time::timeout;
use url::Url;

use crate::{
    memory::{MemoryFull, Reservation},
    outbound::client::{DEADLINE, OutboundClient, OutboundError, failed},
};

/// Maximum number of redirects.
const MOST_REDIRECTS: usize = 5;

/// Why a file can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Outbound(#[from] OutboundError),
    #[error("the server responds with status {0} instead of 200")]
    Status(u16),
    #[error("it redirects more than {MOST_REDIRECTS} times")]
    Redirects,
    #[error("it redirects to no http:// or https:// URL")]
    Location,
    #[error("it has more than {} MiB", LARGEST_ASSET >> 20)]
    TooLarge,
    #[error(transparent)]
    Memory(#[from] MemoryFull),
}

/// Loads the file at a URL, of at most [`LARGEST_ASSET`] bytes. Follows redirects. `memory`, which reserves nothing yet, grows
/// with it. Fails after ten seconds.
pub async fn get(client: &OutboundClient, url: Url, memory: &mut Reservation) -> Result<Vec<u8>, FileError> {
    let loading = load(client, url, memory);
    timeout(DEADLINE, loading)
        .await
        .unwrap_or(Err(OutboundError::TimedOut.into()))
}

async fn load(client: &OutboundClient, mut url: Url, memory: &mut Reservation) -> Result<Vec<u8>, FileError> {
    for _ in 0..=MOST_REDIRECTS {
        let request = client.client(&url)?.get(url.clone());
        let answer = request.send().await.map_err(|error| failed(&error))?;
        match answer.status().as_u16() {
            200 => return read(answer, memory).await,
            301 | 302 | 303 | 307 | 308 => url = target(&url, &answer).ok_or(FileError::Location)?,
            status => return Err(FileError::Status(status)),
        }
    }
    Err(FileError::Redirects)
}

/// Returns where a redirect leads.
fn target(url: &Url, answer: &Response) -> Option<Url> {
    let location = answer.headers().get(header::LOCATION)?.to_str().ok()?;
    let target = url.join(location).ok()?;
    matches!(target.scheme(), "http" | "https").then_some(target)
}

async fn read(mut answer: Response, memory: &mut Reservation) -> Result<Vec<u8>, FileError> {
    let mut content = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| failed(&error))? {
        let needed = content.len() + chunk.len();
        if needed > LARGEST_ASSET {
            return Err(FileError::TooLarge);
        }
        if needed > content.capacity() {
            let capacity = needed.max(2 * content.capacity());
            memory.try_grow((capacity - content.capacity()) as u64)?;
            content.reserve_exact(capacity - content.len());
        }
        content.extend_from_slice(&chunk);
    }
    content.shrink_to_fit();
    memory.shrink_to(content.len() as u64);
    Ok(content)
}
