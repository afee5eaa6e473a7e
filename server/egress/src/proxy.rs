//! A forward proxy for one browser session.

use std::{io, sync::Arc};

use crate::{guard::Guard, log::ConnectionLog};

/// An HTTP forward proxy on a loopback port of its own. Closed until the first [`Proxy::begin_render`]; dropping it
/// closes the port and every connection.
pub struct Proxy {
    port: u16,
}

impl Proxy {
    /// Opens a port on 127.0.0.1. Must be called inside a Tokio runtime.
    #[expect(clippy::unused_async, reason = "signature first")]
    pub async fn open(_guard: Arc<Guard>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Lets connections in for a new render, with an empty log and byte count. Connections that were made before the
    /// call are closed, never booked on the new render.
    pub fn begin_render(&self) {}

    /// Closes every connection and refuses new ones until the next [`Proxy::begin_render`]. The log stays.
    pub fn close_connections(&self) {}

    /// The log of the current (or last) render, which is empty afterwards.
    pub fn take_log(&self) -> ConnectionLog {
        ConnectionLog::default()
    }
}
