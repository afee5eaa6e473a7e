//! `/api/v1/templates/{id}/versions` and below.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, Uri},
    response::{IntoResponse, Response},
};
use platen_core::service::{Services, templates::versions};
use platen_domain::{
    ids::UserId,
    template::{TemplateVersion, VersionSummary},
};
use serde::Serialize;
use serde_json::{Map, Value};
use time::{OffsetDateTime, serde::rfc3339};

use crate::http::{
    conditional::if_match,
    error::ApiError,
    extract::{MayReadTemplates, MayWriteTemplates, PageQuery, TemplatePath, VersionPath},
    v1::{Data, next_page, templates::tagged},
};

/// A version in a list.
#[derive(Serialize)]
pub(in crate::http) struct SummaryResponse {
    number: i32,
    name: String,
    published: bool,
    created_by: Option<UserId>,
    #[serde(with = "rfc3339")]
    inserted_at: OffsetDateTime,
}

impl From<VersionSummary> for SummaryResponse {
    fn from(version: VersionSummary) -> Self {
        Self {
            number: version.number,
            name: version.name,
            published: version.published,
            created_by: version.created_by,
            inserted_at: version.inserted_at,
        }
    }
}

/// A version with its content.
#[derive(Serialize)]
pub(in crate::http) struct VersionResponse {
    #[serde(flatten)]
    summary: SummaryResponse,
    content: String,
    preview_context: Map<String, Value>,
}

impl From<TemplateVersion> for VersionResponse {
    fn from(version: TemplateVersion) -> Self {
        Self {
            summary: version.summary.into(),
            content: version.content,
            preview_context: version.preview_context,
        }
    }
}

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
    let data: Vec<_> = page.items.into_iter().map(SummaryResponse::from).collect();
    Ok((link, Json(Data { data })).into_response())
}

/// `GET …/versions/{number}`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    VersionPath(id, number): VersionPath,
) -> Result<Json<Data<VersionResponse>>, ApiError> {
    let version = versions::get(&app.db, caller.account, id, number).await?;
    Ok(Json(Data { data: version.into() }))
}

/// `POST …/versions/{number}/restore`: saves the version again as the newest.
pub(in crate::http) async fn restore(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    VersionPath(id, number): VersionPath,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let template = versions::restore(&app.db, &caller, id, number, &if_match(&headers)).await?;
    Ok(tagged(template).into_response())
}
