//! Documents in the default storage, for logged-in members of the account.

use axum::{
    extract::{Path, Request, State},
    http::StatusCode,
    response::Response,
};
use platen_core::service::renders::links::{self, LinkError};
use platen_domain::{ids::RenderId, role::Permission};

use crate::{
    http::files,
    web::{Web, viewer::Viewer},
};

/// `GET …/document.pdf`
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, StatusCode> {
    let render = RenderId::parse(&id).ok_or(StatusCode::NOT_FOUND)?;
    let account = viewer.reader(&web, Permission::Produce).await?.account;
    let document = links::locate_of_render(&web.app, account, render).await;
    let document = document.map_err(|error| match error {
        LinkError::NoDocument => StatusCode::NOT_FOUND,
        error => {
            tracing::error!(%error, "a document could not be read");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    })?;
    Ok(files::located(&web.app, document, request).await)
}
