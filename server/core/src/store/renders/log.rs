//! Renders as listed in the dashboard: fewer columns and more filters than [`super::history`].

use platen_domain::{
    ids::{AccountId, RenderId},
    render::log::{LogFilter, LoggedRender},
};
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{
    error::StoreError,
    renders::search::{SearchRange, list_renders},
    statement::count_changes,
};

/// Returns the renders of an account that match a filter, newest first.
pub async fn list(
    db: &PgPool,
    account: AccountId,
    filter: &LogFilter,
    range: SearchRange,
) -> Result<Vec<LoggedRender>, StoreError> {
    let renders = list_renders!(
        db,
        LoggedRender,
        r#"id, mode, status as state, livemode, page_count, credits, title, options -> 'parts' as parts,
            left(error ->> 'message', 500) as error, jsonb_array_length(warnings) as "warnings!",
            (select name from api_keys where api_keys.id = renders.api_key_id) as key_name, inserted_at, finished_at"#,
        account,
        filter,
        range
    );
    Ok(renders?)
}

/// Returns up to `at_most` of an account's latest `considered` renders: those with titles that match an `ilike` pattern,
/// newest first.
pub async fn find_by_title(
    db: &PgPool,
    account: AccountId,
    pattern: &str,
    considered: i64,
    at_most: i64,
) -> Result<Vec<(RenderId, String)>, StoreError> {
    let found = sqlx::query!(
        r#"select id, title as "title!"
           from (
              select id, title, inserted_at from renders
              where account_id = $1
              order by inserted_at desc, id desc
              limit $3
           ) latest
           where title ilike $2
           order by inserted_at desc, id desc
           limit $4"#,
        account.0,
        pattern,
        considered,
        at_most,
    )
    .map(|row| (RenderId(row.id), row.title));
    Ok(found.fetch_all(db).await?)
}

/// Counts the renders of an account since `since`, up to `at_most`.
pub async fn count_since(
    db: &PgPool,
    account: AccountId,
    since: OffsetDateTime,
    at_most: i64,
) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (
            select from renders where account_id = $1 and inserted_at >= $2 limit $3
         ) counted"#,
        account.0,
        since,
        at_most,
    );
    Ok(count.fetch_one(db).await?)
}

/// What the page of one render shows in addition.
#[derive(Debug, Default)]
pub struct RenderOrigin {
    /// Name of the key that requested it.
    pub key_name: Option<String>,
    /// The idempotency key, while it is valid.
    pub idempotency_key: Option<String>,
}

/// Returns the origin of a render. `None` if there is no such render.
pub async fn find_origin(db: &PgPool, account: AccountId, id: RenderId) -> Result<Option<RenderOrigin>, StoreError> {
    let origin = sqlx::query_as!(
        RenderOrigin,
        r#"select api_keys.name as "key_name?", idempotency_keys.key as "idempotency_key?"
           from renders
           left join api_keys on api_keys.id = renders.api_key_id
           left join idempotency_keys on idempotency_keys.render_id = renders.id
           where renders.account_id = $1 and renders.id = $2"#,
        account.0,
        id.0,
    );
    Ok(origin.fetch_optional(db).await?)
}

/// A template by its id.
pub struct KnownTemplate {
    pub id: Uuid,
    pub name: String,
    /// Whether it has not been deleted.
    pub exists: bool,
    /// Number of the newest version.
    pub newest: i32,
}

/// Returns an account's templates with these ids, including deleted ones.
pub async fn list_templates(db: &PgPool, account: AccountId, ids: &[Uuid]) -> Result<Vec<KnownTemplate>, StoreError> {
    let templates = sqlx::query_as!(
        KnownTemplate,
        r#"select id, name, deleted_at is null as "exists!",
              greatest(
                 published_version,
                 (select max(number) from template_versions where template_id = templates.id)
              ) as "newest!"
           from templates
           where account_id = $1 and id = any($2)"#,
        account.0,
        ids,
    );
    Ok(templates.fetch_all(db).await?)
}

/// Returns up to `at_most` templates of an account whose names match an `ilike` pattern.
pub async fn find_templates(
    db: &PgPool,
    account: AccountId,
    pattern: &str,
    at_most: i64,
) -> Result<Vec<Uuid>, StoreError> {
    let ids = sqlx::query_scalar!(
        "select id from templates where account_id = $1 and name ilike $2 order by id desc limit $3",
        account.0,
        pattern,
        at_most,
    );
    Ok(ids.fetch_all(db).await?)
}

/// Deletes titles and console messages of an account's ended renders that were accepted up to `before`, latest first.
/// Changes up to `at_most` renders. Returns when the oldest of them was accepted, up to which further ones may remain,
/// or `None` if there were none.
pub async fn forget_words(
    db: &PgPool,
    account: AccountId,
    before: OffsetDateTime,
    at_most: i64,
) -> Result<Option<OffsetDateTime>, StoreError> {
    let rest = sqlx::query_scalar!(
        "with forgotten as (
            update renders set title = null, console = '[]'
            where id in (
                select id from renders
                where account_id = $1 and inserted_at <= $2 and finished_at is not null
                    and (title is not null or console <> '[]')
                order by inserted_at desc, id desc
                limit $3
            )
            returning inserted_at
         )
         select min(inserted_at) from forgotten",
        account.0,
        before,
        at_most,
    );
    Ok(rest.fetch_one(db).await?)
}

/// Deletes the content of test renders of all accounts that were accepted before `before` and have ended: requests,
/// thumbnails, accessibility reports, titles and console messages. Changes up to `at_most` renders and returns how many.
pub async fn delete_test_content(db: &PgPool, before: OffsetDateTime, at_most: i64) -> Result<u64, StoreError> {
    let statement = sqlx::query!(
        "with old as (
            select id from renders
            where not livemode and not content_deleted and finished_at is not null and inserted_at < $1
            order by inserted_at
            limit $2
         ),
         contents as (delete from render_contents using old where render_id = old.id),
         thumbnails as (delete from render_thumbnails using old where render_id = old.id),
         reports as (delete from accessibility_reports using old where render_id = old.id)
         update renders set content_deleted = true, title = null, console = '[]' from old where renders.id = old.id",
        before,
        at_most,
    );
    count_changes(db, statement).await
}
