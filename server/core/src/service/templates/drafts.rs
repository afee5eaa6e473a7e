//! Drafts: versions newer than the published one. Renders and the API ignore them until they are published.

use std::cmp::Ordering;

use platen_domain::{
    caller::Caller,
    editor::SavedTemplate,
    ids::{AccountId, TemplateId},
    template::{EditedTemplate, ExpectedVersion, NewTemplate, Submission, TemplateVersion, note::VersionNote},
};
use sqlx::{PgConnection, PgExecutor, PgPool};

use crate::{
    clock,
    service::{
        Services,
        templates::{TemplateError, checked, lock, versions},
    },
    store::{template_versions, tx},
};

/// Returns the newest version of a template.
pub async fn open(db: &PgPool, account: AccountId, id: TemplateId) -> Result<EditedTemplate, TemplateError> {
    let published = super::get(db, account, id).await?.version;
    let newest = newest(db, account, id).await?;
    Ok(EditedTemplate { published, newest })
}

/// Saves a draft. Fails with [`TemplateError::Changed`] unless the newest version is `seen`, because the author would
/// overwrite changes unseen. Content identical to the newest version creates no new one.
pub async fn save(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    seen: &ExpectedVersion,
    submission: Submission<NewTemplate>,
) -> Result<SavedTemplate, TemplateError> {
    let draft = checked(app, caller.account, submission).await?;
    let mut transaction = tx::begin(&app.db).await?;
    let published = lock(&mut transaction, caller.account, id, &ExpectedVersion::Any)
        .await?
        .version;
    let newest = newest(&mut *transaction, caller.account, id).await?;
    if !seen.includes(newest.summary.number) {
        return Err(TemplateError::Changed);
    }
    let version = insert(&mut transaction, caller, id, newest, &draft).await?;
    tx::commit(transaction).await?;
    Ok(SavedTemplate { version, published })
}

/// Saves an earlier version again as a draft. Returns the draft's number.
pub async fn restore(db: &PgPool, caller: &Caller, id: TemplateId, number: i32) -> Result<i32, TemplateError> {
    let mut transaction = tx::begin(db).await?;
    lock(&mut transaction, caller.account, id, &ExpectedVersion::Any).await?;
    let draft = versions::get(&mut *transaction, caller.account, id, number)
        .await?
        .into();
    let newest = newest(&mut *transaction, caller.account, id).await?;
    let number = insert(&mut transaction, caller, id, newest, &draft).await?;
    tx::commit(transaction).await?;
    Ok(number)
}

/// Publishes a draft. If it is published already, only its note is replaced. Fails with [`TemplateError::Changed`] if a
/// newer version is published.
pub async fn publish(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    number: i32,
    note: Option<&VersionNote>,
) -> Result<(), TemplateError> {
    let mut transaction = tx::begin(db).await?;
    let published = lock(&mut transaction, caller.account, id, &ExpectedVersion::Any)
        .await?
        .version;
    let draft = versions::get(&mut *transaction, caller.account, id, number).await?;
    match (number.cmp(&published), note) {
        (Ordering::Less, _) => return Err(TemplateError::Changed),
        (Ordering::Equal, None) => {}
        (Ordering::Equal, Some(note)) => {
            template_versions::update_note(&mut transaction, caller.account, id, number, note).await?;
        }
        (Ordering::Greater, _) => {
            let version = (number, draft.summary.name.as_str());
            super::publish(&mut transaction, caller, id, version, note, clock::now()).await?;
        }
    }
    Ok(tx::commit(transaction).await?)
}

async fn newest(db: impl PgExecutor<'_>, account: AccountId, id: TemplateId) -> Result<TemplateVersion, TemplateError> {
    let newest = template_versions::find(db, account, id, None).await?;
    newest.ok_or(TemplateError::NotFound)
}

/// Inserts a draft of a locked template, unless its newest version has the same content. Returns the number of the
/// version.
async fn insert(
    db: &mut PgConnection,
    caller: &Caller,
    id: TemplateId,
    newest: TemplateVersion,
    draft: &NewTemplate,
) -> Result<i32, TemplateError> {
    let same = newest.summary.name == draft.name
        && newest.content == draft.content
        && newest.preview_context == draft.preview_context;
    if same {
        return Ok(newest.summary.number);
    }
    let now = clock::now();
    Ok(template_versions::insert(db, caller.account, id, caller.user.id, draft, now).await?)
}
