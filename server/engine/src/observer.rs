//! Observes a page through DevTools events while it is rendered: bounded state that the steps wait on.

mod events;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use chromiumoxide_cdp::cdp::browser_protocol::page::HandleJavaScriptDialogParams;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::{
    asset_addresses::as_written,
    devtools::{Connection, SessionEvents},
    observer::events::{
        Frame, FrameNavigated, FrameRequestedNavigation, FrameScheduledNavigation, GuardHeaders, LoadingFailed,
        LoadingFinished, RequestWillBeSent, ResponseReceived,
    },
    render_log::{NetworkRequest, REQUEST_LIMIT},
};

/// Maximum length of URLs in the log, in characters: a `data:` image may have megabytes.
const URL_LIMIT: usize = 500;
/// Delay of a refresh, in seconds, up to which it counts as a redirect. Later ones only update a page on a screen.
const REFRESH_AT_ONCE: f64 = 1.0;

/// Observes one session. Its state belongs to the render in progress and is cleared by [`PageObserver::begin`].
pub(crate) struct PageObserver {
    connection: Connection,
    session: String,
    main_frame: String,
    state: Mutex<PageState>,
    changed: Notify,
}

/// Observed state of the page. URLs are shortened by [`without_query`].
#[derive(Default)]
pub(crate) struct PageState {
    /// Whether the load event of the main frame has fired.
    pub(crate) loaded: bool,
    /// Whether the renderer process is gone, or nothing may be sent to it any more.
    pub(crate) lost: bool,
    /// Number of navigations of the main frame since the start of the render.
    pub(crate) navigations: usize,
    /// Target of the last navigation.
    pub(crate) address: Option<String>,
    /// Target of a navigation that the page has requested and that has not happened yet.
    pub(crate) navigation_pending: Option<String>,
    /// URL of the main frame's last request for a document.
    pub(crate) document_url: Option<String>,
    /// Response to that request.
    pub(crate) document: Option<DocumentResponse>,
    /// Why there was no response: the main frame displays the browser's error page.
    pub(crate) document_error: Option<String>,
    /// Whether a document or frame was requested over HTTP(S).
    pub(crate) remote_document: bool,
    /// Zero-based index of the part being rendered.
    pub(crate) part: usize,
    /// Number of dismissed dialogs.
    pub(crate) dialogs: usize,
    /// Requests, at most [`REQUEST_LIMIT`].
    pub(crate) requests: Vec<LoggedRequest>,
}

/// Response to a navigation.
#[derive(Debug, Clone)]
pub(crate) struct DocumentResponse {
    pub(crate) status: u16,
    pub(crate) mime_type: String,
    /// Rule that refused the address, if the response is the guard's.
    pub(crate) refused: Option<String>,
    /// Why the server could not be reached, if the response is the guard's.
    pub(crate) failed: Option<String>,
}

/// A request with the identifier that later events refer to.
pub(crate) struct LoggedRequest {
    id: String,
    /// Time by the browser's clock, in seconds.
    sent_at: f64,
    finished: bool,
    pub(crate) request: NetworkRequest,
}

impl LoggedRequest {
    /// Records that the request ended at `at`, by the browser's clock, in seconds.
    fn end(&mut self, at: f64) {
        self.finished = true;
        self.request.took = Duration::try_from_secs_f64(at - self.sent_at).ok();
    }
}

impl PageObserver {
    pub(crate) fn new(connection: Connection, session: &str, main_frame: &str) -> Self {
        Self {
            connection,
            session: session.to_owned(),
            main_frame: main_frame.to_owned(),
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Clears the state for the part with index `part`.
    pub(crate) fn begin(&self, part: usize) {
        let mut state = self.lock();
        let lost = state.lost;
        *state = PageState {
            lost,
            part,
            ..PageState::default()
        };
    }

    /// Calls `see` with the state, under the lock.
    pub(crate) fn look<T>(&self, see: impl FnOnce(&mut PageState) -> T) -> T {
        see(&mut self.lock())
    }

    /// Waits until `found` returns `Some` for the state.
    pub(crate) async fn wait_until<T>(&self, mut found: impl FnMut(&mut PageState) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            if let Some(result) = found(&mut self.lock()) {
                return result;
            }
            changed.await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, PageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request_sent(&self, event: RequestWillBeSent) {
        let is_data = event.request.url.starts_with("data:") || event.request.url.starts_with("blob:");
        if is_data {
            return;
        }
        let mut state = self.lock();
        if event.kind.as_deref() == Some("Document") {
            state.remote_document = true;
            if event.frame_id.as_deref() == Some(&self.main_frame) {
                state.document_url = Some(without_query(&event.request.url));
                state.document = None;
                state.document_error = None;
            }
        }
        if let Some(redirect) = event.redirect_response
            && let Some(logged) = state
                .requests
                .iter_mut()
                .rev()
                .find(|logged| logged.id == event.request_id)
        {
            logged.request.status = u16::try_from(redirect.status).ok();
            logged.end(event.timestamp);
            logged.id.clear();
        }
        if state.requests.len() < REQUEST_LIMIT {
            let request = NetworkRequest {
                kind: event.kind.map(|kind| kind.to_lowercase()),
                ..NetworkRequest::new(state.part, as_written(without_query(&event.request.url)))
            };
            state.requests.push(LoggedRequest {
                id: event.request_id,
                sent_at: event.timestamp,
                finished: false,
                request,
            });
        }
    }

    fn response_received(&self, event: ResponseReceived) {
        let mut state = self.lock();
        let status = u16::try_from(event.response.status).unwrap_or(0);
        if event.kind == "Document" && event.frame_id.as_deref() == Some(&self.main_frame) {
            // In a tunnel, the server itself could send these headers.
            let headers = if event.response.url.starts_with("http:") {
                event.response.headers
            } else {
                GuardHeaders::default()
            };
            state.document = Some(DocumentResponse {
                status,
                mime_type: event.response.mime_type,
                refused: headers.refused,
                failed: headers.failed,
            });
        }
        if let Some(logged) = state
            .requests
            .iter_mut()
            .rev()
            .find(|logged| logged.id == event.request_id)
        {
            logged.request.status = Some(status);
        }
    }

    fn loading_ended(&self, id: &str, at: f64, outcome: Result<u64, String>) {
        if let Some(logged) = self.lock().requests.iter_mut().rev().find(|logged| logged.id == id) {
            logged.end(at);
            match outcome {
                Ok(bytes) => logged.request.bytes = Some(bytes),
                Err(error) => logged.request.error = Some(error),
            }
        }
    }

    fn frame_navigated(&self, frame: &Frame) {
        let mut state = self.lock();
        let address = frame.unreachable_url.as_ref().unwrap_or(&frame.url);
        if frame.url.starts_with("http:") || frame.url.starts_with("https:") {
            state.remote_document = true;
        }
        if frame.parent_id.is_none() && frame.id == self.main_frame {
            state.loaded = false;
            state.navigation_pending = None;
            state.navigations += 1;
            state.address = Some(without_query(address));
            if frame.unreachable_url.is_some() {
                let error = state
                    .requests
                    .iter()
                    .rev()
                    .find_map(|logged| logged.request.error.clone());
                state.document_error = Some(error.unwrap_or_else(|| "no response".to_owned()));
            }
        }
    }
}

impl PageState {
    /// Returns whether the main frame is navigating to another document, or still loading the current one.
    pub(crate) fn is_on_its_way(&self) -> bool {
        self.navigation_pending.is_some() || !self.loaded
    }

    /// Returns the URLs of unfinished requests.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &str> {
        self.requests
            .iter()
            .filter(|logged| !logged.finished)
            .map(|logged| logged.request.url.as_str())
    }
}

impl SessionEvents for PageObserver {
    fn event(&self, method: &str, params: &RawValue) {
        let params = params.get();
        match method {
            "Page.loadEventFired" => self.lock().loaded = true,
            "Network.requestWillBeSent" => {
                if let Ok(event) = serde_json::from_str(params) {
                    self.request_sent(event);
                }
            }
            "Network.responseReceived" => {
                if let Ok(event) = serde_json::from_str(params) {
                    self.response_received(event);
                }
            }
            "Network.loadingFinished" => {
                if let Ok(event) = serde_json::from_str::<LoadingFinished>(params) {
                    // A whole number, which DevTools represents as a float.
                    let bytes = event.encoded_data_length as u64;
                    self.loading_ended(&event.request_id, event.timestamp, Ok(bytes));
                }
            }
            "Network.loadingFailed" => {
                if let Ok(event) = serde_json::from_str::<LoadingFailed>(params) {
                    let reason = event.blocked_reason.unwrap_or(event.error_text);
                    self.loading_ended(&event.request_id, event.timestamp, Err(reason));
                }
            }
            "Page.frameNavigated" => {
                if let Ok(event) = serde_json::from_str::<FrameNavigated>(params) {
                    self.frame_navigated(&event.frame);
                }
            }
            "Page.frameRequestedNavigation" => {
                if let Ok(event) = serde_json::from_str::<FrameRequestedNavigation>(params)
                    && event.frame_id == self.main_frame
                {
                    self.lock().navigation_pending = Some(without_query(&event.url));
                }
            }
            // `<meta http-equiv=refresh>` and the header of that name.
            "Page.frameScheduledNavigation" => {
                if let Ok(event) = serde_json::from_str::<FrameScheduledNavigation>(params)
                    && event.frame_id == self.main_frame
                    && event.delay <= REFRESH_AT_ONCE
                {
                    self.lock().navigation_pending = Some(without_query(&event.url));
                }
            }
            "Page.javascriptDialogOpening" => {
                // The page is blocked until the dialog is closed.
                self.connection
                    .post(&self.session, &HandleJavaScriptDialogParams::new(false));
                self.lock().dialogs += 1;
            }
            _ => return,
        }
        self.changed.notify_waiters();
    }

    fn lost(&self) {
        self.lock().lost = true;
        self.changed.notify_waiters();
    }
}

/// Returns a URL for logs and responses: without query string, fragment and credentials, at most 500 characters.
pub(crate) fn without_query(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let mut address = url[..end].to_owned();
    if let Some(scheme) = address.find("://") {
        let authority_end = address[scheme + 3..]
            .find('/')
            .map_or(address.len(), |at| at + scheme + 3);
        if let Some(at) = address[scheme + 3..authority_end].rfind('@') {
            address.replace_range(scheme + 3..=scheme + 3 + at, "");
        }
    }
    if let Some((cut, _)) = address.char_indices().nth(URL_LIMIT) {
        address.truncate(cut);
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_what_may_be_secret() {
        assert_eq!(
            without_query("https://user:pass@example.com/a?token=1#x"),
            "https://example.com/a"
        );
        assert_eq!(without_query("http://example.com/@me"), "http://example.com/@me");
        assert_eq!(
            without_query(&format!("http://x/{}", "ä".repeat(900))).chars().count(),
            500
        );
    }
}
