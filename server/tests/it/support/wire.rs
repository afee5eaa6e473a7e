//! A raw connection, on which a test sends arbitrary bytes at any speed.

use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{interval, timeout},
};

use crate::support::{process::PATIENCE, service::TestService};

/// Interval between two bytes of a slow client.
const TRICKLE: Duration = Duration::from_millis(100);
/// Small, so that data that the client doesn't read remains with the service.
const RECEIVE_BUFFER: u32 = 64 * 1024;

/// The client's end of the connection.
pub(crate) struct Wire(TcpStream);

impl Wire {
    /// Connects from 127.0.0.1.
    pub(crate) async fn open(service: &TestService) -> Self {
        Self::open_from(service, "127.0.0.1").await
    }

    /// Connects from this loopback address.
    pub(crate) async fn open_from(service: &TestService, source: &str) -> Self {
        let authority = service.base_url.strip_prefix("http://").expect("plain HTTP");
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(RECEIVE_BUFFER).expect("a buffer");
        socket
            .bind(format!("{source}:0").parse().expect("an address"))
            .expect("a port");
        let connecting = socket.connect(authority.parse().expect("an address"));
        Self(connecting.await.expect("a connection"))
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // The service may already have closed the connection, which the test detects.
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// Reads until this text was received.
    pub(crate) async fn until(&mut self, said: &str) -> String {
        let mut heard = Vec::new();
        let reading = async {
            while !String::from_utf8_lossy(&heard).contains(said) {
                let more = self.0.read_buf(&mut heard).await.expect("the connection stays");
                assert!(more > 0, "closed after {:?}", String::from_utf8_lossy(&heard));
            }
        };
        let read = timeout(PATIENCE, reading).await;
        let heard = String::from_utf8_lossy(&heard).into_owned();
        assert!(read.is_ok(), "no {said:?} in {heard:?}");
        heard
    }

    /// Reads until the service closes the connection.
    pub(crate) async fn until_closed(&mut self) -> String {
        let mut heard = Vec::new();
        let closed = timeout(PATIENCE, async {
            while !matches!(self.0.read_buf(&mut heard).await, Ok(0) | Err(_)) {}
        });
        assert!(closed.await.is_ok(), "it was not closed");
        String::from_utf8_lossy(&heard).into_owned()
    }

    /// Sends one byte repeatedly and slowly, until the service closes the connection; returns the response.
    pub(crate) async fn trickle(self, byte: u8) -> String {
        let (mut reading, mut writing) = self.0.into_split();
        let mut heard = Vec::new();
        let mut pace = interval(TRICKLE);
        let trickling = async {
            loop {
                tokio::select! {
                    read = reading.read_buf(&mut heard) => if matches!(read, Ok(0) | Err(_)) {
                        return;
                    },
                    _ = pace.tick() => {
                        let _ = writing.write_all(&[byte]).await;
                    }
                }
            }
        };
        assert!(timeout(PATIENCE, trickling).await.is_ok(), "it was not closed");
        String::from_utf8_lossy(&heard).into_owned()
    }

    /// Reads a response to its end at the speed of a slow network; returns its length.
    pub(crate) async fn read_slowly(&mut self, bytes_at_once: usize) -> usize {
        let mut pace = interval(TRICKLE);
        let mut buffer = vec![0; bytes_at_once];
        let mut length = 0;
        let reading = timeout(PATIENCE, async {
            loop {
                pace.tick().await;
                match self.0.read(&mut buffer).await {
                    Ok(0) | Err(_) => return length,
                    Ok(read) => length += read,
                }
            }
        });
        reading.await.expect("an end")
    }
}

/// Raises this process's limit of open files to the hard limit, for clients with thousands of connections.
pub(crate) fn raise_open_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    setrlimit(Resource::Nofile, raised).expect("up to the hard limit");
}
