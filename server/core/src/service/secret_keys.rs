//! The master key (`PLATEN_SECRET_KEY`), and rotation of what it wraps: data keys of accounts and second factors of
//! users.

use platen_domain::encryption::{DataKey, EncryptionError, Place, SecretKeyId, SecretKeys};
use secrecy::ExposeSecret;
use sqlx::PgPool;

use crate::store::{data_keys, error::StoreError, second_factors, secret_keys as store};

/// Error of [`check`].
#[derive(Debug, thiserror::Error)]
pub enum SecretKeyError {
    /// The database contains secrets that another master key encrypted.
    #[error(
        "the database contains secrets that another PLATEN_SECRET_KEY encrypted: the key {sealed_under}, but {given} \
         is set; start with the former key"
    )]
    Other {
        /// Id of the key that encrypted them.
        sealed_under: String,
        /// Id of the configured key.
        given: SecretKeyId,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks at start that all secrets are wrapped by these keys, so that the first request doesn't fail.
pub async fn check(db: &PgPool, secret_keys: &SecretKeys) -> Result<(), SecretKeyError> {
    let known = [Some(&secret_keys.current), secret_keys.former.as_ref()];
    let known: Vec<_> = known.into_iter().flatten().map(|key| key.id()).collect();
    match store::find_other(db, &known).await? {
        None => Ok(()),
        Some(sealed_under) => Err(SecretKeyError::Other {
            sealed_under,
            given: secret_keys.current.id().clone(),
        }),
    }
}

/// Error of [`rewrap`].
#[derive(Debug, thiserror::Error)]
pub enum RewrapError {
    /// A secret is wrapped by a third key, or damaged.
    #[error("{what}: {source}")]
    Encryption {
        /// Owner of the secret.
        what: String,
        source: EncryptionError,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Wraps with the current master key everything that the former one wrapped, and returns the number of rewrapped
/// secrets. After that, the former key is no longer needed. Content encrypted with data keys remains unchanged.
pub async fn rewrap(db: &PgPool, secret_keys: &SecretKeys) -> Result<usize, RewrapError> {
    let current = &secret_keys.current;
    let mut rewrapped = 0;
    for (account, former) in data_keys::list_under_others(db, current.id()).await? {
        let key = DataKey::unwrap(former.clone(), secret_keys, account);
        let new = key.and_then(|key| key.wrap(current, account, rand::random()));
        let new = new.map_err(damaged(format!("the data key of account {account}")))?;
        rewrapped += usize::from(data_keys::replace(db, account, &former, &new).await?);
    }
    for (user, former) in second_factors::list_under_others(db, current.id()).await? {
        let place = Place::app_secret(user);
        let secret = secret_keys.unwrap(&place, former.clone());
        let new = secret.and_then(|secret| current.wrap(&place, rand::random(), secret.expose_secret().clone()));
        let new = new.map_err(damaged(format!("the second factor of user {user}")))?;
        rewrapped += usize::from(second_factors::replace(db, user, &former, &new).await?);
    }
    Ok(rewrapped)
}

fn damaged(what: String) -> impl FnOnce(EncryptionError) -> RewrapError {
    |source| RewrapError::Encryption { what, source }
}
