//! Answers of the proxy itself: no body, so that a frame stays blank; the reason is in a header.

use bytes::Bytes;
use http_body_util::{Either, Empty};
use hyper::{Response, StatusCode, header::HeaderValue};

use super::{FAILED_HEADER, REFUSED_HEADER, forward::UpstreamBody};
use crate::policy::Refusal;

/// An answer of our own, or one from outside.
pub(super) type Answer = Response<Either<Empty<Bytes>, UpstreamBody>>;

/// The tunnel stands.
pub(super) fn connected() -> Answer {
    empty(StatusCode::OK)
}

/// Not a request for a proxy.
pub(super) fn bad_request() -> Answer {
    empty(StatusCode::BAD_REQUEST)
}

/// The address policy said no.
pub(super) fn refused(refusal: Refusal) -> Answer {
    with_reason(StatusCode::FORBIDDEN, REFUSED_HEADER, &refusal.to_string())
}

/// The other side could not be reached or broke the protocol.
pub(super) fn failed_to_reach(reason: &str) -> Answer {
    with_reason(StatusCode::BAD_GATEWAY, FAILED_HEADER, reason)
}

/// The other side was too slow.
pub(super) fn timed_out() -> Answer {
    with_reason(StatusCode::GATEWAY_TIMEOUT, FAILED_HEADER, "timed out")
}

fn with_reason(status: StatusCode, header: &'static str, reason: &str) -> Answer {
    let mut answer = empty(status);
    if let Ok(reason) = HeaderValue::from_str(reason) {
        answer.headers_mut().insert(header, reason);
    }
    answer
}

fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Either::Left(Empty::new()));
    *answer.status_mut() = status;
    answer
}
