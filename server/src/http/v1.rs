//! Version 1 of the API, as described in `openapi.json`.

pub(super) mod assets;
pub(crate) mod batches;
pub(super) mod connections;
pub(super) mod credits;
pub(super) mod health;
pub(super) mod renderers;
pub(super) mod renders;
pub(super) mod templates;

use std::fmt::Display;

use axum::http::{HeaderMap, HeaderValue, Uri, header};
use platen_domain::page::PageRequest;
use serde::Serialize;
use url::form_urlencoded;

/// The envelope of responses.
#[derive(Serialize)]
pub(super) struct Data<T> {
    data: T,
}

/// Returns the `Link` header for the next page (RFC 8288), if there is one.
fn next_page<Key: Display>(uri: &Uri, request: &PageRequest<Key>, next: Option<Key>) -> HeaderMap {
    let (Some(cursor), Some(size)) = (next, request.size) else {
        return HeaderMap::new();
    };
    // Other parameters apply to the next page as well.
    let rest = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let rest = rest.filter(|(name, _)| name != "page_size" && name != "cursor");
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("page_size", &size.to_string())
        .append_pair("cursor", &cursor.to_string())
        .extend_pairs(rest)
        .finish();
    let link = format!("<{}?{query}>; rel=\"next\"", uri.path());
    let link = HeaderValue::try_from(link).ok();
    link.into_iter().map(|link| (header::LINK, link)).collect()
}
