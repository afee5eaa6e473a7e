//! Response bodies that hold a resource until they are sent.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// Frames are split to this size, so that the body ends when its last frame is written, not its first.
const FRAME: usize = 64 * 1024;

/// A body that drops its resource when it was sent, or when the client has disconnected.
pub(crate) struct HeldBody<Held> {
    body: Body,
    /// The unsent rest of the last frame.
    unsent: Bytes,
    _held: Held,
}

impl<Held> HeldBody<Held> {
    pub(crate) fn new(body: impl Into<Body>, held: Held) -> Self {
        Self {
            body: body.into(),
            unsent: Bytes::new(),
            _held: held,
        }
    }
}

impl<Held: Unpin> HttpBody for HeldBody<Held> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.unsent.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) if frame.is_data() => self.unsent = frame.into_data().unwrap_or_default(),
                other => return Poll::Ready(other),
            }
        }
        let length = self.unsent.len().min(FRAME);
        Poll::Ready(Some(Ok(Frame::data(self.unsent.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.unsent.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (unsent, rest) = (self.unsent.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + unsent);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + unsent);
        }
        hint
    }
}
