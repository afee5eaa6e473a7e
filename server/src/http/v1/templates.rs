//! `/api/v1/templates`

pub(in crate::http) mod one;
pub(in crate::http) mod preview;
pub(in crate::http) mod settings;
pub(in crate::http) mod versions;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Map, Value};
use time::{OffsetDateTime, serde::rfc3339};

use crate::{
    domain::{
        ids::TemplateId,
        template::{NewTemplate, Template},
    },
    http::{
        conditional::entity_tag,
        error::ApiError,
        extract::{EveryTemplate, MayReadTemplates, MayWriteTemplates, PageQuery, body::TemplateBody},
        v1::{Data, next_page},
    },
    service::templates,
    state::AppState,
};

/// A template, as every answer shows it.
#[derive(Serialize)]
pub(in crate::http) struct TemplateResponse {
    id: TemplateId,
    name: String,
    content: String,
    preview_context: Map<String, Value>,
    #[serde(with = "rfc3339")]
    inserted_at: OffsetDateTime,
    #[serde(with = "rfc3339")]
    updated_at: OffsetDateTime,
}

impl From<Template> for TemplateResponse {
    fn from(template: Template) -> Self {
        Self {
            id: template.id,
            name: template.name,
            content: template.content,
            preview_context: template.preview_context,
            inserted_at: template.inserted_at,
            updated_at: template.updated_at,
        }
    }
}

/// An answer with one template and its tag.
fn tagged(template: Template) -> impl IntoResponse {
    (
        [entity_tag(template.version)],
        Json(Data {
            data: TemplateResponse::from(template),
        }),
    )
}

/// `GET`: newest first.
pub(in crate::http) async fn get(
    State(app): State<AppState>,
    MayReadTemplates(caller): MayReadTemplates,
    _: EveryTemplate,
    PageQuery(request): PageQuery<TemplateId>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = templates::list(&app.db, caller.account, request).await?;
    let link = next_page(&uri, &request, page.next);
    let data: Vec<_> = page.items.into_iter().map(TemplateResponse::from).collect();
    Ok((link, Json(Data { data })).into_response())
}

/// `POST`: creates one.
pub(in crate::http) async fn post(
    State(app): State<AppState>,
    MayWriteTemplates(caller): MayWriteTemplates,
    _: EveryTemplate,
    TemplateBody(submission, _memory): TemplateBody<NewTemplate>,
) -> Result<Response, ApiError> {
    let template = templates::create(&app, &caller, submission).await?;
    let location = [(header::LOCATION, format!("/api/v1/templates/{}", template.id))];
    Ok((StatusCode::CREATED, location, tagged(template)).into_response())
}
