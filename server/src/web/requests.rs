//! Requests of renders, for logged-in members of the account.

use axum::{
    body::Body,
    extract::{Path, State},
    http::{StatusCode, header},
    response::IntoResponse,
};
use platen_core::service::renders::request;
use platen_domain::{ids::RenderId, role::Permission};

use crate::{
    http::held_body::HeldBody,
    web::{Web, viewer::Viewer},
};

/// `GET …/request.json`: the request of a render with its content.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, StatusCode> {
    let render = RenderId::parse(&id).ok_or(StatusCode::NOT_FOUND)?;
    let account = viewer.reader(&web, Permission::Produce).await?.account;
    let content = request::find_of_render(&web.app, account, render)
        .await
        .map_err(|error| {
            tracing::error!(%error, "a stored request could not be read");
            StatusCode::INTERNAL_SERVER_ERROR
        })?;
    let content = content.and_then(Result::ok).ok_or(StatusCode::NOT_FOUND)?;
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{render}.json\""),
        ),
        (header::CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    let (body, memory) = content.into_body();
    Ok((headers, Body::new(HeldBody::new(body, memory))))
}
