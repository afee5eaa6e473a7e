//! Limits on the time and the size of request bodies, independent of the code that reads them. If a body exceeds a
//! limit, the handler's response is replaced by the error.

use std::{
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use hyper::body::{Frame, SizeHint};
use platen_app::pages::{assets::UPLOAD_PATH, batches::upload::is_upload};
use platen_core::{
    memory::{MemoryBudget, MemoryFull},
    service::sessions::LoggedIn,
    transfer::TransferDeadline,
};
use platen_domain::{batch::MOST_BYTES, ids::AccountId};
use tokio::time::{Sleep, sleep};

use crate::http::{error::ApiError, held_body::HeldBody};

/// The largest form of logged-in users: a template of 2 MiB, every byte of which may be escaped, and its data.
pub(super) const FORM_BYTES: usize = 8 * 1024 * 1024;
/// The largest form of visitors who are not logged in: an address, a password, a passkey's response.
const STRANGERS_FORM_BYTES: usize = 64 * 1024;
/// The largest upload of assets of logged-in users.
const UPLOAD_BYTES: usize = 32 * 1024 * 1024;
/// The largest form with the rows of a batch: a file, and its boundaries.
const ROWS_FORM_BYTES: usize = MOST_BYTES as usize + 64 * 1024;
/// The files, and their encrypted copy on its way to the database.
const COPIES_OF_AN_UPLOAD: u64 = 2;
/// Responses such as the playground's document; pages are shorter.
const LARGE_RESPONSE: u64 = 1024 * 1024;
/// The raw bytes, the unescaped bytes, and the parsed fields.
const COPIES_OF_A_FORM: u64 = 3;
/// Rows of a batch are stored while they arrive, under a reservation of their own.
const COPIES_OF_ROWS: u64 = 0;

/// The limit that a body exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overrun {
    /// The body was not complete after this time.
    Time(Duration),
    /// The body has more than this many bytes.
    Size(usize),
}

/// Limits the time of API request bodies, and the size of rows. The size of others is limited by the extractor, according to the
/// account's plan.
pub(super) async fn of_api(time: Duration, request: Request, next: Next) -> Response {
    let are_rows = is_rows(request.uri().path());
    let bytes = if are_rows { MOST_BYTES as usize } else { usize::MAX };
    bounded(time, are_rows, bytes, request, next)
        .await
        .unwrap_or_else(|overrun| match overrun {
            Overrun::Time(time) => ApiError::TooSlow(time).into_response(),
            Overrun::Size(bytes) => ApiError::TooLarge(bytes).into_response(),
        })
}

/// Returns whether the path takes the rows of a batch.
fn is_rows(path: &str) -> bool {
    path.starts_with("/api/v1/batches/") && path.ends_with("/rows")
}

/// Limits on forms and on calls of server functions.
#[derive(Clone)]
pub struct FormLimits {
    /// Time within which a form must be complete.
    pub time: Duration,
    /// Memory budget for large forms and responses.
    pub memory: MemoryBudget,
}

impl FormLimits {
    /// Limits a request to a page. A large form of a logged-in user waits for its memory reservation before it is read.
    /// A large response holds its reservation until it is sent.
    pub(super) async fn of_form(self, request: Request, next: Next) -> Response {
        let person = request.extensions().get::<LoggedIn>().map(|person| person.user);
        let (bytes, copies, are_rows) = match (person, request.uri().path()) {
            (Some(_), UPLOAD_PATH) => (UPLOAD_BYTES, COPIES_OF_AN_UPLOAD, false),
            (Some(_), path) if is_upload(path) => (ROWS_FORM_BYTES, COPIES_OF_ROWS, true),
            (Some(_), _) => (FORM_BYTES, COPIES_OF_A_FORM, false),
            (None, _) => (STRANGERS_FORM_BYTES, COPIES_OF_A_FORM, false),
        };
        let upper = request.body().size_hint().upper().unwrap_or(u64::MAX).min(bytes as u64);
        let _reservation = match person {
            // All forms of a user count together, regardless of their account.
            Some(user) if copies > 0 && upper > STRANGERS_FORM_BYTES as u64 => {
                match self.memory.reserve(AccountId(user.0), copies * upper).await {
                    Ok(reservation) => Some(reservation),
                    Err(error) => return full(error),
                }
            }
            _ => None,
        };
        let bounded = bounded(self.time, are_rows, bytes, request, next).await;
        let response = bounded.unwrap_or_else(|overrun| {
            let (status, message) = match overrun {
                Overrun::Time(time) => (
                    StatusCode::REQUEST_TIMEOUT,
                    format!(
                        "The form was not received within {} s. Submit it again.\n",
                        time.as_secs()
                    ),
                ),
                Overrun::Size(bytes) => (
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("The form is larger than {bytes} bytes. Shorten it and submit it again.\n"),
                ),
            };
            (status, [(header::CONNECTION, "close")], message).into_response()
        });
        match (person, response.body().size_hint().exact()) {
            (Some(user), Some(length)) if length > LARGE_RESPONSE => {
                match self.memory.try_reserve(AccountId(user.0), length) {
                    Ok(memory) => response.map(|body| Body::new(HeldBody::new(body, memory))),
                    Err(error) => full(error),
                }
            }
            _ => response,
        }
    }
}

fn full(error: MemoryFull) -> Response {
    tracing::warn!(%error, "request to a page refused: not enough memory");
    let message = "The service is overloaded. Send the request again in a moment.\n";
    let headers = [(header::RETRY_AFTER, "5"), (header::CONNECTION, "close")];
    (StatusCode::SERVICE_UNAVAILABLE, headers, message).into_response()
}

async fn bounded(
    time: Duration,
    are_rows: bool,
    bytes: usize,
    request: Request,
    next: Next,
) -> Result<Response, Overrun> {
    if request.body().is_end_stream() {
        return Ok(next.run(request).await);
    }
    if request.body().size_hint().lower() > bytes as u64 {
        return Err(Overrun::Size(bytes));
    }
    let overrun = Arc::<OnceLock<Overrun>>::default();
    let request = request.map(|body| {
        Body::new(BoundedBody {
            body,
            deadline: None,
            time,
            are_rows,
            bytes,
            received: 0,
            overrun: Arc::clone(&overrun),
        })
    });
    let response = next.run(request).await;
    match overrun.get() {
        Some(overrun) => Err(*overrun),
        None => Ok(response),
    }
}

/// A body that fails once it exceeds a limit.
struct BoundedBody {
    body: Body,
    /// Starts at the first poll, because the client may have to wait for its turn before that. With its timer.
    deadline: Option<(TransferDeadline, Pin<Box<Sleep>>)>,
    time: Duration,
    /// Whether it has the rows of a batch, which have more time the larger they are.
    are_rows: bool,
    bytes: usize,
    received: usize,
    overrun: Arc<OnceLock<Overrun>>,
}

impl BoundedBody {
    fn fail(&self, overrun: Overrun) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let overrun = self.overrun.get_or_init(|| overrun);
        Poll::Ready(Some(Err(axum::Error::new(format!("{overrun:?}")))))
    }
}

impl HttpBody for BoundedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Polled first, so that a body that always has another byte ready times out as well.
        let time = self.time;
        let (deadline, timer) = self
            .deadline
            .get_or_insert_with(|| (TransferDeadline::new(time), Box::pin(sleep(time))));
        // The client is not slow while the service stores what has arrived.
        let end = deadline.wait();
        if end != timer.deadline() {
            timer.as_mut().reset(end);
        }
        if timer.as_mut().poll(context).is_ready() {
            return self.fail(Overrun::Time(self.time));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            self.received = self.received.saturating_add(bytes);
            if self.received > self.bytes {
                return self.fail(Overrun::Size(self.bytes));
            }
            let bytes = if self.are_rows { bytes } else { 0 };
            if let Some((deadline, _)) = &mut self.deadline {
                deadline.receive(bytes);
            }
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
