//! `/api/v1/templates/{id}/versions` and below.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};
use platen_core::service::{Services, templates::versions};
use platen_domain::template::TemplateVersion;

use crate::http::{
    conditional::if_match,
    error::ApiError,
    extract::{MayReadTemplates, MayWriteTemplates, PageQuery, TemplatePath, VersionPath},
    v1::{Data, next_page, templates::tagged},
};

/// `GET …/versions`: lists versions without content, the newest first.
pub(in crate::http) async fn list(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
    PageQuery(request): PageQuery<i32>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = versions::list(&app.db, caller.account, id, request).await?;
    let link = next_page(&uri, &request, page.next);
    Ok((link, Json(Data { data: page.items })).into_response())
}

/// `GET …/versions/{number}`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    VersionPath(id, number): VersionPath,
) -> Result<Json<Data<TemplateVersion>>, ApiError> {
    let data = versions::get(&app.db, caller.account, id, number).await?;
    Ok(Json(Data { data }))
}

/// `POST …/versions/{number}/restore`: saves the version again as the newest.
pub(in crate::http) async fn restore(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    VersionPath(id, number): VersionPath,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let template = versions::restore(&app, &caller, id, number, &if_match(&headers)).await?;
    Ok(tagged(template).into_response())
}
