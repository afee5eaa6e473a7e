//! Versions of stored templates. Versions are immutable; restoring one creates a new version.

use platen_domain::{
    caller::Caller,
    ids::{AccountId, TemplateId},
    page::{Page, PageRequest},
    template::{ExpectedVersion, Template, TemplateVersion, VersionSummary},
};
use sqlx::{PgExecutor, PgPool};

use crate::{
    clock,
    service::templates::{TemplateError, lock, save, template},
    store::{template_versions, templates, tx},
};

/// Returns a page of a template's versions, the latest first.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    id: TemplateId,
    page: PageRequest<i32>,
) -> Result<Page<VersionSummary, i32>, TemplateError> {
    templates::find_settings(db, account, id)
        .await?
        .ok_or(TemplateError::NotFound)?;
    let found = template_versions::list(db, account, id, page).await?;
    Ok(page.page(found, |version| version.number))
}

/// Returns a version, or [`TemplateError::NotFound`].
pub async fn get(
    db: impl PgExecutor<'_>,
    account: AccountId,
    id: TemplateId,
    number: i32,
) -> Result<TemplateVersion, TemplateError> {
    let version = template_versions::find(db, account, id, Some(number)).await?;
    version.ok_or(TemplateError::NotFound)
}

/// Saves an earlier version again as a new version, and publishes it.
pub async fn restore(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    number: i32,
    expected: &ExpectedVersion,
) -> Result<Template, TemplateError> {
    let now = clock::now();
    let mut transaction = tx::begin(db).await?;
    let old = lock(&mut transaction, caller.account, id, expected).await?;
    let new = get(&mut *transaction, caller.account, id, number).await?.into();
    let saved = save(&mut transaction, caller, id, &new, now).await?;
    tx::commit(transaction).await?;
    Ok(template(id, new, saved, old.inserted_at, now))
}
