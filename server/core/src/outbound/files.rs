//! Loads files from URLs.

use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, stream};
use http::header;
use platen_domain::{asset::LARGEST_ASSET, validation::quote};
use reqwest::Response;
use tokio::time::{timeout, timeout_at};
use url::Url;

use crate::{
    memory::{MemoryFull, Reservation},
    outbound::client::{DEADLINE, OutboundClient, OutboundError, failed},
    transfer::{SLOWEST_ROWS, TransferDeadline},
};

/// Maximum number of redirects.
const MOST_REDIRECTS: usize = 5;
/// Time for the header of the response with the rows of a batch, redirects included.
const HEADER_WITHIN: Duration = Duration::from_secs(30);

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
    #[error("no response within {} s", HEADER_WITHIN.as_secs())]
    NoResponse,
    /// Contains the value of `Content-Encoding`.
    #[error("it is compressed: its Content-Encoding is {0}")]
    Compressed(String),
    #[error("the transfer was interrupted: {0}")]
    BrokenOff(OutboundError),
    #[error("it arrives with less than {} KiB/s on average", SLOWEST_ROWS >> 10)]
    TooSlow,
    #[error(transparent)]
    Memory(#[from] MemoryFull),
}

/// A file whose content is not read yet.
pub struct OpenFile(Response);

impl OpenFile {
    /// Returns the URL of the file itself, after redirects.
    pub fn url(&self) -> &Url {
        self.0.url()
    }

    /// Returns the media type that the server names.
    pub fn content_type(&self) -> Option<&str> {
        self.0.headers().get(header::CONTENT_TYPE)?.to_str().ok()
    }

    /// Returns the content while it arrives. Fails if it breaks off, or if, once `time` is over, it is slower than the rows of a batch
    /// may be. Time between two items is the reader's.
    pub fn content(self, time: Duration) -> impl Stream<Item = Result<Bytes, FileError>> {
        let deadline = TransferDeadline::new(time);
        stream::try_unfold((self.0, deadline), |(mut answer, mut deadline)| async move {
            let received = timeout_at(deadline.wait(), answer.chunk()).await;
            let received = received.map_err(|_| FileError::TooSlow)?;
            let chunk = received.map_err(|error| FileError::BrokenOff(failed(&error)))?;
            Ok::<_, FileError>(chunk.map(|chunk| {
                deadline.receive(chunk.len());
                (chunk, (answer, deadline))
            }))
        })
    }
}

/// Loads the file at a URL, of at most [`LARGEST_ASSET`] bytes. Follows redirects. `memory`, which reserves nothing yet, grows
/// with it. Fails after ten seconds.
pub async fn get(client: &OutboundClient, url: Url, memory: &mut Reservation) -> Result<Vec<u8>, FileError> {
    let loading = async { read(request(client, url).await?, memory).await };
    timeout(DEADLINE, loading)
        .await
        .unwrap_or(Err(OutboundError::TimedOut.into()))
}

/// Opens the file at a URL, of any size. Follows redirects. Fails without a response after 30 seconds, and if the file is compressed.
pub async fn open(client: &OutboundClient, url: Url) -> Result<OpenFile, FileError> {
    let answer = timeout(HEADER_WITHIN, request(client, url))
        .await
        .unwrap_or(Err(FileError::NoResponse))?;
    match answer.headers().get(header::CONTENT_ENCODING) {
        Some(encoding) if !encoding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            let encoding = String::from_utf8_lossy(encoding.as_bytes());
            Err(FileError::Compressed(quote(&encoding)))
        }
        _ => Ok(OpenFile(answer)),
    }
}

/// Requests a file, follows redirects, and returns the response with status 200.
async fn request(client: &OutboundClient, mut url: Url) -> Result<Response, FileError> {
    for _ in 0..=MOST_REDIRECTS {
        let request = client.client(&url)?.get(url.clone());
        let answer = request.send().await.map_err(|error| failed(&error))?;
        match answer.status().as_u16() {
            200 => return Ok(answer),
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

#[cfg(test)]
mod tests {
    use std::{io, pin::pin};

    use futures::StreamExt;
    use reqwest::Body;
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_file_is_not_slow_if_only_its_reader_is() {
        let pieces = [Bytes::from_static(b"a"), Bytes::from_static(b"b")].map(Ok::<_, io::Error>);
        let answer = http::Response::new(Body::wrap_stream(stream::iter(pieces)));
        let mut content = pin!(OpenFile(answer.into()).content(Duration::from_mins(1)));
        for expected in ["a", "b"] {
            advance(Duration::from_mins(2)).await;
            let received = content.next().await.expect("a piece").expect("in time");
            assert_eq!(received, expected);
        }
    }
}
