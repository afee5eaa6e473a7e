//! Drafts: versions newer than the published one. Renders and the API ignore them until they are published.

use std::{cmp::Ordering, iter};

use platen_domain::{
    caller::Caller,
    editor::{DEFAULT_SET, SampleSet, SavedTemplate},
    ids::{AccountId, TemplateId},
    template::{
        CONTENT, EditedTemplate, ExpectedVersion, NewTemplate, Submission, TemplateChanges, TemplateVersion,
        note::VersionNote,
        sample_sets::{NamedSet, SetChanges},
    },
};
use sqlx::{PgConnection, PgExecutor, PgPool};

use crate::{
    clock,
    service::{
        Services,
        templates::{
            Published, TemplateError, checked, lock,
            partials::{PartialSet, resolve_to_publish},
            settings::get_settings,
            versions,
        },
    },
    store::{template_promotions, template_sample_sets, template_versions, tx},
};

/// Returns all sets of sample data of a template, as the editor shows them. The first one is that of the newest version.
pub async fn sample_sets(db: &PgPool, account: AccountId, id: TemplateId) -> Result<Vec<SampleSet>, TemplateError> {
    let first = SampleSet {
        name: DEFAULT_SET.to_owned(),
        data: newest(db, account, id).await?.data(),
    };
    let others = template_sample_sets::list(db, account, id).await?;
    Ok(iter::once(first).chain(others.iter().map(NamedSet::shown)).collect())
}

/// Returns the names of all sets of sample data of a template.
pub async fn set_names(
    db: impl PgExecutor<'_>,
    account: AccountId,
    id: TemplateId,
) -> Result<Vec<String>, TemplateError> {
    let others = template_sample_sets::list_names(db, account, id).await?;
    Ok(iter::once(DEFAULT_SET.to_owned()).chain(others).collect())
}

/// Returns the sets of sample data of a template, without the first one, which is its preview context.
pub async fn named_sets(db: &PgPool, account: AccountId, id: TemplateId) -> Result<Vec<NamedSet>, TemplateError> {
    get_settings(db, account, id).await?;
    Ok(template_sample_sets::list(db, account, id).await?)
}

/// Replaces the sets of sample data other than the first one, and returns them. As in [`save`], a change creates a version,
/// a draft with the content of the newest one, so that authors whose editor shows the former sets don't overwrite it
/// unseen.
pub async fn replace_named_sets(
    db: &PgPool,
    caller: &Caller,
    id: TemplateId,
    sets: Vec<NamedSet>,
) -> Result<Vec<NamedSet>, TemplateError> {
    let mut transaction = tx::begin(db).await?;
    lock(&mut transaction, caller.account, id, &ExpectedVersion::Any).await?;
    if sets != template_sample_sets::list(&mut *transaction, caller.account, id).await? {
        let draft: NewTemplate = newest(&mut *transaction, caller.account, id).await?.into();
        replace_sets(&mut transaction, caller.account, id, &sets).await?;
        let (user, now) = (caller.user.id, clock::now());
        template_versions::insert(&mut transaction, caller.account, id, user, &draft, now).await?;
    }
    tx::commit(transaction).await?;
    Ok(sets)
}

/// Returns the newest version of a template.
pub async fn open(db: &PgPool, account: AccountId, id: TemplateId) -> Result<EditedTemplate, TemplateError> {
    let published = super::get(db, account, id).await?;
    Ok(EditedTemplate {
        identity: published.identity,
        published: published.version,
        newest: newest(db, account, id).await?,
    })
}

/// Saves a draft, which follows the newest version, and the sets of sample data. Fails with [`TemplateError::Changed`]
/// unless the newest version is `seen`, because the author would overwrite changes unseen. If content and sets are the same,
/// no version is created. Sets belong to the template; yet a change of them creates a version, so that others notice it.
pub async fn save(
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    seen: &ExpectedVersion,
    submission: Submission<TemplateChanges>,
    sets: SetChanges,
) -> Result<SavedTemplate, TemplateError> {
    let changes = checked(app, caller.account, submission).await?;
    let mut transaction = tx::begin(&app.db).await?;
    let published = lock(&mut transaction, caller.account, id, &ExpectedVersion::Any)
        .await?
        .version;
    let newest = newest(&mut *transaction, caller.account, id).await?;
    if !seen.includes(newest.summary.number) {
        return Err(TemplateError::Changed);
    }
    let draft = changes.applied_to_version(newest.clone().into());
    let stored = template_sample_sets::list(&mut *transaction, caller.account, id).await?;
    let sets = sets.applied_to(stored.clone())?;
    let version = if sets == stored {
        insert(&mut transaction, caller, id, newest, &draft).await?
    } else {
        replace_sets(&mut transaction, caller.account, id, &sets).await?;
        template_versions::insert(
            &mut transaction,
            caller.account,
            id,
            caller.user.id,
            &draft,
            clock::now(),
        )
        .await?
    };
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
    app: &Services,
    caller: &Caller,
    id: TemplateId,
    number: i32,
    note: Option<&VersionNote>,
) -> Result<(), TemplateError> {
    let draft = versions::get(&app.db, caller.account, id, number).await?;
    let partials = if number > super::get(&app.db, caller.account, id).await?.version {
        resolve_to_publish(app, caller, Some(id), &draft.content, CONTENT).await?
    } else {
        PartialSet::default()
    };
    let mut transaction = tx::begin(&app.db).await?;
    let published = lock(&mut transaction, caller.account, id, &ExpectedVersion::Any)
        .await?
        .version;
    match (number.cmp(&published), note) {
        (Ordering::Less, _) => return Err(TemplateError::Changed),
        (Ordering::Equal, None) => {}
        (Ordering::Equal, Some(note)) => {
            template_versions::update_note(&mut transaction, caller.account, id, number, note).await?;
        }
        (Ordering::Greater, _) => {
            let draft = Published {
                version: number,
                name: &draft.summary.name,
                partials: &partials,
            };
            super::publish(&mut transaction, caller, id, draft, note, clock::now()).await?;
        }
    }
    Ok(tx::commit(transaction).await?)
}

/// Replaces the sets of sample data. Pages have to be compared with the new ones before promotions are approved.
async fn replace_sets(
    transaction: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    sets: &[NamedSet],
) -> Result<(), TemplateError> {
    template_promotions::delete_comparisons(transaction, account, id).await?;
    Ok(template_sample_sets::replace(transaction, account, id, sets).await?)
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
        && newest.preview_context == draft.preview_context
        && newest.translations == draft.translations;
    if same {
        return Ok(newest.summary.number);
    }
    let now = clock::now();
    Ok(template_versions::insert(db, caller.account, id, caller.user.id, draft, now).await?)
}
