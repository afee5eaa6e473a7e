//! The secret key and what is wrapped under it: the accounts' data keys, and what is people's own.

use secrecy::ExposeSecret;
use sqlx::PgPool;

use crate::{
    domain::sealing::{DataKey, Place, SealingError, SecretKeyId, SecretKeys},
    store::{account_keys, error::StoreError, second_factors, secret_keys as store},
};

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

/// Whether everything is wrapped under these secret keys: found out at the start, not at the first request.
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

/// Why not everything is wrapped anew.
#[derive(Debug, thiserror::Error)]
pub enum RewrapError {
    /// Something is wrapped under a third secret key, or damaged.
    #[error("{what}: {source}")]
    Sealing {
        /// Whose.
        what: String,
        /// Why.
        source: SealingError,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Wraps under the current secret key what the former one has wrapped; says how many things that were. Afterwards nobody
/// needs the former one any more. What the data keys have sealed stays as it is.
pub async fn rewrap(db: &PgPool, secret_keys: &SecretKeys) -> Result<usize, RewrapError> {
    let current = &secret_keys.current;
    let mut rewrapped = 0;
    for (account, former) in account_keys::list_under_others(db, current.id()).await? {
        let key = DataKey::unwrap(former.clone(), secret_keys, account);
        let new = key.and_then(|key| key.wrap(current, account, rand::random()));
        let new = new.map_err(damaged(format!("the data key of account {account}")))?;
        rewrapped += usize::from(account_keys::replace(db, account, &former, &new).await?);
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

fn damaged(what: String) -> impl FnOnce(SealingError) -> RewrapError {
    |source| RewrapError::Sealing { what, source }
}
