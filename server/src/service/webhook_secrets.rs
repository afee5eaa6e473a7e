//! The secrets with which an account's callbacks are signed.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::{
    domain::{
        ids::AccountId,
        sealing::{Place, SealingError, SecretKeys},
        webhook::{MalformedSecret, WebhookSecret},
    },
    service::account_keys::{DataKeyError, data_key},
    store::{
        error::StoreError,
        tx,
        webhook_secrets::{self, SealedSecret},
    },
};

/// A secret that was replaced signs as well for so long.
const OVERLAP: Duration = Duration::hours(24);

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
pub enum WebhookSecretError {
    /// No key to open it with.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// It does not open.
    #[error("the account's webhook secret: {0}")]
    Sealing(#[from] SealingError),
    /// It opens as something else.
    #[error("the account's webhook secret: {0}")]
    Malformed(#[from] MalformedSecret),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The secrets of an account that are in use, the current one first; made when it is wanted first.
pub async fn in_use(
    db: &PgPool,
    secret_keys: &SecretKeys,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Vec<WebhookSecret>, WebhookSecretError> {
    let mut sealed = webhook_secrets::list(db, account, now).await?;
    if sealed.is_empty() {
        replace(db, secret_keys, account, now).await?;
        sealed = webhook_secrets::list(db, account, now).await?;
    }
    let key = data_key(db, secret_keys, account, now).await?;
    let open = |secret: SealedSecret| {
        let bytes = key.open(&Place::webhook_secret(account, secret.id), secret.sealed)?;
        Ok(WebhookSecret::from_bytes(&bytes)?)
    };
    sealed.into_iter().map(open).collect()
}

/// Replaces the current secret, if there is one; it goes on to sign beside the new one for a day.
pub async fn replace(
    db: &PgPool,
    secret_keys: &SecretKeys,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<(), WebhookSecretError> {
    let key = data_key(db, secret_keys, account, now).await?;
    let id = Uuid::now_v7();
    let secret = WebhookSecret::from_random(rand::random());
    let sealed = key.seal(&Place::webhook_secret(account, id), rand::random(), secret.to_bytes())?;
    let mut transaction = tx::begin(db).await?;
    webhook_secrets::expire(&mut transaction, account, now, now + OVERLAP).await?;
    webhook_secrets::insert(&mut transaction, account, &SealedSecret { id, sealed }, now).await?;
    Ok(tx::commit(transaction).await?)
}
