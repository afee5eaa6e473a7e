//! What a stored template is set to, and what it says about its context.

use sqlx::PgPool;

use crate::{
    domain::{
        ids::{AccountId, TemplateId},
        template::settings::{SettingsChanges, TemplateSettings},
    },
    service::templates::{TemplateError, get, unusable},
    state::AppState,
    store::templates,
};

/// The settings of a template.
pub async fn get_settings(db: &PgPool, account: AccountId, id: TemplateId) -> Result<TemplateSettings, TemplateError> {
    templates::find_settings(db, account, id)
        .await?
        .ok_or(TemplateError::NotFound)
}

/// Changes the settings that are given. They are no part of a version.
pub async fn update_settings(
    db: &PgPool,
    account: AccountId,
    id: TemplateId,
    changes: SettingsChanges,
) -> Result<TemplateSettings, TemplateError> {
    let settings = templates::update_settings(db, account, id, changes.strict).await?;
    settings.ok_or(TemplateError::NotFound)
}

/// What a template needs of a context.
pub struct ContextSchema {
    /// JSON schema (draft 2020-12) of the contexts that suit it.
    pub schema: serde_json::Value,
    /// Names in its preview context that it never uses.
    pub unused: Vec<String>,
}

/// Infers what the published version needs.
pub async fn infer_schema(app: &AppState, account: AccountId, id: TemplateId) -> Result<ContextSchema, TemplateError> {
    let template = get(&app.db, account, id).await?;
    let (content, preview_context) = (&template.content, &template.preview_context);
    let schema = app
        .templates
        .schema(account.0, content)
        .await
        .map_err(|error| unusable("", error))?;
    let unused = app.templates.unused(account.0, content, preview_context).await;
    Ok(ContextSchema {
        schema,
        unused: unused.map_err(|error| unusable("", error))?,
    })
}
