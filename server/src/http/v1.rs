//! Version 1, as `openapi.json` describes it.

pub(super) mod credits;
pub(super) mod health;
pub(super) mod renderers;
pub(super) mod templates;

use std::fmt::Display;

use axum::http::{HeaderMap, HeaderValue, Uri, header};
use serde::Serialize;

use crate::domain::page::PageRequest;

/// The envelope of what is asked for.
#[derive(Serialize)]
pub(super) struct Data<T> {
    data: T,
}

/// The header that leads to the next page (RFC 8288), if there is one.
fn next_page<Key: Display>(uri: &Uri, request: &PageRequest<Key>, next: Option<Key>) -> HeaderMap {
    let (Some(cursor), Some(size)) = (next, request.size) else {
        return HeaderMap::new();
    };
    let link = format!("<{}?page_size={size}&cursor={cursor}>; rel=\"next\"", uri.path());
    let link = HeaderValue::try_from(link).ok();
    link.into_iter().map(|link| (header::LINK, link)).collect()
}
