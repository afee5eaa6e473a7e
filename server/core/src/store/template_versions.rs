//! Table `template_versions`.

use platen_domain::{
    ids::{AccountId, TemplateId, UserId},
    page::PageRequest,
    template::{NewTemplate, TemplateVersion, VersionSummary, note::VersionNote, translations::Translations},
};
use serde_json::{Map, Value};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;

use crate::store::{
    error::StoreError,
    statement::{count_changes, execute},
};

/// Adds a version to a template and returns its number. The transaction must hold the template's lock.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    created_by: UserId,
    version: &NewTemplate,
    now: OffsetDateTime,
) -> Result<i32, StoreError> {
    Ok(sqlx::query_scalar!(
        "insert into template_versions
            (template_id, number, name, content, preview_context, translations, created_by, inserted_at)
         select templates.id,
            1 + coalesce((select max(number) from template_versions where template_id = templates.id), 0),
            $3, $4, $5::text::json, $8::text::json, $6, $7
         from templates
         where templates.account_id = $1 and templates.id = $2
         returning number",
        account.0,
        template.0,
        version.name,
        version.content,
        // As text, because sqlx would send it as `jsonb`, which rejects U+0000.
        Value::Object(version.preview_context.clone()).to_string(),
        created_by.0,
        now,
        // As text, because `jsonb` would sort the languages, of which the first is the template's own.
        Value::Object(version.translations.written().clone()).to_string(),
    )
    .fetch_one(db)
    .await?)
}

/// Returns the versions of a template, newest first; none if the template is deleted.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    template: TemplateId,
    page: PageRequest<i32>,
) -> Result<Vec<VersionSummary>, StoreError> {
    let rows = sqlx::query!(
        r#"select version.number, version.name, version.number = templates.published_version as "published!",
            version.created_by, version.note, version.inserted_at,
            coalesce(nullif(users.name, ''), users.email) as author
         from template_versions version
         join templates on templates.id = version.template_id
         left join users on users.id = version.created_by
         where templates.account_id = $1 and templates.id = $2 and templates.deleted_at is null
            and ($3::int is null or version.number < $3)
         order by version.number desc
         limit $4"#,
        account.0,
        template.0,
        page.after,
        page.limit(),
    )
    .map(|row| VersionSummary {
        number: row.number,
        name: row.name,
        published: row.published,
        created_by: row.created_by.map(UserId),
        author: row.author,
        note: row.note,
        inserted_at: row.inserted_at,
    });
    Ok(rows.fetch_all(db).await?)
}

/// Returns a version of a template or, without a number, the newest, unless the template is deleted.
pub async fn find(
    db: impl PgExecutor<'_>,
    account: AccountId,
    template: TemplateId,
    number: Option<i32>,
) -> Result<Option<TemplateVersion>, StoreError> {
    let row = sqlx::query!(
        r#"select version.number, version.name, version.number = templates.published_version as "published!",
            version.created_by, version.note, version.inserted_at, version.content, version.preview_context, version.translations,
            coalesce(nullif(users.name, ''), users.email) as author
         from template_versions version
         join templates on templates.id = version.template_id
         left join users on users.id = version.created_by
         where templates.account_id = $1 and templates.id = $2 and templates.deleted_at is null
            and version.number = coalesce($3, (select max(number) from template_versions where template_id = $2))"#,
        account.0,
        template.0,
        number,
    )
    .map(|row| TemplateVersion {
        summary: VersionSummary {
            number: row.number,
            name: row.name,
            published: row.published,
            created_by: row.created_by.map(UserId),
            author: row.author,
            note: row.note,
            inserted_at: row.inserted_at,
        },
        content: row.content,
        preview_context: object(row.preview_context),
        translations: translations(row.translations),
    });
    Ok(row.fetch_optional(db).await?)
}

/// Sets the note of a version.
pub async fn update_note(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    number: i32,
    note: &VersionNote,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update template_versions set note = $4
         from templates
         where templates.account_id = $1 and templates.id = $2
            and template_versions.template_id = templates.id and template_versions.number = $3",
        account.0,
        template.0,
        number,
        note.as_str(),
    );
    execute(db, update).await
}

/// Deletes versions of all accounts' templates that were never published and are older than the retention of their
/// plans, except for the newest version of each template. Deletes up to `at_most` versions and returns how many.
pub async fn delete_unpublished(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    // Publishing a version locks its template, so that its versions are skipped here.
    let statement = sqlx::query!(
        "with old as (
            select version.template_id, version.number
            from template_versions version
            join templates on templates.id = version.template_id
            join accounts on accounts.id = templates.account_id
            join plans on plans.name = accounts.plan
            where version.published_at is null
                and version.inserted_at < $1::timestamptz - plans.retention_days * interval '1 day'
                and version.number <> templates.published_version
                and exists (
                    select from template_versions newer
                    where newer.template_id = version.template_id and newer.number > version.number
                )
            order by version.inserted_at
            limit $2
            for update of templates skip locked
         )
         delete from template_versions using old
         where template_versions.template_id = old.template_id and template_versions.number = old.number",
        now,
        at_most,
    );
    count_changes(db, statement).await
}

/// Returns the translations in a column that contains only valid ones.
pub(super) fn translations(value: Value) -> Translations {
    Translations::try_from(value).unwrap_or_default()
}

/// Returns the members of a column that contains only objects.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
