//! Settings of stored templates, and the inferred schema of their context.

use platen_domain::{
    caller::Caller,
    ids::{AccountId, TemplateId},
    template::settings::{SettingsChanges, TemplateSettings},
};
use serde::Serialize;
use sqlx::PgPool;

use crate::{
    service::{
        Services,
        templates::{TemplateError, get, may_change_all, partials, unusable},
    },
    store::{templates, tx},
};

/// Returns the settings of a template, or [`TemplateError::NotFound`].
pub async fn get_settings(db: &PgPool, account: AccountId, id: TemplateId) -> Result<TemplateSettings, TemplateError> {
    templates::find_settings(db, account, id)
        .await?
        .ok_or(TemplateError::NotFound)
}

/// Changes the given settings, and returns all of them. Settings apply to all versions.
pub async fn update_settings(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    changes: SettingsChanges,
) -> Result<TemplateSettings, TemplateError> {
    let mut transaction = tx::begin(db).await?;
    may_change_all(&mut transaction, caller).await?;
    let settings = templates::update_settings(&mut *transaction, caller.account, id, changes.strict).await?;
    tx::commit(transaction).await?;
    settings.ok_or(TemplateError::NotFound)
}

/// Requirements of a template on its context.
#[derive(Serialize)]
pub struct ContextSchema {
    /// JSON Schema (draft 2020-12) of valid contexts.
    pub schema: serde_json::Value,
    /// Names in the preview context that the template never uses.
    pub unused: Vec<String>,
}

/// Infers the context schema of the published version.
pub async fn infer_schema(app: &Services, account: AccountId, id: TemplateId) -> Result<ContextSchema, TemplateError> {
    let template = get(&app.db, account, id).await?;
    let partials = partials::of_published(app, account, id, (template.version, &template.content)).await?;
    let sources = partials.translated(&template.content, &template.translations, None);
    let schema = app.templates.schema(account.0, sources.clone()).await;
    let schema = schema.map_err(|error| unusable("", error))?;
    let unused = app
        .templates
        .unused(account.0, sources, &template.preview_context)
        .await;
    Ok(ContextSchema {
        schema,
        unused: unused.map_err(|error| unusable("", error))?,
    })
}
