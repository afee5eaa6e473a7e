//! What a render does, whatever becomes of it: what it fetches, what it says to its console, where its time goes.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::job::{Phase, PhaseTimes};

/// Requests kept of one render.
pub const REQUEST_LIMIT: usize = 500;
/// Console messages kept of one part, and of one render.
pub const CONSOLE_LIMIT: usize = 100;

/// Filled while a render is under way; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct RenderLog(Arc<Mutex<Seen>>);

/// What a log holds.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// What the parts fetched, part by part, at most [`REQUEST_LIMIT`] entries.
    pub requests: Vec<NetworkRequest>,
    /// What the parts' scripts said and failed of, part by part, at most [`CONSOLE_LIMIT`] entries.
    pub console: Vec<ConsoleMessage>,
    /// Where the time went.
    pub phases: PhaseTimes,
}

/// One request of a page, as DevTools and the guard tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRequest {
    /// The part that asked, from 0.
    pub part: usize,
    /// Address without query string and fragment, at most 500 characters.
    pub url: String,
    /// What for, in the words of DevTools (`Network.ResourceType`) without capitals: `document`, `image`, `font` and so on.
    pub kind: Option<String>,
    /// HTTP status, once a response came.
    pub status: Option<u16>,
    /// Bytes received, head and body as they came over the wire, once the response has ended.
    pub bytes: Option<u64>,
    /// From the request to the end of the response, or to its failure.
    pub took: Option<Duration>,
    /// Why it failed.
    pub error: Option<String>,
    /// The rule of the egress guard that refused it.
    pub refused: Option<String>,
}

impl NetworkRequest {
    /// A request of which nothing else is known yet.
    pub(crate) fn new(part: usize, url: String) -> Self {
        Self {
            part,
            url,
            kind: None,
            status: None,
            bytes: None,
            took: None,
            error: None,
            refused: None,
        }
    }
}

/// A message of a page's scripts, or an error that none of them caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleMessage {
    /// The part whose script it was, from 0.
    pub part: usize,
    /// `debug`, `info`, `log`, `warn` or `error`.
    pub level: String,
    /// At most 500 characters.
    pub text: String,
}

impl RenderLog {
    /// What was seen so far.
    pub fn seen(&self) -> Seen {
        let mut seen = self.lock().clone();
        // Several parts were under way at once.
        seen.requests.sort_by_key(|request| request.part);
        seen.requests.truncate(REQUEST_LIMIT);
        seen.console.sort_by_key(|message| message.part);
        seen.console.truncate(CONSOLE_LIMIT);
        seen
    }

    /// Books time that something outside the engine took.
    pub(crate) fn add_time(&self, phase: Phase, took: Duration) {
        *self.lock().phases.of(phase) += took;
    }

    /// What a part has fetched; of an earlier attempt nothing stays.
    pub(crate) fn note_requests(&self, part: usize, requests: Vec<NetworkRequest>) {
        let mut seen = self.lock();
        seen.requests.retain(|request| request.part != part);
        seen.requests.extend(requests);
    }

    /// What a part has said; likewise.
    pub(crate) fn note_console(&self, part: usize, messages: Vec<ConsoleMessage>) {
        let mut seen = self.lock();
        seen.console.retain(|message| message.part != part);
        seen.console.extend(messages);
    }

    pub(crate) fn add_times(&self, phases: PhaseTimes) {
        for (phase, took) in phases.by_phase() {
            self.add_time(phase, took);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
