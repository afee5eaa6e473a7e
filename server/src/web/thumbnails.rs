//! Thumbnails of document pages, for logged-in members of the account.

use axum::{
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
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
) -> Result<Response, StatusCode> {
    let page = name.strip_suffix(".png").and_then(|page| page.parse().ok());
    let (render, page) = RenderId::parse(&id).zip(page).ok_or(StatusCode::NOT_FOUND)?;
    let account = viewer.reader(&web, Permission::Produce).await?.account;
    let thumbnail = thumbnails::find(&web.app, account, render, page)
        .await
        .map_err(|error| {
            tracing::error!(%error, "a thumbnail could not be read");
            StatusCode::INTERNAL_SERVER_ERROR
        })?;
    let thumbnail = thumbnail.ok_or(StatusCode::NOT_FOUND)?;
    let tag = format!("\"{}\"", thumbnail.id);
    let known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known == tag.as_str());
    let described = [
        (header::ETAG, tag.as_str()),
        // Revalidated by every request, so that nothing is shown after a log-out.
        (header::CACHE_CONTROL, "private, no-cache"),
        (header::CONTENT_TYPE, "image/png"),
    ];
    Ok(if known {
        (StatusCode::NOT_MODIFIED, described).into_response()
    } else {
        (described, thumbnail.png).into_response()
    })
}
