//! Thumbnails of document pages, for logged-in members of the account.

use axum::{
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use platen_core::service::renders::thumbnails;
use platen_domain::{ids::RenderId, role::Permission};

use crate::web::{Web, viewer::Viewer};

/// `GET …/pages/1.png`: the thumbnail of one page.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let page = name.strip_suffix(".png").and_then(|page| page.parse().ok());
    let (Some(render), Some(page)) = (RenderId::parse(&id), page) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let app = &web.app;
    let account = match viewer.reader(&web, Permission::Produce).await {
        Ok(caller) => caller.account,
        Err(status) => return status.into_response(),
    };
    let thumbnail = match thumbnails::find(app, account, render, page).await {
        Ok(Some(thumbnail)) => thumbnail,
        Ok(None) => return StatusCode::NOT_FOUND.into_response(),
        Err(error) => return failed(&error),
    };
    let tag = format!("\"{}\"", thumbnail.id);
    let known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known == tag.as_str());
    let described = [
        (
            header::ETAG,
            HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("")),
        ),
        // Revalidated by every request, so that nothing is shown after a log-out.
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (header::CONTENT_TYPE, HeaderValue::from_static("image/png")),
    ];
    if known {
        return (StatusCode::NOT_MODIFIED, described).into_response();
    }
    (described, thumbnail.png).into_response()
}

fn failed(error: &dyn std::error::Error) -> Response {
    tracing::error!(%error, "a thumbnail could not be read");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}
