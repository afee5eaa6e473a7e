//! Versions of stored templates. Versions are immutable; restoring one, or publishing an earlier one, creates a new
//! version.

use platen_domain::{
    caller::Caller,
    ids::{AccountId, TemplateId},
    page::{Page, PageRequest},
    template::{CONTENT, ExpectedVersion, NewTemplate, Template, TemplateVersion, VersionSummary, note::VersionNote},
};
use sqlx::{PgExecutor, PgPool};

use crate::{
    clock,
    service::{
        Services,
        templates::{
            Published, TemplateError, lock, partials::resolve_to_publish, publish as publish_newer, save, template,
        },
    },
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
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    number: i32,
    expected: &ExpectedVersion,
) -> Result<Template, TemplateError> {
    let now = clock::now();
    let new: NewTemplate = get(&app.db, caller.account, id, number).await?.into();
    let partials = resolve_to_publish(app, caller, Some(id), &new.content, "").await?;
    let mut transaction = tx::begin(&app.db).await?;
    let old = lock(&mut transaction, caller.account, id, expected).await?;
    let saved = save(&mut transaction, caller, id, (&new, &partials), None, now).await?;
    tx::commit(transaction).await?;
    Ok(template(id, old.identity, new, saved, (old.inserted_at, now)))
}

/// Publishes any version, if the published one is as expected. A version newer than that becomes the published one. An
/// earlier one is saved again as a new version: the number of the published version only grows, because clients of the
/// API compare it. Returns the number of the published version.
pub async fn publish(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    number: i32,
    expected: &ExpectedVersion,
    note: Option<&VersionNote>,
) -> Result<i32, TemplateError> {
    let now = clock::now();
    let version = get(&app.db, caller.account, id, number).await?;
    let partials = resolve_to_publish(app, caller, Some(id), &version.content, CONTENT).await?;
    let mut transaction = tx::begin(&app.db).await?;
    let published = lock(&mut transaction, caller.account, id, expected).await?.version;
    let number = if number > published {
        let newer = Published {
            version: number,
            name: &version.summary.name,
            partials: &partials,
        };
        publish_newer(&mut transaction, caller, id, newer, note, now).await?;
        number
    } else {
        save(&mut transaction, caller, id, (&version.into(), &partials), note, now).await?
    };
    tx::commit(transaction).await?;
    Ok(number)
}
