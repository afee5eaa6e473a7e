//! A forward proxy for one browser session.

mod answer;
mod connection;
mod forward;
mod metered;
mod names;
mod render;
mod target;
mod tunnel;

use std::{
    future::poll_fn,
    io,
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    guard::Guard,
    log::ConnectionLog,
    proxy::{connection::Connection, render::Render},
};

/// Header of a 403 by the proxy itself; its value is the rule in words. Never passed on from outside.
pub const REFUSED_HEADER: &str = "x-platen-refused";
/// Header of a 502 or 504 by the proxy itself; its value is the reason in words. Never passed on from outside.
pub const FAILED_HEADER: &str = "x-platen-failed";

/// More connections than the kernel keeps for us to accept.
const BACKLOG: usize = 4_096;
/// Connections end when they are polled next.
const ENDING_LIMIT: Duration = Duration::from_secs(1);
/// When no connection can be accepted (out of file descriptors, say), the next try waits so long.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// An HTTP forward proxy on a loopback port of its own: absolute-form requests for plain HTTP, `CONNECT` for the rest.
/// Closed until the first [`Proxy::begin_render`]; dropping it closes the port and every connection.
///
/// Refused: 403 with [`REFUSED_HEADER`]. Name unknown or host unreachable: 502, too slow: 504, both with
/// [`FAILED_HEADER`]. All three have an empty body, so that a frame stays blank. Over a limit: the connection is
/// closed.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    _close: DropGuard,
}

struct Shared {
    guard: Arc<Guard>,
    listener: TcpListener,
    /// The same socket, for a caller that must not wait.
    backlog: std::net::TcpListener,
    closed: CancellationToken,
    /// Connections are accepted under this lock, so that each belongs to the render during which it was made.
    render: Mutex<Arc<Render>>,
}

impl Proxy {
    /// Opens a port on 127.0.0.1. Must be called inside a Tokio runtime.
    pub fn open(guard: Arc<Guard>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let closed = CancellationToken::new();
        let nothing_yet = Render::new(&guard, &closed);
        nothing_yet.closed.cancel();
        let shared = Arc::new(Shared {
            guard,
            backlog: listener.try_clone()?,
            listener: TcpListener::from_std(listener)?,
            closed: closed.clone(),
            render: Mutex::new(Arc::new(nothing_yet)),
        });
        tokio::spawn(Arc::clone(&shared).accept_connections());
        Ok(Self {
            port,
            shared,
            _close: closed.drop_guard(),
        })
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Lets connections in for a new render, with an empty log and byte count. Connections that were made before the
    /// call are closed, never booked on the new render.
    pub fn begin_render(&self) {
        let mut render = lock(&self.shared.render);
        render.closed.cancel();
        // Those that were made but not accepted yet belong to the past as well.
        for _ in 0..BACKLOG {
            if self.shared.backlog.accept().is_err() {
                break;
            }
        }
        *render = Arc::new(Render::new(&self.shared.guard, &self.shared.closed));
    }

    /// Closes every connection and refuses new ones until the next [`Proxy::begin_render`]. The log stays.
    pub fn close_connections(&self) {
        lock(&self.shared.render).closed.cancel();
    }

    /// As [`Proxy::close_connections`]; returns once every connection has ended. `false`: bytes came from outside after the
    /// log was taken, or a connection does not end.
    pub async fn end_render(&self) -> bool {
        let render = Arc::clone(&lock(&self.shared.render));
        render.closed.cancel();
        let ended = tokio::time::timeout(ENDING_LIMIT, render.ended()).await;
        ended.is_ok() && !render.has_received()
    }

    /// The log of the current (or last) render, which is empty afterwards.
    pub fn take_log(&self) -> ConnectionLog {
        lock(&self.shared.render).take_log()
    }
}

impl Shared {
    async fn accept_connections(self: Arc<Self>) {
        let closed = self.closed.clone();
        closed
            .run_until_cancelled(async {
                loop {
                    match poll_fn(|cx| self.poll_accept(cx)).await {
                        Ok((stream, render)) => Connection::start(stream, render, Arc::clone(&self.guard)),
                        Err(error) => {
                            tracing::warn!(%error, "could not accept a browser's connection");
                            sleep(ACCEPT_AGAIN_AFTER).await;
                        }
                    }
                }
            })
            .await;
    }

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, Arc<Render>)>> {
        let render = lock(&self.render);
        let (stream, _) = ready!(self.listener.poll_accept(cx))?;
        Poll::Ready(Ok((stream, Arc::clone(&render))))
    }
}

/// No holder of our locks can leave a half-made state behind, even if it panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
