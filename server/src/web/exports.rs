//! Downloads of account exports, for logged-in owners.

use std::convert::Infallible;

use axum::{
    body::Body,
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use platen_core::{clock, service::exports, store::error::StoreError};
use platen_domain::{ids::ExportId, role::Permission};
use tower::ServiceExt;
use tower_http::services::ServeFile;

use crate::web::{Web, viewer::Viewer};

/// `GET`, including range requests, because exports are large and downloads may be interrupted.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, StatusCode> {
    let id = ExportId::parse(&id).ok_or(StatusCode::NOT_FOUND)?;
    let (app, now) = (&web.app, clock::now());
    let caller = viewer.reader(&web, Permission::ExportAccount).await?;
    let archive = exports::find(app, &caller, id, now).await.map_err(failed)?;
    let archive = archive.ok_or(StatusCode::NOT_FOUND)?;
    // A range request continues a download that is recorded already.
    if !request.headers().contains_key(header::RANGE) {
        exports::note_fetched(&app.db, &caller, now).await.map_err(failed)?;
    }
    let file = ServeFile::new_with_mime(archive.path, &"application/zip".parse().expect("a media type"));
    let served: Result<_, Infallible> = file.oneshot(request).await;
    let Ok(served) = served;
    let mut response = served.map(Body::new).into_response();
    if response.status().is_success() {
        let name = format!("attachment; filename=\"platen-export-{}.zip\"", archive.asked_at.date());
        let name = HeaderValue::try_from(name).ok();
        response
            .headers_mut()
            .extend(name.map(|name| (header::CONTENT_DISPOSITION, name)));
    }
    Ok(response)
}

#[expect(clippy::needless_pass_by_value, reason = "maps errors")]
fn failed(error: StoreError) -> StatusCode {
    tracing::error!(%error, "an account export could not be read");
    StatusCode::INTERNAL_SERVER_ERROR
}
