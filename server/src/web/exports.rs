//! Downloads of account exports, for logged-in owners.

use std::convert::Infallible;

use axum::{
    body::Body,
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use platen_core::{clock, service::exports};
use platen_domain::{ids::ExportId, role::Permission};
use tower::ServiceExt;
use tower_http::services::ServeFile;

use crate::web::{Web, viewer::Viewer};

/// `GET`, including range requests, because exports are large and downloads may be interrupted.
pub(super) async fn get(State(web): State<Web>, viewer: Viewer, Path(id): Path<String>, request: Request) -> Response {
    let Some(id) = ExportId::parse(&id) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let (app, now) = (&web.app, clock::now());
    let caller = match viewer.reader(&web, Permission::ExportAccount).await {
        Ok(caller) => caller,
        Err(status) => return status.into_response(),
    };
    let archive = match exports::find(app, &caller, id, now).await {
        Ok(Some(archive)) => archive,
        Ok(None) => return StatusCode::NOT_FOUND.into_response(),
        Err(error) => return failed(&error),
    };
    // A range request continues a download that is recorded already.
    if !request.headers().contains_key(header::RANGE)
        && let Err(error) = exports::note_fetched(&app.db, &caller, now).await
    {
        return failed(&error);
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
    response
}

fn failed(error: &dyn std::error::Error) -> Response {
    tracing::error!(%error, "an account export could not be read");
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}
