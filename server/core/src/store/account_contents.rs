//! Contents of an account, as its export includes them. Members are listed one by one, so that a secret, a digest or an
//! encrypted column isn't exported merely because it was added to a table.

use platen_domain::ids::{AccountId, RenderId, TemplateId};
use serde_json::Value;
use sqlx::PgPool;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use crate::store::error::StoreError;

/// Returns the account with its small collections: members, invitations, API keys, connections, webhook
/// endpoints and secrets, and credit periods. `None` if the account doesn't exist.
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
            'settings', json_build_object(
                'keep_content', keep_content, 'link_seconds', link_seconds, 'links_by_plan', links_by_plan
            ),
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
                    'allowed_channels', allowed_channels, 'credit_limit', credit_limit,
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
            'webhook_endpoints', (
                select coalesce(json_agg(json_build_object(
                    'id', id, 'address', address, 'description', description, 'events', events, 'created_at', inserted_at,
                    'disabled_at', disabled_at, 'failing_since', failing_since
                ) order by inserted_at), '[]')
                from webhook_endpoints where account_id = $1
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
    pub id: TemplateId,
    /// Name, settings, timestamps, published version, and the releases in other channels with their promotions.
    pub description: Value,
}

/// Returns up to `at_most` templates with ids after `after`, including deleted ones.
pub async fn list_templates(
    db: &PgPool,
    account: AccountId,
    after: Option<TemplateId>,
    at_most: i64,
) -> Result<Vec<TemplateDescription>, StoreError> {
    let templates = sqlx::query_as!(
        TemplateDescription,
        r#"select id, json_build_object(
                'id', id, 'kind', kind, 'handle', handle, 'name', name, 'published_version', published_version,
                'settings', json_build_object('strict', strict),
                'channels', (
                    select coalesce(json_object_agg(channel, version), '{}')
                    from template_channels where template_id = templates.id
                ),
                'promotions', (
                    select coalesce(json_agg(json_build_object(
                        'channel', channel, 'version', version, 'previous_version', previous_version, 'state', state,
                        'requested_by', requested_by, 'approved_by', approved_by, 'created_at', promotion.inserted_at,
                        'due_at', due_at, 'ended_at', ended_at
                    ) order by promotion.id), '[]')
                    from template_promotions promotion where template_id = templates.id
                ),
                'created_at', inserted_at, 'updated_at', updated_at, 'deleted_at', deleted_at
            ) as "description!"
         from templates
         where account_id = $1 and ($2::uuid is null or id > $2)
         order by id limit $3"#,
        account.0,
        after.map(|id| id.0),
        at_most,
    );
    Ok(templates.fetch_all(db).await?)
}

/// A version of a template.
#[derive(Debug)]
pub struct VersionContent {
    /// From 1.
    pub number: i32,
    pub content: String,
    /// Number, name, author, note, creation time, versions of partials, sample data and translations.
    pub description: Value,
}

/// Returns the first version of a template after `number`. Versions are loaded one by one, because each may contain
/// megabytes.
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
                'note', version.note, 'created_at', version.inserted_at, 'partials', (
                    select coalesce(json_object_agg(used.handle, used.partial_version), '{}')
                    from template_version_partials used
                    where used.template_id = version.template_id and used.version = version.number
                ),
                'sample_data', version.preview_context, 'translations', version.translations
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

/// Returns the sets of sample data of a template, besides those of its versions, as a list: at most a few MiB.
pub async fn list_sample_sets(db: &PgPool, account: AccountId, template: TemplateId) -> Result<Value, StoreError> {
    let sets = sqlx::query_scalar!(
        r#"select coalesce(json_agg(json_build_object('name', name, 'sample_data', data) order by position), '[]') as "sets!"
         from template_sample_sets where account_id = $1 and template_id = $2"#,
        account.0,
        template.0,
    );
    Ok(sets.fetch_one(db).await?)
}

/// An audit event of the account's activity.
#[derive(Debug)]
pub struct LogEntry {
    /// Ids sort by time.
    pub id: Uuid,
    /// The event with its actor, time and client.
    pub description: Value,
}

/// Returns up to `at_most` audit events after `after`, oldest first.
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

/// Credits used on one day, by meter and mode.
#[derive(Debug)]
pub struct UsedDay {
    /// Start of the credit period.
    pub period_starts_at: OffsetDateTime,
    /// UTC day.
    pub day: Date,
    /// See [`platen_domain::credits::Meter`].
    pub meter: String,
    /// False for test keys.
    pub livemode: bool,
    pub credits: i64,
}

/// Returns all days with usage, oldest first: at most four rows a day.
pub async fn list_usage(db: &PgPool, account: AccountId) -> Result<Vec<UsedDay>, StoreError> {
    let days = sqlx::query_as!(
        UsedDay,
        "select period_starts_at, day, meter, livemode, credits from usage_days
         where account_id = $1 order by day, meter, livemode desc, period_starts_at",
        account.0,
    );
    Ok(days.fetch_all(db).await?)
}

/// A document in the default storage.
#[derive(Debug)]
pub struct ListedDocument {
    pub render: RenderId,
    /// Name of the object in storage.
    pub object: Uuid,
    pub bytes: i64,
    /// Public URL of the document.
    pub address: Option<String>,
    /// When the document is deleted from storage.
    pub expires_at: OffsetDateTime,
}

/// Returns up to `at_most` documents of renders before `before`, newest first. Expired documents are omitted.
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
