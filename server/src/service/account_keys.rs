//! The accounts' data keys, with which what belongs to them is sealed.

use sqlx::PgPool;
use time::OffsetDateTime;

use crate::{
    domain::{
        ids::AccountId,
        sealing::{DataKey, SealingError, SecretKeyId, SecretKeys},
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

/// Why a secret key does not fit the database.
#[derive(Debug, thiserror::Error)]
pub enum SecretKeyError {
    /// The database holds secrets under another one.
    #[error(
        "the database holds secrets that another PLATEN_SECRET_KEY has sealed: the key {sealed_under}, while {given} is \
         given; start with the former key"
    )]
    Other {
        /// The key that was used.
        sealed_under: String,
        /// The key that is not it.
        given: SecretKeyId,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Whether all data keys are wrapped under these secret keys: found out at the start, not at the first request.
pub async fn check(db: &PgPool, secret_keys: &SecretKeys) -> Result<(), SecretKeyError> {
    let known = [Some(&secret_keys.current), secret_keys.former.as_ref()];
    let known: Vec<_> = known.into_iter().flatten().map(|key| key.id()).collect();
    match account_keys::find_other_secret_key(db, &known).await? {
        None => Ok(()),
        Some(sealed_under) => Err(SecretKeyError::Other {
            sealed_under,
            given: secret_keys.current.id().clone(),
        }),
    }
}

/// Wraps the data keys under the current secret key that the former one has wrapped; says how many. Afterwards nobody
/// needs the former one any more. What the data keys have sealed stays as it is.
pub async fn rewrap(db: &PgPool, secret_keys: &SecretKeys) -> Result<usize, DataKeyError> {
    let mut rewrapped = 0;
    for (account, wrapped) in account_keys::list_under_others(db, secret_keys.current.id()).await? {
        let former = wrapped.clone();
        let key = DataKey::unwrap(wrapped, secret_keys, account)?;
        let new = key.wrap(&secret_keys.current, account, rand::random())?;
        rewrapped += usize::from(account_keys::replace(db, account, &former, &new).await?);
    }
    Ok(rewrapped)
}
