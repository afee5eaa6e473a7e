//! The proxy's own responses. Those that report a failure have no body, so that a frame stays blank; the reason is in a
//! header.

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::{Response, StatusCode, header::HeaderValue};

use super::{FAILED_HEADER, REFUSED_HEADER, forward::UpstreamBody};
use crate::policy::Refusal;

/// A response of the proxy (left) or of a server (right).
pub(super) type Answer = Response<Either<Full<Bytes>, UpstreamBody>>;

/// 200: the tunnel is established.
pub(super) fn connected() -> Answer {
    with_status(StatusCode::OK)
}

/// 400: not a request to a proxy.
pub(super) fn bad_request() -> Answer {
    with_status(StatusCode::BAD_REQUEST)
}

/// 403: the address policy refused the target.
pub(super) fn refused(refusal: Refusal) -> Answer {
    with_reason(StatusCode::FORBIDDEN, REFUSED_HEADER, &refusal.to_string())
}

/// 502: the server could not be reached or violated the protocol.
pub(super) fn failed_to_reach(reason: &str) -> Answer {
    with_reason(StatusCode::BAD_GATEWAY, FAILED_HEADER, reason)
}

/// 504: the lookup, the connection or the response timed out.
pub(super) fn timed_out() -> Answer {
    with_reason(StatusCode::GATEWAY_TIMEOUT, FAILED_HEADER, "timed out")
}

fn with_reason(status: StatusCode, header: &'static str, reason: &str) -> Answer {
    let mut answer = with_status(status);
    if let Ok(reason) = HeaderValue::from_str(reason) {
        answer.headers_mut().insert(header, reason);
    }
    answer
}

/// A response without a body.
pub(super) fn with_status(status: StatusCode) -> Answer {
    let mut answer = with_content(Bytes::new());
    *answer.status_mut() = status;
    answer
}

/// 200 with this body.
pub(super) fn with_content(bytes: Bytes) -> Answer {
    Response::new(Either::Left(Full::new(bytes)))
}
