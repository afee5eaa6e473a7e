//! `/api/v1/templates/{id}/settings` and `…/schema`.

use axum::{Json, extract::State};
use platen_core::service::{Services, templates::settings};
use platen_domain::template::settings::TemplateSettings;
use serde::Serialize;
use serde_json::Value;

use crate::http::{
    error::ApiError,
    extract::{MayReadTemplates, MayWriteTemplates, TemplatePath, body::SettingsBody},
    v1::Data,
};

/// Settings in responses.
#[derive(Serialize)]
pub(in crate::http) struct SettingsResponse {
    strict: bool,
}

impl From<TemplateSettings> for SettingsResponse {
    fn from(settings: TemplateSettings) -> Self {
        Self {
            strict: settings.strict,
        }
    }
}

/// `GET …/settings`
pub(in crate::http) async fn get(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
) -> Result<Json<Data<SettingsResponse>>, ApiError> {
    let settings = settings::get_settings(&app.db, caller.account, id).await?;
    Ok(Json(Data { data: settings.into() }))
}

/// `PATCH …/settings`
pub(in crate::http) async fn patch(
    State(app): State<Services>,
    MayWriteTemplates(caller): MayWriteTemplates,
    TemplatePath(id): TemplatePath,
    SettingsBody(changes, _memory): SettingsBody,
) -> Result<Json<Data<SettingsResponse>>, ApiError> {
    let settings = settings::update_settings(&app.db, caller.account, id, changes).await?;
    Ok(Json(Data { data: settings.into() }))
}

/// The JSON Schema of the context that a template needs.
#[derive(Serialize)]
pub(in crate::http) struct SchemaResponse {
    schema: Value,
    unused: Vec<String>,
}

/// `GET …/schema`
pub(in crate::http) async fn schema(
    State(app): State<Services>,
    MayReadTemplates(caller): MayReadTemplates,
    TemplatePath(id): TemplatePath,
) -> Result<Json<Data<SchemaResponse>>, ApiError> {
    let inferred = settings::infer_schema(&app, caller.account, id).await?;
    let data = SchemaResponse {
        schema: inferred.schema,
        unused: inferred.unused,
    };
    Ok(Json(Data { data }))
}
