//! Downloads of account exports, for logged-in owners.

use axum::{
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use platen_core::{clock, service::exports, store::error::StoreError};
use platen_domain::{ids::ExportId, role::Permission};

use crate::{
    http::files,
    web::{Web, viewer::Viewer},
};

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
    let mut response = files::send(&archive.path, "application/zip", request).await;
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
