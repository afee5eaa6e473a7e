//! Bodies of answers that hold memory until they are sent.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use crate::memory::Reservation;

/// A frame of this size at a time: what is written ends with the last frame, not with the first.
const FRAME: usize = 64 * 1024;

/// A body that gives its memory back when it is sent, or its client is gone.
pub(super) fn held(bytes: Bytes, memory: Reservation) -> Body {
    Body::new(HeldBody { bytes, _memory: memory })
}

struct HeldBody {
    bytes: Bytes,
    _memory: Reservation,
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let length = self.bytes.len().min(FRAME);
        let frame = (length > 0).then(|| Ok(Frame::data(self.bytes.split_to(length))));
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}
