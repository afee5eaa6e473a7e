//! API keys: creating, listing, rotating and revoking them, and authenticating callers.

pub mod expiring;
pub mod known;
pub mod new_key;

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex},
};

use platen_domain::{
    account_log::{AccountEvent, Actor, KeySetting, KeySettingNames},
    allowed::{AllowedChannels, AllowedTemplates},
    api_key::{ApiKey, CreditLimit, KeyDigest, PlaintextKey},
    caller::{Access, Caller},
    client::Client,
    ids::{AccountId, ApiKeyId, TemplateId},
    network::Network,
    template::channels::ChannelName,
};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};

use crate::{
    config::limits::LimitsConfig,
    mutex::lock,
    service::credits,
    store::{
        account_log,
        accounts::OwnedAccount,
        api_keys::{self, Credentials, KeySettings, LockedKey, NewApiKey, Successor, credit_counters, ended},
        error::StoreError,
        template_channels, templates, tx,
    },
};

/// Revoked and expired keys of an account that remain listed until their retention ends.
const ENDED_KEYS: i64 = 100;
/// Keys that one statement of the purge deletes.
const BATCH: i64 = 200;

/// Error of [`authenticate`].
#[derive(Debug, thiserror::Error)]
pub enum AuthenticationError {
    /// The token is no API key, or a revoked one.
    #[error("the API key is unknown or revoked")]
    Unknown,
    /// The key has expired.
    #[error("the API key has expired")]
    Expired,
    /// The key is valid, but not from this address.
    #[error("the API key may not be used from {}", .0.map_or_else(|| "an unknown address".to_owned(), |address| address.to_string()))]
    ForeignAddress(Option<IpAddr>),
    /// The key is valid, but its account is suspended.
    #[error("the account is suspended")]
    Suspended,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Authenticates a caller by an API key. `client` is `None` if the client's address is unknown. `limits` take
/// precedence over those of the account's plan.
pub async fn authenticate(
    db: &PgPool,
    usage: &KeyUsage,
    limits: &LimitsConfig,
    token: &str,
    client: Option<Client>,
    now: OffsetDateTime,
) -> Result<Caller, AuthenticationError> {
    let found = look_up(db, &digest(token)?).await?;
    accept(&found, usage, limits, client, now)
}

fn digest(token: &str) -> Result<KeyDigest, AuthenticationError> {
    let key = PlaintextKey::parse(token).map_err(|_| AuthenticationError::Unknown)?;
    Ok(key.digest())
}

async fn look_up(db: &PgPool, digest: &KeyDigest) -> Result<Credentials, AuthenticationError> {
    let found = api_keys::find_credentials(db, digest).await?;
    found
        .filter(|credentials| digest.matches(&credentials.digest))
        .ok_or(AuthenticationError::Unknown)
}

/// Returns the caller if the key may be used now and from this address.
fn accept(
    found: &Credentials,
    usage: &KeyUsage,
    limits: &LimitsConfig,
    client: Option<Client>,
    now: OffsetDateTime,
) -> Result<Caller, AuthenticationError> {
    if found.expires_at.is_some_and(|expiry| expiry <= now) {
        return Err(AuthenticationError::Expired);
    }
    let address = client.as_ref().map(|client| client.address);
    let inside = |network: &Network| address.is_some_and(|address| network.contains(address));
    if !found.allowed_networks.is_empty() && !found.allowed_networks.iter().any(inside) {
        return Err(AuthenticationError::ForeignAddress(address));
    }
    if found.suspended {
        return Err(AuthenticationError::Suspended);
    }
    usage.note(found.key, now, address);
    Ok(Caller {
        account: found.account,
        key: Some(found.key),
        user: found.user.clone(),
        role: None,
        client,
        scopes: found.scopes.clone(),
        templates: found.allowed_templates.clone(),
        channels: found.allowed_channels.clone(),
        livemode: found.livemode,
        limits: limits.over(found.limits),
        access: Access::Full,
    })
}

/// Returns whether a key would be accepted, without recording a use of it.
pub async fn is_valid(db: &PgPool, key: &PlaintextKey, now: OffsetDateTime) -> Result<bool, StoreError> {
    let found = api_keys::find_credentials(db, &key.digest()).await?;
    Ok(found.is_some_and(|found| found.expires_at.is_none_or(|expiry| expiry > now)))
}

/// Last uses of keys that are not stored yet: times, and addresses of clients. Cheap to clone; requests only write to
/// memory.
#[derive(Debug, Clone, Default)]
pub struct KeyUsage {
    pending: Arc<Mutex<HashMap<ApiKeyId, LastUse>>>,
}

/// Time of a use, and the client's address.
type LastUse = (OffsetDateTime, Option<IpAddr>);

impl KeyUsage {
    fn note(&self, key: ApiKeyId, now: OffsetDateTime, address: Option<IpAddr>) {
        lock(&self.pending).insert(key, (now, address));
    }

    /// Updates the last use of keys for which a later one is not stored yet.
    pub fn add_to(&self, keys: &mut [ApiKey]) {
        let pending = lock(&self.pending);
        for key in keys {
            match pending.get(&key.id) {
                Some(&(at, address)) if key.last_used_at.is_none_or(|stored| stored < at) => {
                    key.last_used_at = Some(at);
                    key.last_used_from = address;
                }
                _ => {}
            }
        }
    }

    /// Stores the collected uses. They are dropped if that fails, because they are only informative.
    pub async fn write(&self, db: &PgPool) -> Result<(), StoreError> {
        let pending = std::mem::take(&mut *lock(&self.pending));
        let used: Vec<_> = pending
            .into_iter()
            .map(|(key, (at, address))| (key, at, address))
            .collect();
        if used.is_empty() {
            return Ok(());
        }
        api_keys::update_last_used(db, &used).await
    }
}

/// Properties of a new key.
pub struct NewKeyRequest<'a> {
    /// `false` for a test key. It can't be changed.
    pub livemode: bool,
    pub settings: KeySettings<'a>,
}

/// A new API key, with its plaintext.
pub struct CreatedKey {
    pub id: ApiKeyId,
    /// Plaintext, which is shown once and never stored.
    pub key: PlaintextKey,
}

/// Error of [`create`] and [`edit`].
#[derive(Debug, thiserror::Error)]
pub enum KeySettingsError {
    /// The name is empty, too long or has control characters.
    #[error("the name must have 1 to 200 characters and no control characters")]
    Name,
    /// The key would never be valid.
    #[error("the expiry is in the past")]
    Expiry,
    /// The credit limit is out of range.
    #[error("the credit limit must be between {} and {} credits", CreditLimit::RANGE.start(), CreditLimit::RANGE.end())]
    CreditLimit,
    /// A test key has a credit limit.
    #[error("test keys use no credits and have no credit limit; create a live key, or leave the limit out")]
    CreditLimitOfTestKey,
    /// The account has no such template.
    #[error("the account has no template {0}")]
    Template(TemplateId),
    /// The account has no such channel.
    #[error("the account has no channel {0} of templates")]
    Channel(ChannelName),
    /// The account has no key with this id that could be changed.
    #[error("there is no API key {0} that could be changed")]
    NoSuchKey(ApiKeyId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates a key for an account, as its owner's.
pub async fn create(
    db: &PgPool,
    account: OwnedAccount,
    actor: &Actor,
    NewKeyRequest { livemode, settings }: NewKeyRequest<'_>,
    now: OffsetDateTime,
) -> Result<CreatedKey, KeySettingsError> {
    let mut transaction = tx::begin(db).await?;
    let former = (&AllowedTemplates::default(), &AllowedChannels::default());
    check(&mut transaction, account.account, livemode, &settings, former, now).await?;
    let counter = match settings.credit_limit {
        Some(_) => Some(credit_counters::insert(&mut transaction, account.account).await?),
        None => None,
    };
    let created = CreatedKey {
        id: ApiKeyId::generate(),
        key: PlaintextKey::from_random(rand::random(), livemode),
    };
    let new = NewApiKey {
        id: created.id,
        created_by: account.owner,
        hint: created.key.hint(),
        digest: created.key.digest(),
        livemode,
        settings: &settings,
        counter,
    };
    ended::delete_surplus(&mut transaction, account.account, now, ENDED_KEYS).await?;
    api_keys::insert(&mut transaction, account.account, new, now).await?;
    let event = AccountEvent::KeyCreated {
        name: settings.name.to_owned(),
    };
    account_log::insert(&mut transaction, account.account, actor, &event, now).await?;
    tx::commit(transaction).await?;
    Ok(created)
}

/// Checks new settings. `former` are the templates and channels that the key may use already: they may have been deleted
/// since.
async fn check(
    db: &mut PgConnection,
    account: AccountId,
    livemode: bool,
    settings: &KeySettings<'_>,
    former: (&AllowedTemplates, &AllowedChannels),
    now: OffsetDateTime,
) -> Result<(), KeySettingsError> {
    if !(1..=200).contains(&settings.name.chars().count()) || settings.name.chars().any(char::is_control) {
        return Err(KeySettingsError::Name);
    }
    if settings.expires_at.is_some_and(|expiry| expiry <= now) {
        return Err(KeySettingsError::Expiry);
    }
    if let Some(limit) = settings.credit_limit {
        if !livemode {
            return Err(KeySettingsError::CreditLimitOfTestKey);
        }
        if !CreditLimit::RANGE.contains(&limit) {
            return Err(KeySettingsError::CreditLimit);
        }
    }
    let added = settings.allowed_templates.iter();
    for template in added.filter(|added| !former.0.iter().any(|former| former == *added)) {
        let found = templates::find(&mut *db, account, *template).await?;
        found.ok_or(KeySettingsError::Template(*template))?;
    }
    let added = settings.allowed_channels.iter();
    let mut added = added.filter(|added| !former.1.iter().any(|former| former == *added));
    let channels = template_channels::find_channels(db, account).await?;
    match added.find(|added| !channels.contains(added)) {
        Some(unknown) => Err(KeySettingsError::Channel(unknown.clone())),
        None => Ok(()),
    }
}

/// Changes the settings of a key that is neither revoked nor expired. Requests that follow are subject to them. A key
/// that was replaced expires no later than it would have. A new credit limit includes the credits used before in the
/// same period.
pub async fn edit(
    db: &PgPool,
    account: AccountId,
    actor: &Actor,
    id: ApiKeyId,
    mut settings: KeySettings<'_>,
    now: OffsetDateTime,
) -> Result<(), KeySettingsError> {
    let mut transaction = tx::begin(db).await?;
    // Before the key, as renders that are opened or charged do.
    let period = match settings.credit_limit {
        Some(_) => Some(credits::lock_balance(&mut transaction, account, now).await?.period),
        None => None,
    };
    let key = api_keys::lock(&mut transaction, account, id).await?;
    let key = key.filter(|key| key.revoked_at.is_none() && key.expires_at.is_none_or(|expiry| expiry > now));
    let key = key.ok_or(KeySettingsError::NoSuchKey(id))?;
    check(
        &mut transaction,
        account,
        key.livemode,
        &settings,
        (&key.allowed_templates, &key.allowed_channels),
        now,
    )
    .await?;
    if key.replaced_at.is_some() {
        settings.expires_at = key.expires_at.into_iter().chain(settings.expires_at).min();
    }
    let changed = changed(&key, &settings);
    if changed.0.is_empty() {
        return Ok(());
    }
    let mut counter = key.counter;
    if let (Some(period), None) = (period, key.credit_limit) {
        let known = match counter {
            Some(counter) => counter,
            None => credit_counters::insert(&mut transaction, account).await?,
        };
        credit_counters::count_earlier(&mut transaction, account, id, known, period).await?;
        counter = Some(known);
    }
    api_keys::update(&mut transaction, account, id, &settings, counter).await?;
    let event = AccountEvent::KeyChanged {
        name: settings.name.to_owned(),
        settings: changed,
    };
    account_log::insert(&mut transaction, account, actor, &event, now).await?;
    Ok(tx::commit(transaction).await?)
}

/// Returns the settings of a key that differ from its former ones.
fn changed(former: &LockedKey, settings: &KeySettings<'_>) -> KeySettingNames {
    let compared = [
        (KeySetting::Name, former.name != settings.name),
        (KeySetting::Scopes, former.scopes != settings.scopes),
        (KeySetting::Expiry, former.expires_at != settings.expires_at),
        (
            KeySetting::AllowedNetworks,
            former.allowed_networks != settings.allowed_networks,
        ),
        (
            KeySetting::AllowedTemplates,
            former.allowed_templates != settings.allowed_templates,
        ),
        (
            KeySetting::AllowedChannels,
            former.allowed_channels != settings.allowed_channels,
        ),
        (KeySetting::CreditLimit, former.credit_limit != settings.credit_limit),
    ];
    let changed = compared.into_iter().filter(|(_, differs)| *differs);
    KeySettingNames(changed.map(|(setting, _)| setting).collect())
}

/// Returns the keys of an account, the latest first.
pub async fn list(db: &PgPool, account: OwnedAccount, now: OffsetDateTime) -> Result<Vec<ApiKey>, StoreError> {
    api_keys::list(db, account.account, now).await
}

/// Returns the account of a key, across all accounts. For the operator's command line only.
pub async fn account_of(db: &PgPool, id: ApiKeyId) -> Result<Option<AccountId>, StoreError> {
    api_keys::find_account(db, id).await
}

/// Error of revoking or rotating a key.
#[derive(Debug, thiserror::Error)]
pub enum EndKeyError {
    /// The account has no key with this id.
    #[error("there is no API key {0}; `platen keys list` lists the keys")]
    NoSuchKey(ApiKeyId),
    /// The key is revoked or has expired, and can't be rotated.
    #[error("the key {0} is revoked or has expired; `platen keys create` creates a new one")]
    Ended(ApiKeyId),
    /// The name that was typed for confirmation is not the key's.
    #[error("the key {0} has another name")]
    OtherName(ApiKeyId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Revokes a key at once. Succeeds without effect if it is revoked already. `typed_name` is the key's name as the user
/// typed it for confirmation.
pub async fn revoke(
    db: &PgPool,
    account: AccountId,
    actor: &Actor,
    id: ApiKeyId,
    typed_name: Option<&str>,
    now: OffsetDateTime,
) -> Result<(), EndKeyError> {
    let mut transaction = tx::begin(db).await?;
    let key = api_keys::lock(&mut transaction, account, id).await?;
    let key = key.ok_or(EndKeyError::NoSuchKey(id))?;
    if typed_name.is_some_and(|name| name.trim() != key.name.trim()) {
        return Err(EndKeyError::OtherName(id));
    }
    // An earlier revocation keeps its time.
    if key.revoked_at.is_none() {
        api_keys::revoke(&mut transaction, account, id, now).await?;
        let event = AccountEvent::KeyRevoked { name: key.name };
        account_log::insert(&mut transaction, account, actor, &event, now).await?;
    }
    Ok(tx::commit(transaction).await?)
}

/// Deletes keys of all accounts that were revoked or expired before their plan's retention.
pub async fn purge(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    while ended::delete_old(db, now, BATCH).await? > 0 {}
    Ok(())
}

/// Creates a key with the name, scopes and limits of another one, which expires after the overlap. Both count towards
/// one credit limit.
pub async fn rotate(
    db: &PgPool,
    account: AccountId,
    actor: &Actor,
    id: ApiKeyId,
    overlap: Duration,
    now: OffsetDateTime,
) -> Result<CreatedKey, EndKeyError> {
    let mut transaction = tx::begin(db).await?;
    let former = api_keys::lock(&mut transaction, account, id).await?;
    let former = former.ok_or(EndKeyError::NoSuchKey(id))?;
    if former.revoked_at.is_some() || former.expires_at.is_some_and(|expiry| expiry <= now) {
        return Err(EndKeyError::Ended(id));
    }
    let created = CreatedKey {
        id: ApiKeyId::generate(),
        key: PlaintextKey::from_random(rand::random(), former.livemode),
    };
    let successor = Successor {
        id: created.id,
        hint: created.key.hint(),
        digest: created.key.digest(),
    };
    ended::delete_surplus(&mut transaction, account, now, ENDED_KEYS).await?;
    api_keys::insert_successor(&mut transaction, account, id, successor, now).await?;
    api_keys::replace(&mut transaction, account, id, now + overlap, now).await?;
    let event = AccountEvent::KeyRotated { name: former.name };
    account_log::insert(&mut transaction, account, actor, &event, now).await?;
    tx::commit(transaction).await?;
    Ok(created)
}
