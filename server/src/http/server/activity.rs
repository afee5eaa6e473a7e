//! What a connection is waiting for, and since when. Timeouts are derived from this state, so no timer is set or reset
//! for each read and write.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use platen_core::{config::connections::Timeouts, service::metrics::connections::Overdue};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, sleep_until},
};

/// Interval at which timeouts are read again, so that shorter ones apply to connections that are already open.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// State of a connection, shared by its stream, its requests and its timeouts.
pub(super) struct Activity(Mutex<State>);

struct State {
    phase: Phase,
    /// Time since which the client has accepted no more of a response.
    blocked_since: Option<Instant>,
}

/// What the connection is waiting for.
#[derive(Clone, Copy)]
enum Phase {
    /// A request, of which nothing has been received.
    Idle { since: Instant },
    /// The rest of a request's header.
    Header { since: Instant },
    /// A response. The time for its body and its creation is limited elsewhere.
    Response,
}

impl Default for Activity {
    /// A new connection waits for a header, because a client that connects has a request to send.
    fn default() -> Self {
        Self(Mutex::new(State {
            phase: Phase::Header { since: Instant::now() },
            blocked_since: None,
        }))
    }
}

impl Activity {
    /// Records that the header of a request is complete.
    pub(super) fn begin_request(self: &Arc<Self>) -> RequestInProgress {
        self.lock().phase = Phase::Response;
        RequestInProgress(Arc::clone(self))
    }

    /// Resolves when the client has exceeded a timeout. `timeouts` is called repeatedly, because timeouts depend on
    /// the load.
    pub(super) async fn overdue(&self, timeouts: impl Fn() -> Timeouts) -> Overdue {
        loop {
            let (now, timeouts) = (Instant::now(), timeouts());
            let next = self.next_timeout(timeouts);
            if let Some((at, overdue)) = next
                && at <= now
            {
                return overdue;
            }
            // Phases that begin in the meantime can't time out earlier than this, but the timeouts themselves may
            // become shorter.
            let look_again = now + shortest(timeouts).min(LOOK_EVERY);
            sleep_until(next.map_or(look_again, |(at, _)| at.min(look_again))).await;
        }
    }

    fn next_timeout(&self, timeouts: Timeouts) -> Option<(Instant, Overdue)> {
        let state = self.lock();
        if let Some(since) = state.blocked_since {
            return Some((since + timeouts.write, Overdue::Write));
        }
        match state.phase {
            Phase::Idle { since } => Some((since + timeouts.idle, Overdue::Idle)),
            Phase::Header { since } => Some((since + timeouts.header, Overdue::Header)),
            Phase::Response => None,
        }
    }

    fn end_request(&self) {
        self.lock().phase = Phase::Idle { since: Instant::now() };
    }

    fn received(&self) {
        let mut state = self.lock();
        if let Phase::Idle { .. } = state.phase {
            state.phase = Phase::Header { since: Instant::now() };
        }
    }

    fn sent<T>(&self, written: Poll<T>) -> Poll<T> {
        let mut state = self.lock();
        if written.is_pending() {
            state.blocked_since.get_or_insert_with(Instant::now);
        } else {
            state.blocked_since = None;
            // The end of a response may still be in transit when its body is dropped.
            if let Phase::Idle { since } = &mut state.phase {
                *since = Instant::now();
            }
        }
        written
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shortest(timeouts: Timeouts) -> Duration {
    timeouts.header.min(timeouts.idle).min(timeouts.write)
}

/// Guard that lives from the end of a request's header to the end of its response's body.
pub(super) struct RequestInProgress(Arc<Activity>);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.0.end_request();
    }
}

/// A stream that records reads and writes.
pub(super) struct TrackedStream {
    stream: TcpStream,
    activity: Arc<Activity>,
}

impl TrackedStream {
    pub(super) fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }
}

impl AsyncRead for TrackedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.received();
        }
        read
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.activity.sent(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.activity.sent(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
