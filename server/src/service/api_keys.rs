//! API keys: making, listing and revoking them, and recognising their holders.

pub mod known;
pub mod new_key;

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::{
    config::limits::LimitsConfig,
    domain::{
        account_log::{Deed, Doer},
        allowed_templates::AllowedTemplates,
        api_key::{KeyDigest, PlaintextKey, Scopes},
        caller::{Access, Caller},
        client::Client,
        ids::{AccountId, ApiKeyId, TemplateId},
        network::Network,
    },
    store::{
        account_log,
        accounts::OwnedAccount,
        api_keys::{self, ApiKey, Credentials, NewApiKey, Successor, ended},
        error::StoreError,
        templates, tx,
    },
};

/// Revoked and expired keys of an account that are listed until their time is over.
const ENDED_KEYS: i64 = 100;
/// Keys that the purge deletes by one statement.
const BATCH: i64 = 200;

/// Why a token is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticationError {
    /// No key of ours, or a revoked one.
    #[error("the API key is unknown or revoked")]
    Unknown,
    /// Past its expiry.
    #[error("the API key has expired")]
    Expired,
    /// The key is sound, but not for use from this address.
    #[error("the API key may not be used from {}", .0.map_or_else(|| "an unknown address".to_owned(), |address| address.to_string()))]
    ForeignAddress(Option<IpAddr>),
    /// The key is sound, its account is suspended.
    #[error("the account is suspended")]
    Suspended,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Recognises the holder of a key. `client`: who asks, as far as that is known. `limits` win over those of the
/// account's plan.
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

/// Whether the key may be used at this time and from there.
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
    usage.note(found.key, now);
    Ok(Caller {
        account: found.account,
        key: Some(found.key),
        user: found.user.clone(),
        role: None,
        client,
        scopes: found.scopes.clone(),
        templates: found.allowed_templates.clone(),
        livemode: found.livemode,
        limits: limits.over(found.limits),
        access: Access::Full,
    })
}

/// Whether a key would be accepted, without counting as a use of it.
pub async fn is_valid(db: &PgPool, key: &PlaintextKey, now: OffsetDateTime) -> Result<bool, StoreError> {
    let found = api_keys::find_credentials(db, &key.digest()).await?;
    Ok(found.is_some_and(|found| found.expires_at.is_none_or(|expiry| expiry > now)))
}

/// When keys were used, since it was last written down. Cheap to clone; the request's path only touches memory.
#[derive(Debug, Clone, Default)]
pub struct KeyUsage {
    pending: Arc<Mutex<HashMap<ApiKeyId, OffsetDateTime>>>,
}

impl KeyUsage {
    fn note(&self, key: ApiKeyId, now: OffsetDateTime) {
        self.pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, now);
    }

    /// Writes down what gathered. What can't be written is dropped: it is only informative.
    pub async fn write(&self, db: &PgPool) -> Result<(), StoreError> {
        let used: Vec<_> = self
            .pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain()
            .collect();
        if used.is_empty() {
            return Ok(());
        }
        api_keys::update_last_used(db, &used).await
    }
}

/// What a new key is to be.
pub struct KeyRequest<'a> {
    /// For people, 1 to 200 characters.
    pub name: &'a str,
    /// What it may do.
    pub scopes: Scopes,
    /// False for a test key.
    pub livemode: bool,
    /// Valid until then.
    pub expires_at: Option<OffsetDateTime>,
    /// Where it may be used from; empty: anywhere.
    pub allowed_networks: Vec<Network>,
    /// Which templates it may use.
    pub allowed_templates: AllowedTemplates,
}

/// A key that was just made.
pub struct CreatedKey {
    /// Identifier.
    pub id: ApiKeyId,
    /// Shown once.
    pub key: PlaintextKey,
}

/// Why a key is not made.
#[derive(Debug, thiserror::Error)]
pub enum CreateKeyError {
    /// The name can't be used.
    #[error("the name has to have 1 to 200 characters and no control characters")]
    Name,
    /// It would never be valid.
    #[error("the expiry lies in the past")]
    Expiry,
    /// A template that the account does not have.
    #[error("the account has no template {0}")]
    Template(TemplateId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a key for an account, in its owner's name.
pub async fn create(
    db: &PgPool,
    account: OwnedAccount,
    doer: &Doer,
    request: KeyRequest<'_>,
    now: OffsetDateTime,
) -> Result<CreatedKey, CreateKeyError> {
    if !(1..=200).contains(&request.name.chars().count()) || request.name.chars().any(char::is_control) {
        return Err(CreateKeyError::Name);
    }
    if request.expires_at.is_some_and(|expiry| expiry <= now) {
        return Err(CreateKeyError::Expiry);
    }
    for template in request.allowed_templates.iter() {
        let found = templates::find(db, account.account, template).await?;
        found.ok_or(CreateKeyError::Template(template))?;
    }
    let created = CreatedKey {
        id: ApiKeyId::generate(),
        key: PlaintextKey::from_random(rand::random(), request.livemode),
    };
    let mut transaction = tx::begin(db).await?;
    let new = NewApiKey {
        id: created.id,
        created_by: account.owner,
        name: request.name,
        hint: created.key.hint(),
        digest: created.key.digest(),
        scopes: &request.scopes,
        livemode: request.livemode,
        expires_at: request.expires_at,
        allowed_networks: &request.allowed_networks,
        allowed_templates: &request.allowed_templates,
    };
    ended::delete_surplus(&mut transaction, account.account, now, ENDED_KEYS).await?;
    api_keys::insert(&mut transaction, account.account, new, now).await?;
    let deed = Deed::KeyCreated {
        name: request.name.to_owned(),
    };
    account_log::insert(&mut transaction, account.account, doer, &deed, now).await?;
    tx::commit(transaction).await?;
    Ok(created)
}

/// The keys of an account, newest first.
pub async fn list(db: &PgPool, account: OwnedAccount) -> Result<Vec<ApiKey>, StoreError> {
    api_keys::list(db, account.account).await
}

/// The account of a key, whichever it is: for the operator's command line.
pub async fn account_of(db: &PgPool, id: ApiKeyId) -> Result<Option<AccountId>, StoreError> {
    api_keys::find_account(db, id).await
}

/// Why a key is not ended.
#[derive(Debug, thiserror::Error)]
pub enum EndKeyError {
    /// The account has no key with this id.
    #[error("there is no key {0}; `platen keys list` shows them")]
    NoSuchKey(ApiKeyId),
    /// It is of no use any more, so that nothing can take its place.
    #[error("the key {0} is revoked or has expired; `platen keys create` makes a new one")]
    Ended(ApiKeyId),
    /// Whoever wants it to end calls it by another name.
    #[error("the key {0} has another name")]
    OtherName(ApiKeyId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Revokes a key at once.
pub async fn revoke(
    db: &PgPool,
    account: AccountId,
    doer: &Doer,
    id: ApiKeyId,
    now: OffsetDateTime,
) -> Result<(), EndKeyError> {
    let mut transaction = tx::begin(db).await?;
    let key = api_keys::lock(&mut transaction, account, id).await?;
    let key = key.ok_or(EndKeyError::NoSuchKey(id))?;
    // The time of an earlier revocation stays.
    if key.revoked_at.is_none() {
        api_keys::revoke(&mut transaction, account, id, now).await?;
        let deed = Deed::KeyRevoked { name: key.name };
        account_log::insert(&mut transaction, account, doer, &deed, now).await?;
    }
    Ok(tx::commit(transaction).await?)
}

/// As [`revoke`], if somebody who wants that has typed the key's name.
pub async fn revoke_named(
    db: &PgPool,
    account: AccountId,
    doer: &Doer,
    id: ApiKeyId,
    name: &str,
    now: OffsetDateTime,
) -> Result<(), EndKeyError> {
    let key = api_keys::find(db, account, id).await?;
    if key.ok_or(EndKeyError::NoSuchKey(id))?.name.trim() != name.trim() {
        return Err(EndKeyError::OtherName(id));
    }
    revoke(db, account, doer, id, now).await
}

/// Deletes the keys of all accounts that ended longer ago than their plans' retention.
pub async fn purge(db: &PgPool, now: OffsetDateTime) -> Result<(), StoreError> {
    while ended::delete_old(db, now, BATCH).await? > 0 {}
    Ok(())
}

/// Makes a key with the name, the scopes and the limits of another one, which expires after the overlap.
pub async fn rotate(
    db: &PgPool,
    account: AccountId,
    doer: &Doer,
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
    api_keys::update_expiry(&mut transaction, account, id, now + overlap).await?;
    let deed = Deed::KeyRotated { name: former.name };
    account_log::insert(&mut transaction, account, doer, &deed, now).await?;
    tx::commit(transaction).await?;
    Ok(created)
}
