//! Outgoing TCP connections; the only module that makes them.

use std::{io, net::SocketAddr};

use futures::{FutureExt, future::BoxFuture};
use tokio::net::TcpStream;

/// Makes connections. Tests substitute a double that records the addresses.
pub(crate) trait Dial: Send + Sync {
    /// Connects to `address`, without resolving anything.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>>;
}

/// Connects over TCP, with `TCP_NODELAY`.
pub(super) struct TcpDialler;

impl Dial for TcpDialler {
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>> {
        async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        }
        .boxed()
    }
}
