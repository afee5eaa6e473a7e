//! `/api/v1/renders/{id}/links`

use axum::{Json, extract::State, http::StatusCode};
use platen_core::service::{Services, renders::links};
use platen_domain::download_link::{DownloadLink, LinkRequest};

use crate::http::{
    error::ApiError,
    extract::{MayRender, RenderPath, body::JsonBody},
    v1::Data,
};

/// `POST`: creates a link to the document.
pub(in crate::http) async fn post(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    RenderPath(id): RenderPath,
    JsonBody(request, _memory): JsonBody<LinkRequest>,
) -> Result<(StatusCode, Json<Data<DownloadLink>>), ApiError> {
    let data = links::create(&app, &caller, id, request).await?;
    Ok((StatusCode::CREATED, Json(Data { data })))
}

/// `DELETE`: revokes all links to the document.
pub(in crate::http) async fn delete(
    State(app): State<Services>,
    MayRender(caller): MayRender,
    RenderPath(id): RenderPath,
) -> Result<StatusCode, ApiError> {
    links::revoke(&app, caller.account, id, caller.sees_renders_of()).await?;
    Ok(StatusCode::NO_CONTENT)
}
