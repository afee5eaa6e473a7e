//! A connection from the browser.

use std::{
    error::Error,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use hyper::{Method, Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, sync::OwnedSemaphorePermit, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    answer::{self, Answer},
    forward, lock,
    metered::Metered,
    render::{Entry, Render},
    target::Target,
    tunnel,
};
use crate::{
    guard::{ConnectError, Guard},
    log::{Kind, Outcome},
};

/// Maximum size of a request or response header, in bytes; more than servers commonly accept.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;

/// Why no server is reached by a render for which all are refused.
const NO_SERVERS: &str = "the page is loaded without servers";

/// Closes the browser's connection without a response.
#[derive(Debug, thiserror::Error)]
#[error("the connection was closed without a response")]
struct Cut;

/// State shared by all tasks that serve the connection.
pub(super) struct Connection {
    pub(super) guard: Arc<Guard>,
    pub(super) render: Arc<Render>,
    /// Cancelled when the connection must end, at the latest with the render.
    pub(super) closed: CancellationToken,
    /// Counts requests, their steps and the transfers with the server, to detect an idle connection. A header that
    /// trickles in from the browser doesn't count, so it is cut off like silence.
    progress: AtomicU64,
    /// Record of the request in progress.
    entry: Mutex<Option<Arc<Entry>>>,
    _slot: OwnedSemaphorePermit,
}

impl Connection {
    /// Spawns a task that serves the requests of `stream` for `render`. Closes `stream` if the render has ended or has
    /// no free connection slot.
    pub(super) fn start(stream: TcpStream, render: Arc<Render>, guard: Arc<Guard>) {
        if render.closed.is_cancelled() {
            return;
        }
        let Ok(slot) = Arc::clone(&render.slots).try_acquire_owned() else {
            render.count_over_limit();
            return;
        };
        let connection = Arc::new(Self {
            closed: render.closed.child_token(),
            guard,
            render,
            progress: AtomicU64::new(0),
            entry: Mutex::default(),
            _slot: slot,
        });
        tokio::spawn(async move {
            if let Some(Err(error)) = connection.run_bounded(Arc::clone(&connection).serve(stream)).await {
                tracing::debug!(%error, "browser connection failed");
            }
        });
    }

    /// Runs `work` to completion. Returns `None` if the connection was closed or idle for too long first.
    pub(super) async fn run_bounded<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => None,
            done = work => Some(done),
            () = self.cut_when_silent() => None,
        }
    }

    /// Records activity, which restarts the idle timeout.
    pub(super) fn note_progress(&self) {
        self.progress.fetch_add(1, Relaxed);
    }

    /// Adds a record to the render's log and connects to `target`. The error is the response for the browser.
    pub(super) async fn reach(self: &Arc<Self>, kind: Kind, target: Target) -> Result<Metered, Answer> {
        let entry = self.render.add_entry(kind, target);
        *lock(&self.entry) = Some(Arc::clone(&entry));
        if self.render.is_spent() {
            self.cut_over_limit(&entry);
            return Err(answer::failed_to_reach("the render's byte limit is reached"));
        }
        if self.render.refuses_servers() {
            entry.fail(Outcome::Refused(NO_SERVERS.to_owned()));
            return Err(answer::failed_to_reach(NO_SERVERS));
        }
        let Target { host, port } = &entry.target;
        let connected = self.guard.connect_by(&self.render.names, host, *port).await;
        self.note_progress();
        connected
            .map(|stream| Metered::new(stream, Arc::clone(self), Arc::clone(&entry)))
            .map_err(|error| match error {
                ConnectError::Refused(refusal) => {
                    entry.fail(Outcome::Refused(refusal.to_string()));
                    answer::refused(refusal)
                }
                ConnectError::NotResolved => {
                    entry.fail(Outcome::ResolveFailed);
                    answer::failed_to_reach(&error.to_string())
                }
                ConnectError::Failed(_) => {
                    entry.fail(Outcome::ConnectFailed(error.to_string()));
                    answer::failed_to_reach(&error.to_string())
                }
                ConnectError::TimedOut => {
                    entry.fail(Outcome::TimedOut);
                    answer::timed_out()
                }
            })
    }

    /// Closes the connection because the render has reached its byte limit.
    pub(super) fn cut_over_limit(&self, entry: &Entry) {
        entry.fail(Outcome::OverLimit);
        self.closed.cancel();
    }

    async fn serve(self: Arc<Self>, stream: TcpStream) -> Result<(), Box<dyn Error + Send + Sync>> {
        stream.set_nodelay(true)?;
        let service = service_fn(|request| Arc::clone(&self).answer(request));
        http1::Builder::new()
            .max_header_size(HEAD_LIMIT)
            .max_buf_size(HEAD_LIMIT)
            .auto_date_header(false)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades()
            .await?;
        Ok(())
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Answer, Cut> {
        self.note_progress();
        let closed = self.closed.clone();
        let answer = if request.method() == Method::CONNECT {
            tunnel::open(self, request).await
        } else {
            forward::send(self, request).await
        };
        if closed.is_cancelled() { Err(Cut) } else { Ok(answer) }
    }

    async fn cut_when_silent(&self) {
        let mut before = self.progress.load(Relaxed);
        loop {
            sleep(self.guard.limits().idle_timeout).await;
            let now = self.progress.load(Relaxed);
            if now == before {
                break;
            }
            before = now;
        }
        if let Some(entry) = &*lock(&self.entry) {
            entry.fail(Outcome::TimedOut);
        }
        self.closed.cancel();
    }
}
