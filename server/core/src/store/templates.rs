//! Table `templates`. Most functions return the published version of each template.

use std::iter::zip;

use platen_domain::{
    ids::{AccountId, TemplateId},
    page::PageRequest,
    template::{
        Template, TemplateFilter, TemplateGlance,
        identity::{Handle, TemplateIdentity, TemplateKind},
        settings::TemplateSettings,
        translations::Translations,
    },
};
use sqlx::{PgConnection, PgExecutor, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    statement::execute,
    template_versions::{object, translations},
    tx,
};

/// Maximum number of uses of partials that are deleted together with templates, so that locks aren't held for long.
const MOST_ENDED_USES: i64 = 10_000;

struct TemplateRow {
    id: TemplateId,
    kind: String,
    handle: Option<String>,
    name: String,
    content: String,
    preview_context: serde_json::Value,
    translations: serde_json::Value,
    outdated_partials: Vec<String>,
    published_version: i32,
    inserted_at: OffsetDateTime,
    updated_at: OffsetDateTime,
}

impl From<TemplateRow> for Template {
    fn from(row: TemplateRow) -> Self {
        Self {
            id: row.id,
            identity: identity(&row.kind, row.handle.as_deref()),
            name: row.name,
            content: row.content,
            preview_context: object(row.preview_context),
            translations: translations(row.translations),
            outdated_partials: row.outdated_partials,
            version: row.published_version,
            inserted_at: row.inserted_at,
            updated_at: row.updated_at,
        }
    }
}

/// Converts a kind. The database contains only those that are known.
pub(super) fn kind(kind: &str) -> TemplateKind {
    kind.parse().unwrap_or_default()
}

fn identity(kind: &str, handle: Option<&str>) -> TemplateIdentity {
    TemplateIdentity {
        kind: self::kind(kind),
        handle: handle.and_then(Handle::parse),
    }
}

/// Inserts a template. Its first version must be inserted in the same transaction.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    identity: &TemplateIdentity,
    name: &str,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into templates (id, account_id, kind, handle, name, published_version, inserted_at, updated_at)
         values ($1, $2, $3, $4, $5, 1, $6, $6)",
        id.0,
        account.0,
        identity.kind.into_str(),
        identity.handle.as_ref().map(Handle::as_str),
        name,
        now,
    );
    execute(db, insert).await
}

/// Returns whether an error means that another template of the account has the handle.
pub fn is_handle_taken(error: &StoreError) -> bool {
    error.violates("templates_handle_key")
}

/// Sets kind and handle of a template. Fails with an error for which [`is_handle_taken`] is true if another template has
/// the handle.
pub async fn update_identity(
    db: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    identity: &TemplateIdentity,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update templates set kind = $3, handle = $4 where account_id = $1 and id = $2 and deleted_at is null",
        account.0,
        id.0,
        identity.kind.into_str(),
        identity.handle.as_ref().map(Handle::as_str),
    );
    execute(db, update).await
}

/// Returns a template, unless it is deleted.
pub async fn find(db: impl PgExecutor<'_>, account: AccountId, id: TemplateId) -> Result<Option<Template>, StoreError> {
    Ok(list(db, account, &[id]).await?.pop())
}

/// A version of a template as renders use it.
#[derive(Debug)]
pub struct RenderedVersion {
    pub content: String,
    pub translations: Translations,
    /// The partials that it uses.
    pub partials: Vec<RenderedPartial>,
    /// Settings of the template.
    pub settings: TemplateSettings,
}

/// A partial as renders use it.
#[derive(Debug)]
pub struct RenderedPartial {
    pub handle: String,
    pub content: String,
    pub translations: Translations,
}

/// Returns a version of a template, even if the template is deleted.
pub async fn find_version(
    db: &PgPool,
    account: AccountId,
    id: TemplateId,
    version: i32,
) -> Result<Option<RenderedVersion>, StoreError> {
    let version = sqlx::query!(
        r#"select versions.content, versions.translations, templates.strict, partials.handles, partials.contents,
            partials.translations as partial_translations
         from templates
         join template_versions versions on versions.template_id = templates.id and versions.number = $3
         cross join lateral (
            select array_agg(used.handle order by used.handle) as handles,
                array_agg(partial.content order by used.handle) as contents,
                array_agg(partial.translations order by used.handle) as translations
            from template_version_partials used
            join template_versions partial
                on partial.template_id = used.partial_id and partial.number = used.partial_version
            where used.template_id = templates.id and used.version = versions.number
         ) partials
         where templates.account_id = $1 and templates.id = $2"#,
        account.0,
        id.0,
        version,
    )
    .map(|row| RenderedVersion {
        content: row.content,
        translations: translations(row.translations),
        partials: zip(
            zip(row.handles.unwrap_or_default(), row.contents.unwrap_or_default()),
            row.partial_translations.unwrap_or_default(),
        )
        .map(|((handle, content), written)| RenderedPartial {
            handle,
            content,
            translations: translations(written),
        })
        .collect(),
        settings: TemplateSettings { strict: row.strict },
    });
    Ok(version.fetch_optional(db).await?)
}

/// Like [`find`], but locks the template until the transaction ends, so that concurrent saves are serialized.
pub async fn lock(db: &mut PgConnection, account: AccountId, id: TemplateId) -> Result<Option<Template>, StoreError> {
    let locked = sqlx::query_scalar!(
        "select id from templates where account_id = $1 and id = $2 and deleted_at is null for update",
        account.0,
        id.0,
    );
    // The version is read after the lock is acquired, to see what a concurrent save has published.
    match locked.fetch_optional(&mut *db).await? {
        Some(_) => find(db, account, id).await,
        None => Ok(None),
    }
}

/// Returns the ids of templates that aren't deleted, newest first, with the sizes of their published versions in bytes.
pub async fn list_ids(
    db: &PgPool,
    account: AccountId,
    page: PageRequest<TemplateId>,
) -> Result<Vec<(TemplateId, u64)>, StoreError> {
    let ids = sqlx::query!(
        r#"select templates.id, template_version_bytes(published) as "bytes!"
           from templates
           join template_versions published
            on published.template_id = templates.id and published.number = templates.published_version
           where templates.account_id = $1 and templates.deleted_at is null and ($2::uuid is null or templates.id < $2)
           order by templates.id desc
           limit $3"#,
        account.0,
        page.after.map(|id| id.0),
        page.limit(),
    )
    .map(|row| (TemplateId(row.id), row.bytes.unsigned_abs()));
    Ok(ids.fetch_all(db).await?)
}

/// Returns those of these templates that aren't deleted, newest first.
pub async fn list(
    db: impl PgExecutor<'_>,
    account: AccountId,
    ids: &[TemplateId],
) -> Result<Vec<Template>, StoreError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let templates = sqlx::query_as!(
        TemplateRow,
        r#"select templates.id, templates.kind, templates.handle, published.name, published.content, published.preview_context,
            published.translations, array(
                select used.handle from template_version_partials used
                join templates partials on partials.id = used.partial_id
                where templates.kind = 'document'
                    and used.template_id = templates.id and used.version = templates.published_version
                    and used.partial_version < partials.published_version
                order by used.handle
            ) as "outdated_partials!",
            templates.published_version, templates.inserted_at, templates.updated_at
         from templates
         join template_versions published
            on published.template_id = templates.id and published.number = templates.published_version
         where templates.account_id = $1 and templates.id = any($2) and templates.deleted_at is null
         order by templates.id desc"#,
        account.0,
        &ids,
    )
    .map(Template::from);
    Ok(templates.fetch_all(db).await?)
}

/// Returns the templates that match a filter and aren't deleted, newest first.
pub async fn list_glances(
    db: &PgPool,
    account: AccountId,
    filter: &TemplateFilter,
    page: PageRequest<TemplateId>,
) -> Result<Vec<TemplateGlance>, StoreError> {
    let glances = sqlx::query!(
        r#"select templates.id, templates.kind, templates.handle, templates.name, templates.published_version as published, newest.number as newest,
            newest.inserted_at as changed_at, coalesce(nullif(users.name, ''), users.email) as changed_by,
            templates.kind = 'partial' or accounts.template_channels = '{}' or exists (
                select from template_channels released
                where released.template_id = templates.id and released.channel = 'production'
                    and released.version = templates.published_version
            ) as "in_production!"
         from templates
         join accounts on accounts.id = templates.account_id
         join lateral (
            select number, created_by, inserted_at from template_versions
            where template_id = templates.id order by number desc limit 1
         ) newest on true
         left join users on users.id = newest.created_by
         where templates.account_id = $1 and templates.deleted_at is null
            and ($2::text is null or strpos(lower(templates.name), lower($2)) > 0 or starts_with(templates.id::text, $2))
            and ($3::boolean is null or (newest.number > templates.published_version) = $3)
            and ($4::uuid is null or templates.id < $4)
         order by templates.id desc
         limit $5"#,
        account.0,
        filter.search,
        filter.has_draft,
        page.after.map(|id| id.0),
        page.limit(),
    )
    .map(|row| TemplateGlance {
        id: TemplateId(row.id),
        identity: identity(&row.kind, row.handle.as_deref()),
        name: row.name,
        published: row.published,
        in_production: row.in_production,
        newest: row.newest,
        changed_at: row.changed_at,
        changed_by: row.changed_by,
    });
    Ok(glances.fetch_all(db).await?)
}

/// Publishes a version.
pub async fn publish(
    db: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    version: i32,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update templates set published_version = $3, name = version.name, updated_at = $4
         from template_versions version
         where templates.account_id = $1 and templates.id = $2
            and version.template_id = templates.id and version.number = $3",
        account.0,
        id.0,
        version,
        now,
    );
    execute(db, update).await
}

/// Returns the settings of a template, unless it is deleted.
pub async fn find_settings(
    db: &PgPool,
    account: AccountId,
    id: TemplateId,
) -> Result<Option<TemplateSettings>, StoreError> {
    Ok(sqlx::query_as!(
        TemplateSettings,
        "select strict from templates where account_id = $1 and id = $2 and deleted_at is null",
        account.0,
        id.0,
    )
    .fetch_optional(db)
    .await?)
}

/// Changes the settings of a template that isn't deleted; `None` leaves a setting unchanged. Returns the new settings.
pub async fn update_settings(
    db: impl PgExecutor<'_>,
    account: AccountId,
    id: TemplateId,
    strict: Option<bool>,
) -> Result<Option<TemplateSettings>, StoreError> {
    Ok(sqlx::query_as!(
        TemplateSettings,
        "update templates set strict = coalesce($3, strict)
         where account_id = $1 and id = $2 and deleted_at is null
         returning strict",
        account.0,
        id.0,
        strict,
    )
    .fetch_optional(db)
    .await?)
}

/// Marks a template as deleted. Its row and versions remain until [`delete_ended`] deletes them.
pub async fn delete(
    db: &mut PgConnection,
    account: AccountId,
    id: TemplateId,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update templates set deleted_at = $3 where account_id = $1 and id = $2 and deleted_at is null",
        account.0,
        id.0,
        now,
    );
    execute(db, update).await
}

/// Deletes templates of all accounts, with their versions, that were marked as deleted longer ago than the retention of
/// their plans and that no render can refer to any more: the account has no renders left that were accepted before the
/// deletion, nor batches whose rows can be opened, and no version uses them as partials, except those of templates that have ended too, which need no partials any
/// more. Deletes up to `at_most` templates and returns how many.
pub async fn delete_ended(db: &PgPool, now: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    let mut transaction = tx::begin(db).await?;
    // A render's time is taken before its templates are resolved, and a deletion's before it waits for the template's
    // lock; hence the margin of an hour.
    let ended = sqlx::query_scalar!(
        "with ended as (
            select templates.id
            from templates
            join accounts on accounts.id = templates.account_id
            join plans on plans.name = accounts.plan
            where templates.deleted_at < $1::timestamptz - plans.retention_days * interval '1 day'
                and not exists (
                    select from renders
                    where renders.account_id = templates.account_id
                        and renders.inserted_at < templates.deleted_at + interval '1 hour'
                )
                -- Rows that are opened later name the versions of their batch.
                and not exists (
                    select from batches
                    where batches.account_id = templates.account_id and batches.sealed <> ''
                        and batches.inserted_at < templates.deleted_at + interval '1 hour'
                )
         ),
         uses as (
            delete from template_version_partials
            where (template_id, version, handle) in (
                select used.template_id, used.version, used.handle
                from template_version_partials used
                join ended users on users.id = used.template_id
                join ended partials on partials.id = used.partial_id
                limit $3
            )
            returning template_id, version, handle
         )
         select templates.id
         from templates join ended using (id)
         where not exists (
                select from template_version_partials used
                where used.partial_id = templates.id
                    and (used.template_id, used.version, used.handle) not in (table uses)
            )
         order by templates.deleted_at
         limit $2
         for update of templates skip locked",
        now,
        at_most,
        MOST_ENDED_USES,
    );
    let ended = ended.fetch_all(&mut *transaction).await?;
    // Versions first, because their bytes are deducted from the account that their template still refers to.
    sqlx::query!("delete from template_versions where template_id = any($1)", &ended)
        .execute(&mut *transaction)
        .await?;
    let done = sqlx::query!("delete from templates where id = any($1)", &ended)
        .execute(&mut *transaction)
        .await?;
    tx::commit(transaction).await?;
    Ok(done.rows_affected())
}

/// Returns up to `most` names of an account's templates that can be rendered, in alphabetical order.
pub async fn list_names(db: &PgPool, account: AccountId, most: i64) -> Result<Vec<(TemplateId, String)>, StoreError> {
    let names = sqlx::query!(
        "select id, name from templates
         where account_id = $1 and kind = 'document' and deleted_at is null
         order by lower(name), id limit $2",
        account.0,
        most,
    )
    .map(|row| (TemplateId(row.id), row.name));
    Ok(names.fetch_all(db).await?)
}
