//! Table `template_version_partials`: the partials that published versions use, in fixed versions.

use platen_domain::{
    ids::{AccountId, TemplateId},
    template::{identity::TemplateKind, translations::Translations, used_by::PartialUser},
};
use sqlx::{PgConnection, PgExecutor, PgPool};

use crate::store::{error::StoreError, statement::execute, template_versions::translations, templates::kind};

/// A partial in its published version.
#[derive(Debug)]
pub struct PublishedPartial {
    pub id: TemplateId,
    pub handle: String,
    pub kind: TemplateKind,
    pub version: i32,
    /// `None` once contents and translations exceed the limit together.
    pub content: Option<String>,
    pub translations: Translations,
    /// Size of both, in bytes.
    pub bytes: usize,
}

/// Returns the published versions of the templates with these handles, with contents and translations of up to `most_bytes`
/// bytes together.
pub async fn list_published(
    db: &PgPool,
    account: AccountId,
    handles: &[String],
    most_bytes: usize,
) -> Result<Vec<PublishedPartial>, StoreError> {
    let partials = sqlx::query!(
        r#"select id, handle as "handle!", kind, number, bytes as "bytes!",
            case when total <= $3 then content end as content,
            case when total <= $3 then translations end as translations
         from (
            select templates.id, templates.handle, templates.kind, published.number, published.content,
                published.translations, sizes.bytes, sum(sizes.bytes) over (order by templates.id) as total
            from templates
            join template_versions published
                on published.template_id = templates.id and published.number = templates.published_version
            cross join lateral (
                select octet_length(published.content) + octet_length(published.translations::text) as bytes
            ) sizes
            where templates.account_id = $1 and templates.handle = any($2) and templates.deleted_at is null
         ) found
         order by id"#,
        account.0,
        handles,
        bound(most_bytes),
    )
    .map(|row| PublishedPartial {
        id: TemplateId(row.id),
        handle: row.handle,
        kind: kind(&row.kind),
        version: row.number,
        content: row.content,
        translations: row.translations.map(translations).unwrap_or_default(),
        bytes: usize::try_from(row.bytes).unwrap_or_default(),
    });
    Ok(partials.fetch_all(db).await?)
}

/// Returns the first 1,000 handles of an account's partials, in alphabetical order, with their ids.
pub async fn list_handles(db: &PgPool, account: AccountId) -> Result<Vec<(TemplateId, String)>, StoreError> {
    let partials = sqlx::query!(
        r#"select id, handle as "handle!" from templates
           where account_id = $1 and kind = 'partial' and handle is not null and deleted_at is null
           order by handle
           limit 1000"#,
        account.0,
    )
    .map(|row| (TemplateId(row.id), row.handle));
    Ok(partials.fetch_all(db).await?)
}

/// A partial that a version uses.
#[derive(Debug, Clone)]
pub struct UsedPartial {
    pub id: TemplateId,
    pub handle: String,
    pub version: i32,
    pub content: String,
    pub translations: Translations,
}

/// Stores the partials that a version uses. Locks them, so that they can't be published, deleted or renamed meanwhile.
/// Returns `false`, and the transaction must be rolled back, if one of them has been, or if a transaction that does so waits
/// for this one.
pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    template: TemplateId,
    version: i32,
    partials: &[UsedPartial],
) -> Result<bool, StoreError> {
    if partials.is_empty() {
        return Ok(true);
    }
    let ids: Vec<_> = partials.iter().map(|partial| partial.id.0).collect();
    let handles: Vec<_> = partials.iter().map(|partial| partial.handle.clone()).collect();
    let versions: Vec<_> = partials.iter().map(|partial| partial.version).collect();
    let locked = sqlx::query_scalar!(
        "select templates.id
         from templates
         join unnest($2::uuid[], $3::text[], $4::int[]) used (id, handle, published_version)
            using (id, handle, published_version)
         where templates.account_id = $1 and templates.kind = 'partial' and templates.deleted_at is null
         order by templates.id
         for share of templates",
        account.0,
        &ids,
        &handles,
        &versions,
    );
    match locked.fetch_all(&mut *db).await.map_err(StoreError::from) {
        Ok(locked) if locked.len() == partials.len() => {}
        Ok(_) => return Ok(false),
        Err(error) if error.is_deadlock() => return Ok(false),
        Err(error) => return Err(error),
    }
    let insert = sqlx::query!(
        "insert into template_version_partials (account_id, template_id, version, handle, partial_id, partial_version)
         select $1, $2, $3, handle, id, version
         from unnest($4::text[], $5::uuid[], $6::int[]) used (handle, id, version)",
        account.0,
        template.0,
        version,
        &handles,
        &ids,
        &versions,
    );
    execute(db, insert).await?;
    Ok(true)
}

/// Returns whether the partials of a version are fixed, because it has been published.
pub async fn are_fixed(
    db: &PgPool,
    account: AccountId,
    template: TemplateId,
    version: i32,
) -> Result<bool, StoreError> {
    let fixed = sqlx::query_scalar!(
        r#"select exists (
            select from template_versions version join templates on templates.id = version.template_id
            where templates.account_id = $1 and templates.id = $2 and version.number = $3
                and version.published_at is not null
         ) as "fixed!""#,
        account.0,
        template.0,
        version,
    );
    Ok(fixed.fetch_one(db).await?)
}

/// Returns the ids of the partials that the published version of a template uses.
pub async fn list_ids_of_published(
    db: &PgPool,
    account: AccountId,
    template: TemplateId,
) -> Result<Vec<TemplateId>, StoreError> {
    let ids = sqlx::query_scalar!(
        "select used.partial_id
         from template_version_partials used
         join templates on templates.id = used.template_id and templates.published_version = used.version
         where used.account_id = $1 and used.template_id = $2",
        account.0,
        template.0,
    );
    Ok(ids.fetch_all(db).await?.into_iter().map(TemplateId).collect())
}

/// Returns the partials that a version of a template uses.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    template: TemplateId,
    version: i32,
) -> Result<Vec<UsedPartial>, StoreError> {
    let partials = sqlx::query!(
        "select used.partial_id, used.handle, used.partial_version, partial.content, partial.translations
         from template_version_partials used
         join template_versions partial
            on partial.template_id = used.partial_id and partial.number = used.partial_version
         where used.account_id = $1 and used.template_id = $2 and used.version = $3
         order by used.handle",
        account.0,
        template.0,
        version,
    )
    .map(|row| UsedPartial {
        id: TemplateId(row.partial_id),
        handle: row.handle,
        version: row.partial_version,
        content: row.content,
        translations: translations(row.translations),
    });
    Ok(partials.fetch_all(db).await?)
}

/// Returns up to `at_most` templates whose published versions use a partial: documents first, those with older versions of
/// partials before others, and in alphabetical order.
pub async fn list_users(
    db: impl PgExecutor<'_>,
    account: AccountId,
    partial: TemplateId,
    at_most: usize,
) -> Result<Vec<PartialUser>, StoreError> {
    let users = sqlx::query!(
        r#"select users.id, users.name, users.kind, users.published_version, used.partial_version,
            exists (
                select from template_version_partials others
                join templates partials on partials.id = others.partial_id
                where others.template_id = users.id and others.version = users.published_version
                    and others.partial_version < partials.published_version
            ) as "outdated!",
            exists (
                select from template_versions newer
                where newer.template_id = users.id and newer.number > users.published_version
            ) as "has_draft!"
         from template_version_partials used
         join templates users on users.id = used.template_id and users.published_version = used.version
         where used.account_id = $1 and used.partial_id = $2 and users.deleted_at is null
         order by users.kind, 6 desc, lower(users.name), users.id
         limit $3"#,
        account.0,
        partial.0,
        bound(at_most),
    )
    .map(|row| PartialUser {
        id: TemplateId(row.id),
        name: row.name,
        kind: kind(&row.kind),
        published: row.published_version,
        uses: row.partial_version,
        outdated: row.outdated,
        has_draft: row.has_draft,
    });
    Ok(users.fetch_all(db).await?)
}

/// Counts the templates whose published versions use a partial.
pub async fn count_users(
    db: impl PgExecutor<'_>,
    account: AccountId,
    partial: TemplateId,
) -> Result<usize, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!"
         from template_version_partials used
         join templates users on users.id = used.template_id and users.published_version = used.version
         where used.account_id = $1 and used.partial_id = $2 and users.deleted_at is null"#,
        account.0,
        partial.0,
    );
    Ok(usize::try_from(count.fetch_one(db).await?).unwrap_or_default())
}

/// Converts a limit of this service for a statement.
fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
