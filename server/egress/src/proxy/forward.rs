//! Plain HTTP: one connection to the server for each request, with streamed bodies.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::Either;
use hyper::{
    HeaderMap, Request, Response, Uri, Version,
    body::{Body, Frame, Incoming, SizeHint},
    client::conn::http1,
    header::{
        CONNECTION, HOST, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
        TRANSFER_ENCODING, UPGRADE,
    },
    http::uri::Scheme,
};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;

use super::{
    FAILED_HEADER, REFUSED_HEADER,
    answer::{self, Answer},
    assets,
    connection::{Connection, HEAD_LIMIT},
    metered::Metered,
    target::Target,
};
use crate::log::{Kind, Outcome};

const HTTP_PORT: u16 = 80;

/// Hop-by-hop headers (RFC 9110, 7.6.1), removed along with those that `Connection` lists.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The body of a server's response. Dropping it closes the connection to the server.
pub(super) struct UpstreamBody {
    incoming: Incoming,
    _close: DropGuard,
}

/// Sends the request to its target and returns the response once its header has arrived, or the proxy's own response if
/// that fails.
pub(super) async fn send(connection: Arc<Connection>, mut request: Request<Incoming>) -> Answer {
    if let Some(answer) = assets::answer(&connection, &request).await {
        return answer;
    }
    let Some(target) = target_of(request.uri()) else {
        return answer::bad_request();
    };
    let Ok(host) = HeaderValue::from_str(&target.to_string()) else {
        return answer::bad_request();
    };
    let upstream = match connection.reach(Kind::Http, target).await {
        Ok(upstream) => upstream,
        Err(answer) => return answer,
    };
    let entry = Arc::clone(upstream.entry());
    make_direct(&mut request, host);
    let exchange = exchange(&connection, upstream, request);
    let exchanged = timeout(connection.guard.limits().response_timeout, exchange).await;
    connection.note_progress();
    match exchanged {
        Ok(Ok(mut response)) => {
            entry.set_connected();
            *response.version_mut() = Version::HTTP_11;
            remove_hop_by_hop(response.headers_mut());
            // Only the proxy itself may set these.
            response.headers_mut().remove(REFUSED_HEADER);
            response.headers_mut().remove(FAILED_HEADER);
            response.map(Either::Right)
        }
        Ok(Err(error)) => {
            let reason = describe(&error);
            entry.fail(Outcome::ConnectFailed(reason.to_owned()));
            answer::failed_to_reach(reason)
        }
        Err(_) => {
            entry.fail(Outcome::TimedOut);
            answer::timed_out()
        }
    }
}

async fn exchange(
    connection: &Connection,
    upstream: Metered,
    request: Request<Incoming>,
) -> hyper::Result<Response<UpstreamBody>> {
    let (mut sender, driver) = http1::Builder::new()
        .max_header_size(HEAD_LIMIT)
        .max_buf_size(HEAD_LIMIT)
        .ignore_invalid_headers_in_responses(true)
        .handshake(TokioIo::new(upstream))
        .await?;
    let closed = connection.closed.child_token();
    let close = closed.clone().drop_guard();
    tokio::spawn(async move { closed.run_until_cancelled(driver).await });
    let response = sender.send_request(request).await?;
    Ok(response.map(|incoming| UpstreamBody {
        incoming,
        _close: close,
    }))
}

/// Returns the target of an absolute-form `http` URI, or `None`: everything else uses `CONNECT`.
fn target_of(uri: &Uri) -> Option<Target> {
    if uri.scheme() != Some(&Scheme::HTTP) {
        return None;
    }
    Target::parse(uri.authority()?, Some(HTTP_PORT))
}

/// Converts a proxy request to an origin request. `Host` is replaced by the target (RFC 9112, 3.2.2).
fn make_direct(request: &mut Request<Incoming>, host: HeaderValue) {
    let path = request.uri().path_and_query().cloned();
    *request.uri_mut() = path.map_or_else(Uri::default, Uri::from);
    *request.version_mut() = Version::HTTP_11;
    let headers = request.headers_mut();
    remove_hop_by_hop(headers);
    headers.insert(HOST, host);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

fn describe(error: &hyper::Error) -> &'static str {
    if error.is_parse_too_large() {
        "the response header is too large"
    } else if error.is_parse() {
        "the response is not HTTP"
    } else {
        "the connection was lost before the response"
    }
}

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.incoming).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
