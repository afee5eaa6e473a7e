//! Data keys of accounts, which encrypt their contents.

use platen_domain::{
    encryption::{DataKey, EncryptionError, SecretKeys},
    ids::AccountId,
};
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::store::{data_keys, error::StoreError};

/// Error of [`data_key`].
#[derive(Debug, thiserror::Error)]
pub enum DataKeyError {
    /// The data key is wrapped by another master key, or damaged.
    #[error("the account's data key: {0}")]
    Encryption(#[from] EncryptionError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the data key of an account, and creates it on first use.
pub async fn data_key(
    db: &PgPool,
    secret_keys: &SecretKeys,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<DataKey, DataKeyError> {
    let wrapped = if let Some(wrapped) = data_keys::find(db, account).await? {
        wrapped
    } else {
        let new = DataKey::from_random(rand::random()).wrap(&secret_keys.current, account, rand::random())?;
        data_keys::insert(db, account, &new, now).await?;
        // Another process may have created it first.
        data_keys::find(db, account).await?.unwrap_or(new)
    };
    Ok(DataKey::unwrap(wrapped, secret_keys, account)?)
}
