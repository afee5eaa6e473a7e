//! Reads the rest of request bodies that handlers didn't read. Closing a connection with unread bytes resets it, and
//! the client would see the reset instead of the response that explains why the body was rejected.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{StatusCode, header},
    middleware::Next,
    response::Response,
};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::time::timeout;

/// Larger rests are not read.
const MOST_BYTES: usize = 64 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// Middleware for all routes.
pub(super) async fn drain(request: Request, next: Next) -> Response {
    // A client that sent `Expect` waits with its body, and won't send it if the request is refused.
    if request.headers().contains_key(header::EXPECT) || request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let lent = Lent(Arc::new(Mutex::new(body)));
    let mut rest = lent.clone();
    let response = next.run(Request::from_parts(parts, Body::new(lent))).await;
    if response.status() == StatusCode::REQUEST_TIMEOUT {
        // The time for the body is already over.
        return response;
    }
    let reading = async {
        let mut read = 0;
        while let Some(Ok(frame)) = rest.frame().await {
            read += frame.data_ref().map_or(0, Bytes::len);
            if read > MOST_BYTES {
                break;
            }
        }
    };
    let _ = timeout(PATIENCE, reading).await;
    response
}

/// A body that is shared by the handler and this module. Only one of them polls it at a time.
#[derive(Clone)]
struct Lent(Arc<Mutex<Body>>);

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let mut body = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut *body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}
