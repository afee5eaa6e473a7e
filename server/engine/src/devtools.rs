//! The DevTools protocol over `--remote-debugging-pipe`: NUL-delimited JSON, typed commands, no TCP port that a page
//! could reach.
//!
//! Events are passed directly to the observer of their session, in the reader's task, so that a page that sends a flood
//! of events fills bounded state rather than a growing channel.

mod messages;
mod wire;

use std::{
    collections::HashMap,
    io::{self, IoSlice},
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use chromiumoxide_types::Command;
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncWriteExt, BufReader},
    net::unix::pipe,
    sync::{mpsc, oneshot},
};
use tokio_util::sync::CancellationToken;

use messages::{MESSAGE_LIMIT, Message, MessageReader, Skipped};
use wire::{Detached, Incoming, frame};

/// Maximum number of frames waiting for the pipe. Each is one command, so this limits commands, not bytes.
const OUTGOING_FRAMES: usize = 256;
/// Bytes read from the pipe at once.
const PIPE_BUFFER: usize = 1 << 20;
/// Maximum size of a message in MB; a larger one ends its session.
pub(crate) const MESSAGE_LIMIT_MB: u64 = (MESSAGE_LIMIT >> 20) as u64;
/// Domain of events that may be skipped, because they only affect the log. A `data:` URL of many megabytes occurs in
/// two of them.
const SKIPPABLE: &str = "Network.";
/// Maximum number of bytes of such events that are skipped per render; each delays the pipe that all sessions share.
const SKIPPED_LIMIT: u64 = 256 << 20;

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DevToolsError {
    /// The pipe is closed: the browser has ended.
    #[error("the browser has ended")]
    Closed,
    /// The target of the command has crashed or is detached.
    #[error("the page's renderer has crashed")]
    TargetCrashed,
    /// A message about the page exceeded the limit.
    #[error("a DevTools message about the page exceeds {MESSAGE_LIMIT_MB} MB")]
    MessageTooLarge,
    /// The browser refused the command.
    #[error("{method}: {message}")]
    Refused {
        /// The command.
        method: String,
        /// The browser's error message.
        message: String,
    },
    /// The response doesn't conform to the protocol.
    #[error("{method}: response could not be parsed: {message}")]
    Malformed {
        /// The command.
        method: String,
        /// The parser's error message.
        message: String,
    },
}

/// Receives the events of one session in the reader's task; must be quick and must not block.
pub(crate) trait SessionEvents: Send + Sync {
    /// Handles an event. `params` is its JSON object.
    fn event(&self, method: &str, params: &RawValue);
    /// Handles the loss of the session: its target has crashed or is gone, or a message was too large.
    fn lost(&self);
}

/// A connection to one browser. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
}

struct Shared {
    outgoing: mpsc::Sender<Vec<u8>>,
    next_id: AtomicU64,
    /// `None` once the pipe is closed. Under the same lock, so that no waiter can be added afterwards.
    pending: Mutex<Option<HashMap<u64, Waiter>>>,
    sessions: Mutex<HashMap<String, Weak<SessionRoute>>>,
    closed: CancellationToken,
}

struct Waiter {
    session: Option<Arc<str>>,
    answer: oneshot::Sender<Result<Box<RawValue>, DevToolsError>>,
}

/// Route of a session's events. Commands may be sent to the session while the route lives.
pub(crate) struct SessionRoute {
    id: Arc<str>,
    events: Arc<dyn SessionEvents>,
    lost: OnceLock<DevToolsError>,
    /// See [`SKIPPED_LIMIT`].
    skipped_bytes: AtomicU64,
}

impl SessionRoute {
    /// Returns why no commands may be sent to the session any more, or `None` while it is usable.
    pub(crate) fn loss(&self) -> Option<DevToolsError> {
        self.lost.get().cloned()
    }

    /// Resets the limit of skipped bytes for the next render.
    pub(crate) fn begin_render(&self) {
        self.skipped_bytes.store(0, Ordering::Relaxed);
    }
}

impl Connection {
    /// Creates a connection over the browser's pipes: `to_browser` is its file descriptor 3, `from_browser` its 4.
    pub(crate) fn new(to_browser: pipe::Sender, from_browser: pipe::Receiver) -> Self {
        let (outgoing, queue) = mpsc::channel(OUTGOING_FRAMES);
        let shared = Arc::new(Shared {
            outgoing,
            next_id: AtomicU64::new(1),
            pending: Mutex::new(Some(HashMap::new())),
            sessions: Mutex::default(),
            closed: CancellationToken::new(),
        });
        tokio::spawn(write_frames(to_browser, queue, Arc::clone(&shared)));
        tokio::spawn(read_messages(from_browser, Arc::clone(&shared)));
        Self { shared }
    }

    /// Sends a command to the browser itself and waits for the response.
    pub(crate) async fn execute<C: Command>(&self, command: &C) -> Result<C::Response, DevToolsError> {
        self.send(None, command).await?.await
    }

    /// Sends a command to a session and waits for the response.
    pub(crate) async fn execute_in<C: Command>(
        &self,
        route: &SessionRoute,
        command: &C,
    ) -> Result<C::Response, DevToolsError> {
        self.start_in(route, command).await?.await
    }

    /// Sends a command to a session and returns a future of the response, which may be dropped if it isn't needed. The
    /// session executes commands in the order in which they were started.
    pub(crate) async fn start_in<C: Command>(
        &self,
        route: &SessionRoute,
        command: &C,
    ) -> Result<impl Future<Output = Result<C::Response, DevToolsError>> + use<C>, DevToolsError> {
        // A command to a crashed target is worse than useless: `Page.printToPDF` would terminate the browser.
        if let Some(loss) = route.loss() {
            return Err(loss);
        }
        self.send(Some(&route.id), command).await
    }

    /// Sends a command to a session without waiting. Dropped if the pipe is full.
    pub(crate) fn post<C: Command>(&self, session: &str, command: &C) {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        if let Ok(frame) = frame(id, Some(session), command) {
            let _ = self.shared.outgoing.try_send(frame);
        }
    }

    /// Passes the events of a session to `events` for as long as the returned route lives.
    pub(crate) fn route(&self, session: &str, events: Arc<dyn SessionEvents>) -> Arc<SessionRoute> {
        let route = Arc::new(SessionRoute {
            id: session.into(),
            events,
            lost: OnceLock::new(),
            skipped_bytes: AtomicU64::new(0),
        });
        let mut sessions = lock(&self.shared.sessions);
        sessions.retain(|_, route| route.strong_count() > 0);
        sessions.insert(session.to_owned(), Arc::downgrade(&route));
        route
    }

    /// Waits until the pipe is closed.
    pub(crate) async fn closed(&self) {
        self.shared.closed.cancelled().await;
    }

    /// Returns whether the pipe is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    async fn send<C: Command>(
        &self,
        session: Option<&Arc<str>>,
        command: &C,
    ) -> Result<impl Future<Output = Result<C::Response, DevToolsError>> + use<C>, DevToolsError> {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let method = command.identifier();
        let frame = frame(id, session.map(AsRef::as_ref), command).map_err(|error| DevToolsError::Malformed {
            method: method.to_string(),
            message: error.to_string(),
        })?;
        let (answer, answered) = oneshot::channel();
        match lock(&self.shared.pending).as_mut() {
            Some(pending) => pending.insert(
                id,
                Waiter {
                    session: session.cloned(),
                    answer,
                },
            ),
            None => return Err(DevToolsError::Closed),
        };
        let forget = ForgetOnDrop {
            shared: Arc::clone(&self.shared),
            id,
        };
        self.shared
            .outgoing
            .send(frame)
            .await
            .map_err(|_| DevToolsError::Closed)?;
        Ok(async move {
            let _forget = forget;
            let result = answered.await.map_err(|_| DevToolsError::Closed)?;
            let result = result.map_err(|error| match error {
                DevToolsError::Refused { message, .. } => DevToolsError::Refused {
                    method: method.to_string(),
                    message,
                },
                other => other,
            })?;
            serde_json::from_str(result.get()).map_err(|error| DevToolsError::Malformed {
                method: method.to_string(),
                message: error.to_string(),
            })
        })
    }
}

/// Removes the waiter of a cancelled command: a hung page never responds.
struct ForgetOnDrop {
    shared: Arc<Shared>,
    id: u64,
}

impl Drop for ForgetOnDrop {
    fn drop(&mut self) {
        if let Some(pending) = lock(&self.shared.pending).as_mut() {
            pending.remove(&self.id);
        }
    }
}

/// Writes all waiting frames at once. The browser would otherwise be scheduled between commands that are sent together.
async fn write_frames(mut to_browser: pipe::Sender, mut queue: mpsc::Receiver<Vec<u8>>, shared: Arc<Shared>) {
    let mut frames = Vec::new();
    loop {
        let received = tokio::select! {
            () = shared.closed.cancelled() => return,
            received = queue.recv_many(&mut frames, OUTGOING_FRAMES) => received,
        };
        if received == 0 || write_all(&mut to_browser, &frames).await.is_err() {
            return;
        }
        frames.clear();
    }
}

async fn write_all(to_browser: &mut pipe::Sender, frames: &[Vec<u8>]) -> io::Result<()> {
    let mut slices: Vec<_> = frames.iter().map(|frame| IoSlice::new(frame)).collect();
    let mut rest = slices.as_mut_slice();
    while !rest.is_empty() {
        let written = to_browser.write_vectored(rest).await?;
        IoSlice::advance_slices(&mut rest, written);
    }
    Ok(())
}

async fn read_messages(from_browser: pipe::Receiver, shared: Arc<Shared>) {
    let mut reader = MessageReader::new(BufReader::with_capacity(PIPE_BUFFER, from_browser));
    while let Ok(Some(message)) = reader.next().await {
        match message {
            Message::Whole(message) => shared.dispatch(message),
            Message::Skipped(message) => shared.note_skipped(&message),
        }
    }
    shared.close();
}

impl Shared {
    fn dispatch(&self, frame: &[u8]) {
        let message = match serde_json::from_slice::<Incoming<'_>>(frame) {
            Ok(message) => message,
            Err(error) => {
                tracing::warn!(%error, bytes = frame.len(), "DevTools message could not be parsed");
                return;
            }
        };
        if let Some(id) = message.id {
            let waiter = lock(&self.pending).as_mut().and_then(|pending| pending.remove(&id));
            if let Some(waiter) = waiter {
                let _ = waiter.answer.send(match message.error {
                    Some(error) => Err(DevToolsError::Refused {
                        method: String::new(),
                        message: match error.data {
                            Some(data) => format!("{} {data}", error.message),
                            None => error.message,
                        },
                    }),
                    None => Ok(message.result.map_or_else(empty_object, ToOwned::to_owned)),
                });
            }
            return;
        }
        let Some(method) = message.method else { return };
        // A target that goes away is announced on the browser's own session, with the lost session in the parameters.
        if method == "Target.detachedFromTarget" {
            if let Some(Ok(detached)) = message
                .params
                .map(|params| serde_json::from_str::<Detached>(params.get()))
            {
                self.lose(&detached.session, &DevToolsError::TargetCrashed);
            }
            return;
        }
        let Some(session) = message.session else { return };
        if method == "Inspector.targetCrashed" {
            self.lose(session, &DevToolsError::TargetCrashed);
        } else if let (Some(route), Some(params)) = (self.find(session), message.params) {
            route.events.event(method, params);
        }
    }

    fn find(&self, session: &str) -> Option<Arc<SessionRoute>> {
        lock(&self.sessions).get(session).and_then(Weak::upgrade)
    }

    /// Handles a message above the limit: ends its session, unless the message is dispensable.
    fn note_skipped(&self, message: &Skipped) {
        let (bytes, method) = (message.bytes, message.method());
        tracing::debug!(bytes, method, "DevTools message skipped");
        let waiter = message
            .id()
            .and_then(|id| lock(&self.pending).as_mut().and_then(|pending| pending.remove(&id)));
        let session = waiter.as_ref().and_then(|waiter| waiter.session.clone());
        if let Some(waiter) = waiter {
            let _ = waiter.answer.send(Err(DevToolsError::MessageTooLarge));
        }
        let Some(session) = session.as_deref().or(message.session()) else {
            return;
        };
        let is_missed = match self.find(session) {
            Some(route) if method.is_some_and(|method| method.starts_with(SKIPPABLE)) => {
                let skipped = route.skipped_bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
                skipped > SKIPPED_LIMIT
            }
            _ => true,
        };
        if is_missed {
            tracing::warn!(bytes, method, "DevTools message too large; ending its session");
            self.lose(session, &DevToolsError::MessageTooLarge);
        }
    }

    /// Ends a session and fails its pending commands, because a crashed target never responds.
    fn lose(&self, session: &str, why: &DevToolsError) {
        if let Some(route) = self.find(session) {
            let _ = route.lost.set(why.clone());
            route.events.lost();
        }
        let waiters: Vec<Waiter> = match lock(&self.pending).as_mut() {
            Some(pending) => pending
                .extract_if(|_, w| w.session.as_deref() == Some(session))
                .map(|(_, waiter)| waiter)
                .collect(),
            None => Vec::new(),
        };
        for waiter in waiters {
            let _ = waiter.answer.send(Err(why.clone()));
        }
    }

    fn close(&self) {
        self.closed.cancel();
        // Dropping the waiters fails each of them with `Closed`.
        lock(&self.pending).take();
        for route in lock(&self.sessions).drain().filter_map(|(_, route)| route.upgrade()) {
            let _ = route.lost.set(DevToolsError::Closed);
            route.events.lost();
        }
    }
}

fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("an empty object is JSON")
}

/// Locks `mutex` even if it is poisoned: the maps behind these locks are valid between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
