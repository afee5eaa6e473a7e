//! The accounts' data keys, with which what belongs to them is sealed.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{
        ids::AccountId,
        sealing::{DataKey, SealingError, SecretKeys},
    },
    store::{account_keys, error::StoreError},
};

/// Why there is no data key.
#[derive(Debug, thiserror::Error)]
pub enum DataKeyError {
    /// It is wrapped under another secret key, or damaged.
    #[error("the account's data key: {0}")]
    Sealing(#[from] SealingError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The data key of an account; made when it is wanted first.
pub async fn data_key(
    db: &PgPool,
    secret_keys: &SecretKeys,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<DataKey, DataKeyError> {
    let wrapped = if let Some(wrapped) = account_keys::find(db, account).await? {
        wrapped
    } else {
        let new = DataKey::from_random(rand::random()).wrap(&secret_keys.current, account, rand::random())?;
        account_keys::insert(db, account, &new, now).await?;
        // Another process may have been first.
        account_keys::find(db, account).await?.unwrap_or(new)
    };
    Ok(DataKey::unwrap(wrapped, secret_keys, account)?)
}
