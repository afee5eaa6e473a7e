//! One connection of the browser.

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

/// Longest head of a request or response, in bytes; longer than what servers commonly take.
pub(super) const HEAD_LIMIT: usize = 64 * 1024;

/// Ends the browser's connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection was cut")]
struct Cut;

/// Kept by every task that works for the connection.
pub(super) struct Connection {
    pub(super) guard: Arc<Guard>,
    pub(super) render: Arc<Render>,
    /// Cancelled when the connection must end, at the latest with the render.
    pub(super) closed: CancellationToken,
    /// Counts requests, their steps and the other side's bytes, so that silence can be told. A head that trickles in
    /// from the browser counts as silence too.
    progress: AtomicU64,
    /// The request that is being served.
    entry: Mutex<Option<Arc<Entry>>>,
    _slot: OwnedSemaphorePermit,
}

impl Connection {
    /// Serves the requests of `stream` until it ends, for `render`.
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
                tracing::debug!(%error, "a browser's connection broke");
            }
        });
    }

    /// Runs `work` until it is done, the connection must end, or nothing has moved for too long.
    pub(super) async fn run_bounded<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => None,
            done = work => Some(done),
            () = self.cut_when_silent() => None,
        }
    }

    /// Something happened.
    pub(super) fn note_progress(&self) {
        self.progress.fetch_add(1, Relaxed);
    }

    /// Books a request on the render and connects to its target; else the answer that says why not.
    pub(super) async fn reach(self: &Arc<Self>, kind: Kind, target: Target) -> Result<Metered, Answer> {
        let entry = self.render.add_entry(kind, target);
        *lock(&self.entry) = Some(Arc::clone(&entry));
        if self.render.is_spent() {
            self.cut_over_limit(&entry);
            return Err(answer::failed_to_reach("the render's byte limit is reached"));
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

    /// Ends the connection because the render has had its share.
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
