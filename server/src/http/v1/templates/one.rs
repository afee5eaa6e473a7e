//! `/api/v1/templates/{id}`

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use platen_core::service::{Services, templates};
use platen_domain::template::{Submission, TemplateChanges};

use crate::http::{
    conditional::{entity_tag, has_version, if_match},
    error::ApiError,
    extract::{MayReadTemplates, MayWriteTemplates, TemplatePath, body::JsonBody},
    v1::templates::tagged,
};

/// `GET`: returns a template, or 304 if the client has its version.
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let template = templates::get(&app.db, caller.account, id).await?;
    Ok(if has_version(&headers, template.version) {
        (StatusCode::NOT_MODIFIED, [entity_tag(template.version)]).into_response()
    } else {
        tagged(template).into_response()
    })
}

/// `PATCH`: changes the fields in the body.
pub(in crate::http) async fn patch(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    TemplatePath(id): TemplatePath,
    headers: HeaderMap,
    JsonBody(submission, _memory): JsonBody<Submission<TemplateChanges>>,
) -> Result<Response, ApiError> {
    let template = templates::update(&app, &caller, id, &if_match(&headers), submission).await?;
    Ok(tagged(template).into_response())
}

/// `DELETE`: deletes a template and frees its name.
pub(in crate::http) async fn delete(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    TemplatePath(id): TemplatePath,
    headers: HeaderMap,
) -> Result<StatusCode, ApiError> {
    templates::delete(&app.db, &caller, id, &if_match(&headers)).await?;
    Ok(StatusCode::NO_CONTENT)
}
