//! Log of a render, recorded even if it fails: requests, console messages, phase times.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    asset_addresses::is_of_asset,
    job::{Phase, PhaseTimes},
};

/// Maximum number of requests recorded per render.
pub const REQUEST_LIMIT: usize = 500;
/// Maximum number of console messages recorded per part, and per render.
pub const CONSOLE_LIMIT: usize = 100;

/// A log filled while a render runs. Cheap to clone; clones share their content.
#[derive(Debug, Clone, Default)]
pub struct RenderLog(Arc<Mutex<Seen>>);

/// Content of a [`RenderLog`].
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Requests of the parts, ordered by part, at most [`REQUEST_LIMIT`].
    pub requests: Vec<NetworkRequest>,
    /// Console messages and uncaught errors of the parts' scripts, ordered by part, at most [`CONSOLE_LIMIT`].
    pub console: Vec<ConsoleMessage>,
    /// Time spent in each phase.
    pub phases: PhaseTimes,
    /// Number of parts that have been printed.
    pub printed_parts: usize,
}

/// One request of a page, as reported by DevTools and the guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRequest {
    /// Zero-based index of the part that made the request.
    pub part: usize,
    /// URL without query string and fragment, at most 500 characters.
    pub url: String,
    /// Resource type of DevTools (`Network.ResourceType`) in lower case: `document`, `image`, `font` and so on.
    pub kind: Option<String>,
    /// HTTP status; `None` without a response.
    pub status: Option<u16>,
    /// Bytes received over the wire, header and body; `None` until the response has ended.
    pub bytes: Option<u64>,
    /// Time from the request to the end of the response or to its failure; `None` until then.
    pub took: Option<Duration>,
    /// Reason of a failure.
    pub error: Option<String>,
    /// Rule of the egress guard that refused the request.
    pub refused: Option<String>,
}

impl NetworkRequest {
    /// Creates a record of a request that has just started.
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

    /// Returns the address `asset:NAME` if the request is for an asset that doesn't exist.
    pub(crate) fn missing_asset(&self) -> Option<&str> {
        let is_missing = self.status == Some(404) && is_of_asset(&self.url);
        is_missing.then_some(self.url.as_str())
    }
}

/// A console message of a page's scripts, or an uncaught error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleMessage {
    /// Zero-based index of the part.
    pub part: usize,
    /// `debug`, `info`, `log`, `warn` or `error`.
    pub level: String,
    /// Text, at most 500 characters.
    pub text: String,
}

impl RenderLog {
    /// Returns a copy of the content recorded so far.
    pub fn seen(&self) -> Seen {
        let mut seen = self.lock().clone();
        // Parts run concurrently and finish in any order.
        seen.requests.sort_by_key(|request| request.part);
        seen.requests.truncate(REQUEST_LIMIT);
        seen.console.sort_by_key(|message| message.part);
        seen.console.truncate(CONSOLE_LIMIT);
        seen
    }

    /// Returns the number of parts that have been printed so far.
    pub fn printed_parts(&self) -> usize {
        self.lock().printed_parts
    }

    /// Returns the addresses of assets that don't exist and that these parts have requested, by part. Only the first
    /// [`REQUEST_LIMIT`] requests of each part are known.
    pub fn missing_assets(&self, parts: &BTreeSet<usize>) -> BTreeSet<(usize, String)> {
        let seen = self.lock();
        let requests = seen.requests.iter().filter(|request| parts.contains(&request.part));
        let missing = requests.filter_map(|request| Some((request.part, request.missing_asset()?.to_owned())));
        missing.collect()
    }

    /// Records that one more part has been printed.
    pub(crate) fn note_printed(&self) {
        self.lock().printed_parts += 1;
    }

    /// Adds time to a phase.
    pub(crate) fn add_time(&self, phase: Phase, took: Duration) {
        *self.lock().phases.of(phase) += took;
    }

    /// Records the requests of a part, replacing those of an earlier attempt.
    pub(crate) fn note_requests(&self, part: usize, requests: Vec<NetworkRequest>) {
        let mut seen = self.lock();
        seen.requests.retain(|request| request.part != part);
        seen.requests.extend(requests);
    }

    /// Records the console messages of a part, replacing those of an earlier attempt.
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
