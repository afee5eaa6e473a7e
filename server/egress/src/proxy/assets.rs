//! Responses to requests for assets.

use hyper::{
    Method, Request, StatusCode, Uri,
    body::Incoming,
    header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS},
    http::uri::Scheme,
};
use percent_encoding::percent_decode_str;

use super::{
    answer::{self, Answer},
    connection::Connection,
    lock,
};
use crate::assets::Asset;

/// Returns the response to a request for an asset: its content, or 404 without a body. Returns `None` for other
/// requests.
pub(super) async fn answer(connection: &Connection, request: &Request<Incoming>) -> Option<Answer> {
    let assets = lock(&connection.render.assets).clone();
    let name = name(request.uri(), assets.host())?;
    if request.method() != Method::GET {
        return Some(answer::with_status(StatusCode::METHOD_NOT_ALLOWED));
    }
    let mut answer = match assets.find(&name).await {
        Some(asset) => found(asset),
        None => answer::with_status(StatusCode::NOT_FOUND),
    };
    // Pages have an opaque origin, and fonts are always requested by CORS, which otherwise hides that there is none.
    let any = HeaderValue::from_static("*");
    answer.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, any);
    Some(answer)
}

/// Nothing is cached, because another render may bring another file of the same name.
fn found(Asset { content_type, bytes }: Asset) -> Answer {
    let mut answer = answer::with_content(bytes);
    for (header, value) in [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        answer.headers_mut().insert(header, HeaderValue::from_static(value));
    }
    answer
}

/// Returns the name of the asset with this address.
fn name(address: &Uri, host: &str) -> Option<String> {
    if address.scheme() != Some(&Scheme::HTTP) || address.authority()?.as_str() != host {
        return None;
    }
    let name = percent_decode_str(address.path().trim_start_matches('/'));
    Some(name.decode_utf8_lossy().into_owned())
}
