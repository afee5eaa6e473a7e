//! A proxy between the service and an object store that injects faults.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A fault in one connection's request.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The connection is closed before anything is read.
    Dropped,
    /// The request reaches the store, but its response is lost, so that the outcome is unknown.
    AnswerLost,
    /// The response is truncated.
    AnswerCut,
    /// The response arrives in small pieces.
    Slow,
    /// The response never ends; the store doesn't receive the request.
    Endless,
    /// The response has this status, content type and body; the store doesn't receive the request.
    Answered(u16, &'static str, &'static str),
}

/// A running proxy; stopped on drop.
pub(crate) struct FaultProxy {
    /// `127.0.0.1:port`
    pub(crate) authority: String,
    faults: Arc<Mutex<VecDeque<Fault>>>,
    requests: Requests,
    server: JoinHandle<()>,
}

type Requests = Arc<Mutex<Vec<String>>>;

impl FaultProxy {
    /// Starts a proxy for a store. Each connection serves one request; the first ones get these faults, in order.
    pub(crate) async fn before(upstream: &str, faults: impl IntoIterator<Item = Fault>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let authority = listener.local_addr().expect("bound").to_string();
        let faults = Arc::new(Mutex::new(faults.into_iter().collect::<VecDeque<_>>()));
        let requests = Requests::default();
        let (upstream, coming, passed_on) = (upstream.to_owned(), faults.clone(), requests.clone());
        let server = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let fault = coming.lock().expect("no panic").pop_front();
                let (upstream, passed_on) = (upstream.clone(), passed_on.clone());
                // An error here is a fault that the client must handle.
                tokio::spawn(async move { serve(client, &upstream, fault, &passed_on).await });
            }
        });
        Self {
            authority,
            faults,
            requests,
            server,
        }
    }

    /// Returns the endpoint to use instead of the store's.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.authority)
    }

    /// Injects these faults into the next connections, in order.
    pub(crate) fn spoil(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.lock().expect("no panic").extend(faults);
    }

    /// Returns the number of faults that are still to be injected.
    pub(crate) fn faults_left(&self) -> usize {
        self.faults.lock().expect("no panic").len()
    }

    /// Returns the requests passed on to the store so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(mut client: TcpStream, upstream: &str, fault: Option<Fault>, passed_on: &Requests) -> io::Result<()> {
    if let Some(Fault::Dropped) = fault {
        return Ok(());
    }
    let request = read_message(&mut client).await?;
    if let Some(Fault::Endless) = fault {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", u64::MAX);
        client.write_all(head.as_bytes()).await?;
        loop {
            // Fails once the client has disconnected.
            client.write_all(&[b' '; 8 * 1024]).await?;
        }
    }
    if let Some(Fault::Answered(status, content_type, body)) = fault {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Status\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        client.write_all(head.as_bytes()).await?;
        return client.write_all(body.as_bytes()).await;
    }
    let text = String::from_utf8_lossy(&request).into_owned();
    passed_on.lock().expect("no panic").push(text);
    let mut store = TcpStream::connect(upstream).await?;
    store.write_all(&request).await?;
    let answer = closing(read_message(&mut store).await?);
    match fault {
        Some(Fault::AnswerLost) => Ok(()),
        Some(Fault::AnswerCut) => client.write_all(&answer[..answer.len() / 2]).await,
        Some(Fault::Slow) => {
            for drops in answer.chunks(64) {
                client.write_all(drops).await?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(())
        }
        _ => client.write_all(&answer).await,
    }
}

/// Reads a complete request or response, with its body delimited by `Content-Length` or chunked.
async fn read_message(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        if let Some(head) = end_of_head(&message) {
            let text = String::from_utf8_lossy(&message[..head]).to_lowercase();
            let field = |name: &str| {
                text.lines()
                    .find_map(|line| line.strip_prefix(name).map(str::trim).map(str::to_owned))
            };
            let complete = match (field("content-length:"), field("transfer-encoding:")) {
                (Some(length), _) => message.len() >= head + length.parse::<usize>().expect("a number"),
                (None, Some(_)) => message.ends_with(b"\r\n0\r\n\r\n"),
                (None, None) => true,
            };
            if complete {
                return Ok(message);
            }
            if text.contains("expect: 100-continue") && message.len() == head {
                stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
        }
        match stream.read(&mut piece).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => message.extend_from_slice(&piece[..read]),
        }
    }
}

fn end_of_head(message: &[u8]) -> Option<usize> {
    let found = message.windows(4).position(|window| window == b"\r\n\r\n");
    found.map(|position| position + 4)
}

/// Adds `connection: close` to a response, so that the next request uses another connection.
fn closing(mut answer: Vec<u8>) -> Vec<u8> {
    if let Some(first_line) = answer.windows(2).position(|window| window == b"\r\n") {
        answer.splice(first_line..first_line, b"\r\nconnection: close".iter().copied());
    }
    answer
}
