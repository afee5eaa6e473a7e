//! Servers on loopback: an origin that pages may reach, and a canary that must never be reached.

use std::{
    fmt::Write,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
    task::JoinSet,
};

/// Response of an origin.
#[derive(Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    after: Duration,
}

/// A request received by an origin.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Path with query string.
    pub(crate) path: String,
    /// Request line and headers, as sent.
    pub(crate) head: String,
}

/// An HTTP server that stops when it is dropped.
pub(crate) struct Origin {
    pub(crate) port: u16,
    received: Arc<Mutex<Vec<Received>>>,
    _server: JoinSet<()>,
}

/// Records every connection and datagram, over IPv4 and, if available, IPv6.
pub(crate) struct Canary {
    pub(crate) port: u16,
    touched: Arc<Mutex<Vec<String>>>,
    _servers: JoinSet<()>,
}

impl Reply {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            body: body.into(),
            after: Duration::ZERO,
        }
    }

    pub(crate) fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/html; charset=utf-8", body)
    }

    pub(crate) fn script(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/javascript", body)
    }

    pub(crate) fn redirect(status: u16, to: &str) -> Self {
        Self::new(status, "text/plain", "").header("Location", to)
    }

    pub(crate) fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if self.status != 204 {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        head += "\r\n";
        [head.as_bytes(), &self.body].concat()
    }
}

impl Origin {
    /// Starts a server that replies to each request with the result of `answer`; `None` becomes a 404.
    pub(crate) async fn start(answer: impl Fn(&Received) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let answer = Arc::new(answer);
        let mut server = JoinSet::new();
        let log = Arc::clone(&received);
        server.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                connections.spawn(async move {
                    let _ = serve(stream, &*answer, &log).await;
                });
            }
        });
        Self {
            port,
            received,
            _server: server,
        }
    }

    /// Returns the URL of a path at this server.
    pub(crate) fn url(&self, path: &str) -> url::Url {
        format!("http://127.0.0.1:{}{path}", self.port).parse().unwrap()
    }

    /// Returns an allow list entry for this server.
    pub(crate) fn entry(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns all received requests, in order.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Returns the number of requests for a path.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.received().iter().filter(|request| request.path == path).count()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(impl Fn(&Received) -> Option<Reply> + Send + Sync),
    log: &Mutex<Vec<Received>>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let request = Received { path, head };
    log.lock().unwrap().push(request.clone());
    let reply = answer(&request).unwrap_or_else(|| Reply::new(404, "text/html", "nothing here"));
    tokio::time::sleep(reply.after).await;
    stream.write_all(&reply.bytes()).await?;
    stream.shutdown().await
}

impl Canary {
    pub(crate) async fn start() -> Self {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = tcp.local_addr().unwrap().port();
        let touched = Arc::new(Mutex::new(Vec::new()));
        let mut servers = JoinSet::new();
        servers.spawn(note_connections(tcp, Arc::clone(&touched)));
        // Another test may occupy the port on IPv6, or the machine may have no IPv6.
        if let Ok(tcp) = TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await {
            servers.spawn(note_connections(tcp, Arc::clone(&touched)));
        }
        for address in [
            SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            SocketAddr::from((Ipv6Addr::LOCALHOST, port)),
        ] {
            if let Ok(udp) = UdpSocket::bind(address).await {
                servers.spawn(note_datagrams(udp, Arc::clone(&touched)));
            }
        }
        Self {
            port,
            touched,
            _servers: servers,
        }
    }

    /// Returns a URL of the canary with a name or spelling of its host.
    pub(crate) fn at(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// Panics with all received data, if there is any.
    pub(crate) fn assert_untouched(&self) {
        let touched = self.touched.lock().unwrap();
        assert!(touched.is_empty(), "the canary was reached: {touched:#?}");
    }
}

async fn note_connections(listener: TcpListener, touched: Arc<Mutex<Vec<String>>>) {
    let mut connections = JoinSet::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        touched.lock().unwrap().push("TCP connection".to_owned());
        let touched = Arc::clone(&touched);
        connections.spawn(async move {
            let mut start = [0; 200];
            let length = stream.read(&mut start).await.unwrap_or(0);
            note(&touched, "TCP", &start[..length]);
            let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nAccess-Control-Allow-Origin: *\r\n\r\ncanary";
            let _ = stream.write_all(answer).await;
        });
    }
}

async fn note_datagrams(socket: UdpSocket, touched: Arc<Mutex<Vec<String>>>) {
    let mut datagram = [0; 200];
    while let Ok(length) = socket.recv(&mut datagram).await {
        note(&touched, "UDP", &datagram[..length]);
    }
}

fn note(touched: &Mutex<Vec<String>>, kind: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    touched.lock().unwrap().push(format!("{kind}: {text}"));
}
