//! Doubles for resolver and network, small servers, a small client.

use std::{
    collections::{HashMap, VecDeque},
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{
    guard::{Guard, GuardLimits, dial::Dial},
    policy::AddressPolicy,
    proxy::{Proxy, lock},
    resolve::Resolve,
};

/// Awaits `future`; panics after 20 seconds instead of hanging.
pub(super) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("timed out after 20 seconds")
}

/// A resolver that returns the configured answers in order, repeating the last.
#[derive(Default)]
pub(super) struct Names {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub(super) fn answer(&self, host: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        lock(&self.answers)
            .entry(host.to_owned())
            .or_default()
            .push_back(addresses);
    }

    pub(super) fn asked(&self) -> Vec<String> {
        lock(&self.asked).clone()
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        async move {
            lock(&self.asked).push(host.to_owned());
            let mut answers = lock(&self.answers);
            let answers = answers.get_mut(host).ok_or(io::ErrorKind::NotFound)?;
            Ok(if answers.len() > 1 {
                answers.pop_front().unwrap()
            } else {
                answers[0].clone()
            })
        }
        .boxed()
    }
}

/// A network in which each address leads to a local server, never responds, or refuses the connection.
#[derive(Default)]
pub(super) struct Network {
    servers: Mutex<HashMap<IpAddr, SocketAddr>>,
    silent: Mutex<Vec<IpAddr>>,
    dialled: Mutex<Vec<SocketAddr>>,
}

impl Network {
    pub(super) fn connect(&self, address: &str, server: SocketAddr) {
        lock(&self.servers).insert(address.parse().unwrap(), server);
    }

    pub(super) fn silence(&self, address: &str) {
        lock(&self.silent).push(address.parse().unwrap());
    }

    pub(super) fn dialled(&self) -> Vec<String> {
        lock(&self.dialled).iter().map(ToString::to_string).collect()
    }
}

impl Dial for Network {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        lock(&self.dialled).push(address);
        if lock(&self.silent).contains(&address.ip()) {
            return std::future::pending().boxed();
        }
        let server = lock(&self.servers).get(&address.ip()).copied();
        async move { TcpStream::connect(server.ok_or(io::ErrorKind::ConnectionRefused)?).await }.boxed()
    }
}

/// A proxy with doubles for resolver and network.
pub(super) struct World {
    pub(super) names: Arc<Names>,
    pub(super) network: Arc<Network>,
    pub(super) proxy: Proxy,
}

impl World {
    pub(super) fn new(limits: GuardLimits) -> Self {
        let names = Arc::new(Names::default());
        let network = Arc::new(Network::default());
        let guard = Guard::with_dialler(
            AddressPolicy::default(),
            Arc::clone(&names) as _,
            Arc::clone(&network) as _,
            limits,
        );
        let proxy = Proxy::open(guard).unwrap();
        proxy.begin_render();
        Self { names, network, proxy }
    }

    /// Creates a world in which `a.example` has a public address that leads to `server`.
    pub(super) fn with_server(limits: GuardLimits, server: SocketAddr) -> Self {
        let world = Self::new(limits);
        world.names.answer("a.example", &[PUBLIC]);
        world.network.connect(PUBLIC, server);
        world
    }

    pub(super) async fn get(&self, url: &str) -> Answer {
        get(&self.proxy, url).await
    }
}

pub(super) const PUBLIC: &str = "93.184.216.34";

/// Starts a server that calls `serve` for every connection.
pub(super) async fn server<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    address
}

/// Starts a server that reads one request header, sends `answer` and closes the connection.
pub(super) async fn static_server(answer: &'static str) -> SocketAddr {
    server(move |mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(answer.as_bytes()).await
    })
    .await
}

/// Starts a server that echoes all bytes.
pub(super) async fn echo_server() -> SocketAddr {
    server(|mut stream| async move {
        let (mut from, mut to) = stream.split();
        tokio::io::copy(&mut from, &mut to).await?;
        Ok(())
    })
    .await
}

/// Starts a server that sends an endless response.
pub(super) async fn endless_server() -> SocketAddr {
    server(|mut stream| async move {
        read_head(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
        loop {
            stream.write_all(&[b'x'; 4096]).await?;
        }
    })
    .await
}

/// Reads up to and including the blank line.
pub(super) async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8(head).unwrap())
}

pub(super) struct Answer {
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.head[9..12].parse().unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

pub(super) async fn connect(proxy: &Proxy) -> TcpStream {
    within(TcpStream::connect(("127.0.0.1", proxy.port()))).await.unwrap()
}

pub(super) async fn get(proxy: &Proxy, url: &str) -> Answer {
    let request = format!("GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    exchange(proxy, &request).await
}

/// Sends `request` and reads until the proxy closes the connection.
pub(super) async fn exchange(proxy: &Proxy, request: &str) -> Answer {
    let mut stream = connect(proxy).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = within(read_head(&mut stream)).await.unwrap();
    let mut body = String::new();
    within(stream.read_to_string(&mut body)).await.unwrap();
    Answer { head, body }
}

/// Opens a tunnel; the error is the response header.
pub(super) async fn tunnel(proxy: &Proxy, authority: &str) -> Result<TcpStream, String> {
    let mut stream = connect(proxy).await;
    let request = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = within(read_head(&mut stream)).await.unwrap();
    if head.starts_with("HTTP/1.1 200") {
        Ok(stream)
    } else {
        Err(head)
    }
}

/// Reads until the peer closes or resets the connection and returns the number of bytes received.
pub(super) async fn read_until_closed(stream: &mut TcpStream) -> usize {
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    while let Ok(bytes @ 1..) = within(stream.read(&mut buffer)).await {
        total += bytes;
    }
    total
}

/// A server on loopback that must never be reached.
pub(super) struct Canary {
    listener: std::net::TcpListener,
}

impl Canary {
    pub(super) fn new() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { listener }
    }

    pub(super) fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    pub(super) fn assert_silent(&self) {
        let reached = self.listener.accept().map(|(_, peer)| peer);
        assert_eq!(reached.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
