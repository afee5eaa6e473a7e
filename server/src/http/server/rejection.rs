//! Rejection of connections beyond the limits: with a response if that is cheap, otherwise without.

use std::{sync::Arc, time::Duration};

use platen_core::service::metrics::connections::Refusal;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Semaphore,
    time::timeout,
};

/// Concurrent responses. Beyond them, connections are closed without a response.
const ANSWERS: usize = 64;
/// Time for a response to arrive. Closing a connection with unread bytes resets it, and the client wouldn't see the
/// response.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of a request that are read before the connection is closed anyway.
const REQUEST_BYTES: u64 = 64 * 1024;
const RETRY_SECONDS: u64 = 5;

/// Rejects connections.
pub(super) struct Rejections(Arc<Semaphore>);

impl Default for Rejections {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ANSWERS)))
    }
}

impl Rejections {
    /// Responds with 503 and closes the connection, or only closes it.
    pub(super) fn reject(&self, stream: TcpStream, refusal: Refusal) {
        let Ok(permit) = Arc::clone(&self.0).try_acquire_owned() else {
            return;
        };
        tokio::spawn(async move {
            let _permit = permit;
            let _ = timeout(PATIENCE, answer(stream, refusal)).await;
        });
    }
}

async fn answer(mut stream: TcpStream, refusal: Refusal) -> std::io::Result<()> {
    let message = match refusal {
        Refusal::Network => "There are too many open connections from your network. Close some, or try again in",
        Refusal::Total => "There are too many open connections to the service. Try again in",
    };
    let body = format!("{{\"error\":{{\"message\":\"{message} {RETRY_SECONDS} s.\"}}}}");
    let response = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: {RETRY_SECONDS}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await?;
    let mut request = stream.take(REQUEST_BYTES);
    let mut buffer = [0; 4096];
    while request.read(&mut buffer).await? > 0 {}
    Ok(())
}
