//! Table `api_keys`.

pub mod credit_counters;
pub mod ended;
pub mod expiring;

use std::net::IpAddr;

use platen_domain::{
    allowed::{AllowedChannels, AllowedTemplates},
    api_key::{ApiKey, CreditLimit, KeyDigest, Scope, Scopes},
    caller::User,
    ids::{AccountId, ApiKeyId, TemplateId, UserId},
    network::{InvalidNetwork, Network},
    plan::PlanLimits,
    template::channels::{ChannelName, InvalidChannelName},
};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::store::{api_keys::credit_counters::CreditCounter, error::StoreError, statement::execute};

/// An API key to be inserted.
pub struct NewApiKey<'a> {
    pub id: ApiKeyId,
    pub created_by: UserId,
    /// First characters of the key, shown in lists.
    pub hint: &'a str,
    pub digest: KeyDigest,
    /// False for test keys.
    pub livemode: bool,
    pub settings: &'a KeySettings<'a>,
    /// Required if the key has a credit limit.
    pub counter: Option<CreditCounter>,
}

pub async fn insert(
    db: &mut PgConnection,
    account: AccountId,
    key: NewApiKey<'_>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let settings = key.settings;
    let (scopes, networks, templates, channels) = settings.lists();
    let insert = sqlx::query!(
        "insert into api_keys
            (id, account_id, created_by, name, hint, digest, scopes, livemode, expires_at, allowed_networks,
             allowed_templates, credit_limit, credit_counter_id, inserted_at, allowed_channels)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        key.id.0,
        account.0,
        key.created_by.0,
        settings.name,
        key.hint,
        key.digest.as_bytes(),
        &scopes,
        key.livemode,
        settings.expires_at,
        &networks,
        &templates,
        settings.credit_limit,
        key.counter.map(|counter| counter.0),
        now,
        &channels,
    );
    execute(db, insert).await
}

/// A key with the properties of its account and creator that authorize a request.
#[derive(Debug)]
pub struct Credentials {
    pub key: ApiKeyId,
    pub account: AccountId,
    pub digest: Vec<u8>,
    pub scopes: Scopes,
    /// False for test keys.
    pub livemode: bool,
    /// `None` if the key doesn't expire.
    pub expires_at: Option<OffsetDateTime>,
    /// Networks that the key may be used from; empty means any.
    pub allowed_networks: Vec<Network>,
    /// Templates that the key may use; empty means any.
    pub allowed_templates: AllowedTemplates,
    /// Channels that the key may use; empty means any.
    pub allowed_channels: AllowedChannels,
    /// Whether the account is suspended.
    pub suspended: bool,
    pub limits: PlanLimits,
    /// The key's creator, or the member who has inherited it.
    pub user: User,
    /// Changes when any of the rows changes from which the credentials were read.
    pub version: CredentialsVersion,
}

/// Identifies the rows from which credentials were read.
#[derive(Debug, Clone)]
pub struct CredentialsVersion(pub(in crate::store) String);

/// Returns the key with this digest, unless it is revoked: one look-up by index, made for every request.
pub async fn find_credentials(db: &PgPool, digest: &KeyDigest) -> Result<Option<Credentials>, StoreError> {
    let row = sqlx::query!(
        r#"select api_keys.id, api_keys.account_id, api_keys.digest, api_keys.scopes, api_keys.livemode,
            api_keys.expires_at, api_keys.allowed_networks, api_keys.allowed_templates, api_keys.allowed_channels,
            limits.suspended_at is not null as "suspended!", users.id as user_id, users.email,
            limits.concurrency as "concurrency!", limits.rate_per_minute as "rate_per_minute!",
            limits.body_bytes as "body_bytes!", limits.sync_deadline_seconds as "sync_deadline_seconds!",
            credentials_versions.version as "version!"
         from api_keys
         join account_limits limits on limits.account_id = api_keys.account_id
         join users on users.id = api_keys.created_by
         join credentials_versions on credentials_versions.api_key_id = api_keys.id
         where api_keys.digest = $1 and api_keys.revoked_at is null"#,
        digest.as_bytes(),
    )
    .fetch_optional(db)
    .await?;
    let credentials = row.map(|row| {
        Ok(Credentials {
            key: ApiKeyId(row.id),
            account: AccountId(row.account_id),
            digest: row.digest,
            scopes: read_scopes(&row.scopes),
            livemode: row.livemode,
            expires_at: row.expires_at,
            allowed_networks: read_networks(&row.allowed_networks)?,
            allowed_templates: row.allowed_templates.into_iter().map(TemplateId).collect(),
            allowed_channels: read_channels(&row.allowed_channels)?,
            suspended: row.suspended,
            limits: PlanLimits::from_columns(
                row.concurrency,
                row.rate_per_minute,
                row.body_bytes,
                row.sync_deadline_seconds,
            ),
            user: User {
                id: UserId(row.user_id),
                email: row.email,
            },
            version: CredentialsVersion(row.version),
        })
    });
    credentials.transpose()
}

/// Returns the keys of an account, newest first, including revoked keys, with the credits used in the period around
/// `now`.
pub async fn list(db: &PgPool, account: AccountId, now: OffsetDateTime) -> Result<Vec<ApiKey>, StoreError> {
    let rows = sqlx::query!(
        r#"select id, name, hint, scopes, livemode, expires_at, allowed_networks, allowed_templates,
            allowed_channels, credit_limit, coalesce(usage.used, 0) as "used!", revoked_at, replaced_at,
            last_used_at, host(last_used_from) as last_used_from, former_creator, inserted_at
         from api_keys
         left join key_credit_usage usage
            on usage.counter_id = api_keys.credit_counter_id
            and usage.period_starts_at = (
                select starts_at from credit_periods where account_id = $1 and starts_at <= $2 and ends_at > $2
            )
         where api_keys.account_id = $1 order by id desc"#,
        account.0,
        now,
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(ApiKey {
                id: ApiKeyId(row.id),
                name: row.name,
                hint: row.hint,
                scopes: read_scopes(&row.scopes),
                livemode: row.livemode,
                expires_at: row.expires_at,
                allowed_networks: read_networks(&row.allowed_networks)?,
                allowed_templates: row.allowed_templates.into_iter().map(TemplateId).collect(),
                allowed_channels: read_channels(&row.allowed_channels)?,
                credit_limit: row.credit_limit.map(|credits| CreditLimit {
                    credits,
                    used: row.used,
                }),
                revoked_at: row.revoked_at,
                replaced_at: row.replaced_at,
                last_used_at: row.last_used_at,
                last_used_from: row.last_used_from.and_then(|address| address.parse().ok()),
                former_creator: row.former_creator,
                inserted_at: row.inserted_at,
            })
        })
        .collect()
}

/// Revokes an account's key.
pub async fn revoke(
    db: &mut PgConnection,
    account: AccountId,
    id: ApiKeyId,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update api_keys set revoked_at = $3 where account_id = $1 and id = $2",
        account.0,
        id.0,
        now,
    );
    execute(db, update).await
}

/// Transfers the keys created by a member who leaves the account to another member.
pub async fn update_creator(
    db: &mut PgConnection,
    account: AccountId,
    former: UserId,
    heir: UserId,
    former_called: &str,
) -> Result<(), StoreError> {
    let update = sqlx::query!(
        "update api_keys set created_by = $3, former_creator = $4 where account_id = $1 and created_by = $2",
        account.0,
        former.0,
        heir.0,
        former_called,
    );
    execute(db, update).await
}

/// Settings of a key that can be changed.
pub struct KeySettings<'a> {
    /// Display name, 1 to 200 characters.
    pub name: &'a str,
    pub scopes: Scopes,
    /// `None` if the key doesn't expire.
    pub expires_at: Option<OffsetDateTime>,
    /// Networks that the key may be used from; empty means any.
    pub allowed_networks: Vec<Network>,
    /// Templates that the key may use; empty means any.
    pub allowed_templates: AllowedTemplates,
    /// Channels that the key may use; empty means any.
    pub allowed_channels: AllowedChannels,
    /// Credits that a live key may use in each period; `None` means those of the account.
    pub credit_limit: Option<i64>,
}

impl<'a> KeySettings<'a> {
    /// All scopes, without any restriction.
    pub fn unrestricted(name: &'a str) -> Self {
        Self {
            name,
            scopes: Scopes::all(),
            expires_at: None,
            allowed_networks: Vec::new(),
            allowed_templates: AllowedTemplates::default(),
            allowed_channels: AllowedChannels::default(),
            credit_limit: None,
        }
    }

    /// Returns the columns of scopes, networks, templates and channels.
    fn lists(&self) -> (Vec<String>, Vec<String>, Vec<Uuid>, Vec<String>) {
        (
            self.scopes.iter().map(|scope| scope.into_str().to_owned()).collect(),
            self.allowed_networks.iter().map(Network::to_string).collect(),
            self.allowed_templates.iter().map(|template| template.0).collect(),
            self.allowed_channels.iter().map(ChannelName::to_string).collect(),
        )
    }
}

/// Changes the settings of an account's key. A key with a credit limit has a counter, or gets one.
pub async fn update(
    db: &mut PgConnection,
    account: AccountId,
    id: ApiKeyId,
    settings: &KeySettings<'_>,
    counter: Option<CreditCounter>,
) -> Result<(), StoreError> {
    let (scopes, networks, templates, channels) = settings.lists();
    let update = sqlx::query!(
        "update api_keys
         set name = $3, scopes = $4, expires_at = $5, allowed_networks = $6, allowed_templates = $7, credit_limit = $8,
            credit_counter_id = $9, allowed_channels = $10
         where account_id = $1 and id = $2",
        account.0,
        id.0,
        settings.name,
        &scopes,
        settings.expires_at,
        &networks,
        &templates,
        settings.credit_limit,
        counter.map(|counter| counter.0),
        &channels,
    );
    execute(db, update).await
}

/// State of a key that is about to be changed, revoked or rotated.
#[derive(Debug)]
pub struct LockedKey {
    /// Display name.
    pub name: String,
    pub scopes: Scopes,
    /// False for test keys.
    pub livemode: bool,
    /// `None` if the key doesn't expire.
    pub expires_at: Option<OffsetDateTime>,
    pub revoked_at: Option<OffsetDateTime>,
    /// When another key of the same name has replaced it.
    pub replaced_at: Option<OffsetDateTime>,
    pub allowed_networks: Vec<Network>,
    /// Templates that the key may use, including deleted ones.
    pub allowed_templates: AllowedTemplates,
    /// Channels that the key may use, including former ones.
    pub allowed_channels: AllowedChannels,
    pub credit_limit: Option<i64>,
    /// `None` if neither the key nor one that it replaces has had a credit limit.
    pub counter: Option<CreditCounter>,
}

/// Locks the row of an account's key against other changes.
pub async fn lock(db: &mut PgConnection, account: AccountId, id: ApiKeyId) -> Result<Option<LockedKey>, StoreError> {
    let row = sqlx::query!(
        "select name, scopes, livemode, expires_at, revoked_at, replaced_at, allowed_networks, allowed_templates,
            allowed_channels, credit_limit, credit_counter_id
         from api_keys where account_id = $1 and id = $2 for update",
        account.0,
        id.0,
    )
    .fetch_optional(db)
    .await?;
    let key = row.map(|row| {
        Ok(LockedKey {
            name: row.name,
            scopes: read_scopes(&row.scopes),
            livemode: row.livemode,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            replaced_at: row.replaced_at,
            allowed_networks: read_networks(&row.allowed_networks)?,
            allowed_templates: row.allowed_templates.into_iter().map(TemplateId).collect(),
            allowed_channels: read_channels(&row.allowed_channels)?,
            credit_limit: row.credit_limit,
            counter: row.credit_counter_id.map(CreditCounter),
        })
    });
    key.transpose()
}

/// Returns the account of any key, for the operator's command line.
pub async fn find_account(db: &PgPool, id: ApiKeyId) -> Result<Option<AccountId>, StoreError> {
    let account = sqlx::query_scalar!("select account_id from api_keys where id = $1", id.0);
    Ok(account.fetch_optional(db).await?.map(AccountId))
}

/// A key that replaces another one.
pub struct Successor<'a> {
    pub id: ApiKeyId,
    /// First characters of the key, shown in lists.
    pub hint: &'a str,
    pub digest: KeyDigest,
}

/// Inserts a key with the settings of the account's key `of`.
pub async fn insert_successor(
    db: &mut PgConnection,
    account: AccountId,
    of: ApiKeyId,
    successor: Successor<'_>,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let insert = sqlx::query!(
        "insert into api_keys
            (id, account_id, created_by, name, hint, digest, scopes, livemode, expires_at, allowed_networks,
             allowed_templates, allowed_channels, credit_limit, credit_counter_id, former_creator, inserted_at)
         select $3, account_id, created_by, name, $4, $5, scopes, livemode, expires_at, allowed_networks,
            allowed_templates, allowed_channels, credit_limit, credit_counter_id, former_creator, $6
         from api_keys where account_id = $1 and id = $2",
        account.0,
        of.0,
        successor.id.0,
        successor.hint,
        successor.digest.as_bytes(),
        now,
    );
    execute(db, insert).await
}

/// Marks an account's key as replaced, and makes it expire at `expiry`, unless it expires earlier.
pub async fn replace(
    db: &mut PgConnection,
    account: AccountId,
    id: ApiKeyId,
    expiry: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    // `least` ignores null.
    let update = sqlx::query!(
        "update api_keys set expires_at = least(expires_at, $3), replaced_at = $4 where account_id = $1 and id = $2",
        account.0,
        id.0,
        expiry,
        now,
    );
    execute(db, update).await
}

/// Records when and from where keys were used. Never moves a time back, because another process may have recorded a
/// later one.
pub async fn update_last_used(
    db: &PgPool,
    used: &[(ApiKeyId, OffsetDateTime, Option<IpAddr>)],
) -> Result<(), StoreError> {
    let ids: Vec<Uuid> = used.iter().map(|(id, _, _)| id.0).collect();
    let times: Vec<OffsetDateTime> = used.iter().map(|(_, time, _)| *time).collect();
    let addresses: Vec<String> = used
        .iter()
        .map(|(_, _, address)| address.map_or_else(String::new, |address| address.to_string()))
        .collect();
    let update = sqlx::query!(
        "update api_keys set last_used_at = used.at, last_used_from = nullif(used.address, '')::inet
         from unnest($1::uuid[], $2::timestamptz[], $3::text[]) as used (id, at, address)
         where api_keys.id = used.id and (api_keys.last_used_at is null or api_keys.last_used_at < used.at)",
        &ids,
        &times,
        &addresses,
    );
    execute(db, update).await
}

/// Ignores unknown scopes, which come from a newer release and permit nothing in this one.
fn read_scopes(names: &[String]) -> Scopes {
    names.iter().filter_map(|name| name.parse::<Scope>().ok()).collect()
}

/// Fails on an unreadable name, as [`read_networks`] does.
fn read_channels(names: &[String]) -> Result<AllowedChannels, StoreError> {
    let names: Result<_, _> = names.iter().map(|name| name.parse()).collect();
    names.map_err(|error: InvalidChannelName| StoreError(sqlx::Error::Decode(error.into())))
}

/// Fails on an unreadable network rather than omit it: an empty list would allow any network.
fn read_networks(networks: &[String]) -> Result<Vec<Network>, StoreError> {
    let networks: Result<_, _> = networks.iter().map(|network| network.parse()).collect();
    networks.map_err(|error: InvalidNetwork| StoreError(sqlx::Error::Decode(error.into())))
}
