//! The forward proxy of a browser session.

mod answer;
mod assets;
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
    assets::Assets,
    guard::Guard,
    log::ConnectionLog,
    proxy::{connection::Connection, render::Render},
};

/// Header of the proxy's own 403 responses: the rule in words. Removed from responses of servers.
pub const REFUSED_HEADER: &str = "x-platen-refused";
/// Header of the proxy's own 502 and 504 responses: the reason in words. Removed from responses of servers.
pub const FAILED_HEADER: &str = "x-platen-failed";

/// Upper bound for connections waiting to be accepted; exceeds the kernel's queue.
const BACKLOG: usize = 4_096;
/// Time for all connections to end; each ends the next time it is polled.
const ENDING_LIMIT: Duration = Duration::from_secs(1);
/// Delay before the next attempt if no connection can be accepted, for example for lack of file descriptors.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// An HTTP forward proxy on its own loopback port: absolute-form requests for plain HTTP, `CONNECT` for all else.
/// Serves no connections until the first [`Proxy::begin_render`]. Dropping it closes the port and all connections.
///
/// Responds with 403 and [`REFUSED_HEADER`] to refused targets, with 502 to unknown names and unreachable hosts and
/// with 504 after a timeout, both with [`FAILED_HEADER`]. All three have an empty body, so that a frame stays blank. A
/// connection that exceeds a limit is closed without a response.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    _close: DropGuard,
}

struct Shared {
    guard: Arc<Guard>,
    listener: TcpListener,
    /// The socket of `listener`, for accepting without waiting.
    backlog: std::net::TcpListener,
    closed: CancellationToken,
    /// Held while accepting, so that each connection belongs to the render during which it was made.
    render: Mutex<Arc<Render>>,
}

impl Proxy {
    /// Opens a port on 127.0.0.1 and spawns the task that accepts connections. Must be called within a Tokio runtime;
    /// fails if no port can be opened.
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

    /// Returns the port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts accepting connections for a new render, with an empty log and a byte count of zero. Closes earlier
    /// connections, which are never attributed to the new render.
    pub fn begin_render(&self) {
        let mut render = lock(&self.shared.render);
        render.closed.cancel();
        // Connections that were made but not accepted yet belong to the previous render too.
        for _ in 0..BACKLOG {
            if self.shared.backlog.accept().is_err() {
                break;
            }
        }
        *render = Arc::new(Render::new(&self.shared.guard, &self.shared.closed));
    }

    /// Serves these assets to the current render, until it ends, under their [host](Assets::host). Their bytes are not counted
    /// as received.
    pub fn serve(&self, assets: Assets) {
        *lock(&lock(&self.shared.render).assets) = assets;
    }

    /// Refuses all servers from now on until the next [`Proxy::begin_render`]; assets are served.
    pub fn refuse_servers(&self) {
        lock(&self.shared.render).refuse_servers();
    }

    /// Closes all connections and refuses new ones until the next [`Proxy::begin_render`]. The log remains available.
    pub fn close_connections(&self) {
        lock(&self.shared.render).closed.cancel();
    }

    /// Closes connections like [`Proxy::close_connections`] and waits, at most one second, until they have ended.
    /// Returns `false` if a connection did not end, or if bytes were received after the log was taken.
    pub async fn end_render(&self) -> bool {
        let render = Arc::clone(&lock(&self.shared.render));
        render.closed.cancel();
        *lock(&render.assets) = Assets::default();
        let ended = tokio::time::timeout(ENDING_LIMIT, render.ended()).await;
        ended.is_ok() && !render.has_received()
    }

    /// Takes the log of the current or last render, leaving an empty one.
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
                            tracing::warn!(%error, "browser connection could not be accepted");
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

/// Locks `mutex` even if it is poisoned: no code in this module leaves partial state behind when it panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
