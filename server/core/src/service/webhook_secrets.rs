//! Secrets that sign an account's webhooks.

use platen_domain::{
    account_log::{AccountEvent, Actor},
    encryption::{DataKey, EncryptionError, Place, SecretKeys},
    ids::AccountId,
    webhook::{MalformedSecret, SecretStatus, WebhookSecret},
};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::{
    service::data_keys::{DataKeyError, data_key},
    store::{account_log, error::StoreError, tx, webhook_secrets},
};

/// Time for which a replaced secret continues to sign.
const OVERLAP: Duration = Duration::hours(24);

/// Error of reading or replacing a webhook secret.
#[derive(Debug, thiserror::Error)]
pub enum WebhookSecretError {
    /// The data key is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The secret can't be encrypted or decrypted.
    #[error("the account's webhook secret: {0}")]
    Encryption(#[from] EncryptionError),
    /// The decrypted secret is malformed.
    #[error("the account's webhook secret: {0}")]
    Malformed(#[from] MalformedSecret),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the secrets of an account that are in use, the current one first. Creates a secret on first use.
pub async fn in_use(
    db: &PgPool,
    secret_keys: &SecretKeys,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Vec<WebhookSecret>, WebhookSecretError> {
    let mut encrypted = webhook_secrets::list(db, account, now).await?;
    if encrypted.is_empty() {
        renew(db, secret_keys, account, None, now).await?;
        encrypted = webhook_secrets::list(db, account, now).await?;
    }
    let key = data_key(db, secret_keys, account, now).await?;
    let encrypted = encrypted.into_iter().map(|secret| (secret.id, secret.sealed));
    decrypt(&key, account, encrypted)
}

/// Decrypts stored secrets, given by id.
pub(super) fn decrypt(
    key: &DataKey,
    account: AccountId,
    secrets: impl IntoIterator<Item = (Uuid, Vec<u8>)>,
) -> Result<Vec<WebhookSecret>, WebhookSecretError> {
    let decrypt = |(id, sealed)| {
        let bytes = key.decrypt(&Place::webhook_secret(account, id), sealed)?;
        Ok(WebhookSecret::from_bytes(&bytes)?)
    };
    secrets.into_iter().map(decrypt).collect()
}

/// Replaces the current secret, if there is one. Both sign for another day.
pub async fn replace(
    db: &PgPool,
    secret_keys: &SecretKeys,
    account: AccountId,
    actor: &Actor,
    now: OffsetDateTime,
) -> Result<(), WebhookSecretError> {
    renew(db, secret_keys, account, Some(actor), now).await
}

/// Creates a secret and lets the current one expire after [`OVERLAP`]. `actor` is the actor who replaces it; `None` for
/// the first secret, which causes no audit event.
async fn renew(
    db: &PgPool,
    secret_keys: &SecretKeys,
    account: AccountId,
    actor: Option<&Actor>,
    now: OffsetDateTime,
) -> Result<(), WebhookSecretError> {
    let key = data_key(db, secret_keys, account, now).await?;
    let id = Uuid::now_v7();
    let secret = WebhookSecret::from_random(rand::random());
    let sealed = key.encrypt(&Place::webhook_secret(account, id), rand::random(), secret.to_bytes())?;
    let mut transaction = tx::begin(db).await?;
    webhook_secrets::expire(&mut transaction, account, now, now + OVERLAP).await?;
    webhook_secrets::insert(&mut transaction, account, id, &sealed, now).await?;
    if let Some(actor) = actor {
        let event = AccountEvent::WebhookSecretReplaced {};
        account_log::insert(&mut transaction, account, actor, &event, now).await?;
    }
    Ok(tx::commit(transaction).await?)
}

/// Records the audit event of viewing the secrets.
pub async fn note_reading(
    db: &PgPool,
    account: AccountId,
    actor: &Actor,
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let mut transaction = tx::begin(db).await?;
    let event = AccountEvent::WebhookSecretShown {};
    account_log::insert(&mut transaction, account, actor, &event, now).await?;
    tx::commit(transaction).await
}

/// Returns the dates of an account's secrets; with `reveal`, also the current secret.
pub async fn status(
    db: &PgPool,
    secret_keys: &SecretKeys,
    account: AccountId,
    reveal: bool,
    now: OffsetDateTime,
) -> Result<SecretStatus, WebhookSecretError> {
    let shown = if reveal {
        let in_use = in_use(db, secret_keys, account, now).await?;
        in_use.first().map(WebhookSecret::to_text)
    } else {
        None
    };
    let stored = webhook_secrets::list(db, account, now).await?;
    let current = stored.iter().find(|secret| secret.expires_at.is_none());
    Ok(SecretStatus {
        made_at: current.map(|secret| secret.inserted_at),
        former_until: stored.iter().filter_map(|secret| secret.expires_at).max(),
        shown,
    })
}
