//! The one place where a connection to the outside is made.

use std::{io, net::SocketAddr};

use futures::{FutureExt, future::BoxFuture};
use tokio::net::TcpStream;

/// Makes connections; a test puts a double in its place to see what is dialled.
pub(crate) trait Dial: Send + Sync {
    /// A connection to `address` itself.
    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<TcpStream>>;
}

/// The network.
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
