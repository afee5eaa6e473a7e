//! The sample data of templates, as a file for logged-in members of the account.

use axum::{
    extract::{Path, State},
    http::{StatusCode, header},
    response::IntoResponse,
};
use platen_core::service::templates::{TemplateError, drafts};
use platen_domain::{ids::TemplateId, role::Permission};

use crate::web::{Web, viewer::Viewer};

/// `GET …/data.json`: the sample data of the newest version, under the name that the code examples read.
pub(super) async fn get(
    State(web): State<Web>,
    viewer: Viewer,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, StatusCode> {
    let id = TemplateId::parse(&id).ok_or(StatusCode::NOT_FOUND)?;
    let account = viewer.caller(&web, Permission::Produce).await?.account;
    let template = drafts::open(&web.app.db, account, id)
        .await
        .map_err(|error| match error {
            TemplateError::NotFound => StatusCode::NOT_FOUND,
            error => {
                tracing::error!(%error, "the sample data of a template could not be read");
                StatusCode::SERVICE_UNAVAILABLE
            }
        })?;
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"data.json\""),
        (header::CACHE_CONTROL, "private, no-store"),
    ];
    Ok((headers, template.newest.data()))
}
