//! Serves a router over HTTP/1.1: accepts connections, limits their number and the time for which clients may keep each
//! waiting, and closes them gracefully on shutdown.
//!
//! HTTP/2 is left to the proxies in front of the service. Here it would let one connection hold many requests.

mod activity;
mod connection_limits;
mod rejection;

use std::{convert::Infallible, io, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use platen_core::{
    config::{Config, connections::Timeouts},
    lifecycle::Lifecycle,
    service::metrics::connections::ConnectionMetrics,
};
use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::http::{
    held_body::HeldBody,
    server::{
        activity::{Activity, TrackedStream},
        connection_limits::{ConnectionLimits, Place},
        rejection::Rejections,
    },
};

/// Largest header of a request, in bytes. A larger one gets status 431.
const HEADER_BYTES: usize = 32 * 1024;
/// Largest buffer of a connection for reading and for small writes, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;
/// Bytes of a response that the kernel accepts beyond those in flight to the client. It accepts more once half of them
/// are sent, so a client that reads makes progress in steps of 64 KiB, regardless of the kernel's buffer size.
const UNSENT_BYTES: u32 = 128 * 1024;
/// Connections that the kernel completes before they are accepted: Linux's default of `net.core.somaxconn`. With fewer,
/// a burst from one client delays every other connection by a second, until TCP retransmits.
const BACKLOG: i32 = 4096;
/// Delay before the next accept after an error of the service, such as too many open files.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// Time for a partially received header after shutdown has begun.
const LAST_HEADER: Duration = Duration::from_secs(1);

/// A server for one listener.
pub(crate) struct Server {
    limits: Arc<ConnectionLimits>,
    timeouts: Timeouts,
    metrics: ConnectionMetrics,
    rejections: Rejections,
}

impl Server {
    /// Creates a server with the configured limits, for a process that may have `open_files` files open.
    pub(crate) fn new(config: &Config, open_files: u64, metrics: ConnectionMetrics) -> Self {
        Self {
            limits: Arc::new(ConnectionLimits::new(config, open_files)),
            timeouts: config.connections.timeouts,
            metrics,
            rejections: Rejections::default(),
        }
    }

    /// Serves until shutdown, and returns when all connections are closed.
    pub(crate) async fn serve(self, listener: TcpListener, router: Router, lifecycle: Lifecycle) {
        // Tokio's backlog is 128. Calling `listen` again replaces it.
        if let Err(error) = SockRef::from(&listener).listen(BACKLOG) {
            tracing::warn!(%error, "the backlog of connections could not be raised");
        }
        let router = router.with_state(());
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = lifecycle.stopping() => break,
            };
            match accepted {
                Ok((stream, peer)) => match self.limits.admit(peer.ip()) {
                    Ok(place) => {
                        let connection = self.connection(stream, peer, place, router.clone(), lifecycle.clone());
                        connections.spawn(connection);
                    }
                    Err(refusal) => {
                        self.metrics.refused(refusal);
                        self.rejections.reject(stream, refusal);
                    }
                },
                Err(error) if is_of_connection(&error) => {}
                Err(error) => {
                    tracing::error!(%error, "a connection could not be accepted");
                    sleep(AFTER_ERROR).await;
                }
            }
        }
        drop(listener);
        connections.close();
        connections.wait().await;
    }

    /// Serves one connection until it closes.
    fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        place: Place,
        router: Router,
        lifecycle: Lifecycle,
    ) -> impl Future<Output = ()> + Send + 'static {
        let _ = stream.set_nodelay(true);
        // Without this, the size of the kernel's buffer determines how slowly a client may read.
        let _ = SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_BYTES);
        let activity = Arc::new(Activity::default());
        let stream = TokioIo::new(TrackedStream::new(stream, Arc::clone(&activity)));
        let tracked = Arc::clone(&activity);
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let request_in_progress = tracked.begin_request();
            let mut request: Request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = router.clone().oneshot(request);
            async move {
                let response = response.await?;
                Ok::<_, Infallible>(response.map(|body| HeldBody::new(body, request_in_progress)))
            }
        });
        let connection = http1::Builder::new()
            .max_header_size(HEADER_BYTES)
            .max_buf_size(BUFFER_BYTES)
            // This timeout would include the time between two requests.
            .header_read_timeout(None)
            .serve_connection(stream, service);
        let (timeouts, limits, metrics) = (self.timeouts, Arc::clone(&self.limits), self.metrics.clone());
        async move {
            let _place = place;
            let _open = metrics.open();
            let mut connection = pin!(connection);
            let shutting_down = Timeouts {
                header: LAST_HEADER,
                idle: LAST_HEADER,
                ..timeouts
            };
            tokio::select! {
                // Errors here are the client's: it disconnected, or didn't send HTTP.
                _ = connection.as_mut() => return,
                overdue = activity.overdue(|| limits.under_pressure(timeouts)) => return metrics.timed_out(overdue),
                () = lifecycle.stopping() => connection.as_mut().graceful_shutdown(),
            }
            tokio::select! {
                _ = connection => {}
                overdue = activity.overdue(|| shutting_down) => metrics.timed_out(overdue),
            }
        }
    }
}

/// Returns whether the error affects only one connection, which failed before it was accepted.
fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}
