//! What an account consists of, as its archive shows it. Members are spelled out one by one, so that no secret, digest or
//! sealed column gets in by being added to a table.

use serde_json::Value;
use sqlx::PgPool;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::{
    domain::ids::{AccountId, RenderId, TemplateId},
    store::error::StoreError,
};

/// The account, and all of it that is short. `None`: it is gone.
pub async fn find(db: &PgPool, account: AccountId) -> Result<Option<Value>, StoreError> {
    let found = sqlx::query_scalar!(
        r#"select json_build_object(
            'id', id,
            'name', name,
            'plan', plan,
            'credits_a_period', credits,
            'created_at', inserted_at,
            'suspended_at', suspended_at,
            'deleted_at', delete_at,
            'settings', json_build_object('keep_content', keep_content),
            'members', (
                select coalesce(json_agg(json_build_object(
                    'user_id', users.id, 'name', users.name, 'email', users.email, 'role', members.role,
                    'since', members.inserted_at
                ) order by members.inserted_at), '[]')
                from members join users on users.id = members.user_id where members.account_id = $1
            ),
            'invitations', (
                select coalesce(json_agg(json_build_object(
                    'email', email, 'role', role, 'invited_by', invited_by, 'invited_at', invited_at,
                    'expires_at', expires_at
                ) order by invited_at), '[]')
                from invitations where account_id = $1
            ),
            'api_keys', (
                select coalesce(json_agg(json_build_object(
                    'id', id, 'name', name, 'begins_with', hint, 'scopes', scopes, 'livemode', livemode,
                    'allowed_networks', allowed_networks, 'allowed_templates', allowed_templates,
                    'created_by', created_by, 'created_at', inserted_at, 'last_used_at', last_used_at,
                    'expires_at', expires_at, 'revoked_at', revoked_at
                ) order by inserted_at), '[]')
                from api_keys where account_id = $1
            ),
            'connections', (
                select coalesce(json_agg(json_build_object(
                    'id', id, 'name', name, 'provider', provider, 'bucket', bucket, 'path_prefix', path_prefix,
                    'region', region, 'endpoint', endpoint, 'identity', identity, 'created_at', inserted_at
                ) order by inserted_at), '[]')
                from connections where account_id = $1
            ),
            'webhook_secrets', (
                select coalesce(json_agg(json_build_object(
                    'id', id, 'created_at', inserted_at, 'expires_at', expires_at
                ) order by inserted_at), '[]')
                from webhook_secrets where account_id = $1
            ),
            'credit_periods', (
                select coalesce(json_agg(json_build_object(
                    'starts_at', starts_at, 'ends_at', ends_at, 'allowance', allowance, 'granted', granted, 'bought', bought,
                    'used', used, 'overage_limit', overage_limit, 'overage_used', overage_used
                ) order by starts_at), '[]')
                from credit_periods where account_id = $1
            )
         ) as "account!"
         from accounts where id = $1"#,
        account.0,
    );
    Ok(found.fetch_optional(db).await?)
}

/// A template without its content.
#[derive(Debug)]
pub struct TemplateDescription {
    /// Identifier.
    pub id: TemplateId,
    /// Name, settings, times, and which version is used.
    pub description: Value,
}

/// At most so many templates after this one, deleted ones too.
pub async fn list_templates(
    db: &PgPool,
    account: AccountId,
    after: Option<TemplateId>,
    at_most: i64,
) -> Result<Vec<TemplateDescription>, StoreError> {
    let rows = sqlx::query!(
        r#"select id, json_build_object(
                'id', id, 'name', name, 'published_version', published_version,
                'settings', json_build_object('strict', strict),
                'created_at', inserted_at, 'updated_at', updated_at, 'deleted_at', deleted_at
            ) as "description!"
         from templates
         where account_id = $1 and ($2::uuid is null or id > $2)
         order by id limit $3"#,
        account.0,
        after.map(|id| id.0),
        at_most,
    )
    .fetch_all(db)
    .await?;
    let templates = rows.into_iter().map(|row| TemplateDescription {
        id: TemplateId(row.id),
        description: row.description,
    });
    Ok(templates.collect())
}

/// A version of a template.
#[derive(Debug)]
pub struct VersionContent {
    /// From 1.
    pub number: i32,
    /// HTML.
    pub content: String,
    /// Name, author, time and sample data.
    pub description: Value,
}

/// The version of a template that comes after this one. Each may have megabytes, so that they are asked for one by one.
pub async fn find_version_after(
    db: &PgPool,
    account: AccountId,
    template: TemplateId,
    number: i32,
) -> Result<Option<VersionContent>, StoreError> {
    let version = sqlx::query_as!(
        VersionContent,
        r#"select version.number, version.content, json_build_object(
                'number', version.number, 'name', version.name, 'created_by', version.created_by,
                'created_at', version.inserted_at, 'sample_data', version.preview_context
            ) as "description!"
         from template_versions version join templates on templates.id = version.template_id
         where templates.account_id = $1 and templates.id = $2 and version.number > $3
         order by version.number limit 1"#,
        account.0,
        template.0,
        number,
    );
    Ok(version.fetch_optional(db).await?)
}

/// Something that was done in an account.
#[derive(Debug)]
pub struct LogEntry {
    /// Later ones come after earlier ones.
    pub id: Uuid,
    /// What the log has of it.
    pub description: Value,
}

/// At most so many entries of the log after this one, the first ones first.
pub async fn list_log(
    db: &PgPool,
    account: AccountId,
    after: Option<Uuid>,
    at_most: i64,
) -> Result<Vec<LogEntry>, StoreError> {
    let entries = sqlx::query_as!(
        LogEntry,
        r#"select id, json_build_object(
                'id', id, 'happened_at', happened_at, 'actor', actor, 'actor_id', actor_id, 'actor_name', actor_name,
                'address', address, 'user_agent', user_agent, 'deed', deed
            ) as "description!"
         from account_log
         where account_id = $1 and ($2::uuid is null or id > $2)
         order by id limit $3"#,
        account.0,
        after,
        at_most,
    );
    Ok(entries.fetch_all(db).await?)
}

/// Credits of one kind on one day.
#[derive(Debug)]
pub struct UsedDay {
    /// Of the credits' period.
    pub period_starts_at: OffsetDateTime,
    /// The UTC day.
    pub day: Date,
    /// What was used.
    pub meter: String,
    /// False for test keys.
    pub livemode: bool,
    /// How many.
    pub credits: i64,
}

/// All days with use, the first ones first: four rows a day at most.
pub async fn list_usage(db: &PgPool, account: AccountId) -> Result<Vec<UsedDay>, StoreError> {
    let days = sqlx::query_as!(
        UsedDay,
        "select period_starts_at, day, meter, livemode, credits from usage_days
         where account_id = $1 order by day, meter, livemode desc, period_starts_at",
        account.0,
    );
    Ok(days.fetch_all(db).await?)
}

/// A document in the service's own storage.
#[derive(Debug)]
pub struct ListedDocument {
    /// Its render.
    pub render: RenderId,
    /// Names it.
    pub object: Uuid,
    /// Its size.
    pub bytes: i64,
    /// Where it is found.
    pub address: Option<String>,
    /// When it is deleted there.
    pub expires_at: OffsetDateTime,
}

/// At most so many documents of renders before this one, the latest first.
pub async fn list_documents(
    db: &PgPool,
    account: AccountId,
    before: Option<RenderId>,
    now: OffsetDateTime,
    at_most: i64,
) -> Result<Vec<ListedDocument>, StoreError> {
    let documents = sqlx::query_as!(
        ListedDocument,
        r#"select id as render, object_id as "object!", coalesce(bytes, 0) as "bytes!",
            coalesce(result ->> 'mediaLink', result ->> 'location') as address, object_expires_at as "expires_at!"
         from renders
         where account_id = $1 and object_id is not null and object_expires_at > $2 and status = 'succeeded'
            and (
                $3::uuid is null
                or (inserted_at, id) < (
                    select last.inserted_at, last.id from renders last where last.account_id = $1 and last.id = $3
                )
            )
         order by inserted_at desc, id desc limit $4"#,
        account.0,
        now,
        before.map(|id| id.0),
        at_most,
    );
    Ok(documents.fetch_all(db).await?)
}
