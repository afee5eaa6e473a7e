//! `/api/v1/templates/{id}/settings` and `…/schema`.

use axum::{Json, extract::State};
use platen_core::service::{
    Services,
    templates::settings::{self, ContextSchema},
};
use platen_domain::template::settings::{SettingsChanges, TemplateSettings};

use crate::http::{
    error::ApiError,
    extract::{MayReadTemplates, MayWriteTemplates, TemplatePath, body::JsonBody},
    v1::Data,
};

/// `GET …/settings`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
) -> Result<Json<Data<TemplateSettings>>, ApiError> {
    let data = settings::get_settings(&app.db, caller.account, id).await?;
    Ok(Json(Data { data }))
}

/// `PATCH …/settings`
pub(in crate::http) async fn patch(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    TemplatePath(id): TemplatePath,
    JsonBody(changes, _memory): JsonBody<SettingsChanges>,
) -> Result<Json<Data<TemplateSettings>>, ApiError> {
    let data = settings::update_settings(&app.db, &caller, id, changes).await?;
    Ok(Json(Data { data }))
}

/// `GET …/schema`
pub(in crate::http) async fn schema(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
) -> Result<Json<Data<ContextSchema>>, ApiError> {
    let data = settings::infer_schema(&app, caller.account, id).await?;
    Ok(Json(Data { data }))
}
