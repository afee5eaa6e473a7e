//! A key that was just made, on its way to the page that shows it. It waits, sealed, in the session of the person who made
//! it, and is gone from there once it was shown.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tower_sessions::{Session, session};

use crate::{
    domain::{
        api_key::PlaintextKey,
        ids::{AccountId, ApiKeyId},
        sealing::{Place, SealingError, SecretKeys},
    },
    service::{
        account_keys::{self, DataKeyError},
        api_keys::CreatedKey,
    },
};

/// The member of a session's data that holds it.
const NEW_KEY: &str = "new_key";
/// A browser follows a redirect at once. Whoever comes later is somebody else, or has come back.
const SHOWN_WITHIN: Duration = Duration::minutes(5);

/// Why a key can't wait, or not be shown.
#[derive(Debug, thiserror::Error)]
pub enum NewKeyError {
    /// There is no key to seal it with.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// It can't be sealed or opened.
    #[error("a new API key: {0}")]
    Sealing(#[from] SealingError),
    /// The session can't be read.
    #[error(transparent)]
    Session(#[from] session::Error),
}

#[derive(Serialize, Deserialize)]
struct Waiting {
    id: ApiKeyId,
    sealed: String,
    #[serde(with = "time::serde::rfc3339")]
    until: OffsetDateTime,
}

/// Keeps a key for the next page; one that waits already is forgotten.
pub async fn keep(
    db: &PgPool,
    secret_keys: &SecretKeys,
    session: &Session,
    account: AccountId,
    created: &CreatedKey,
    now: OffsetDateTime,
) -> Result<(), NewKeyError> {
    let data_key = account_keys::data_key(db, secret_keys, account, now).await?;
    let content = created.key.expose().as_bytes().to_vec();
    let sealed = data_key.seal(&Place::new_key(account, created.id.0), rand::random(), content)?;
    let waiting = Waiting {
        id: created.id,
        sealed: BASE64_STANDARD.encode(sealed),
        until: now + SHOWN_WITHIN,
    };
    Ok(session.insert(NEW_KEY, waiting).await?)
}

/// Takes the key that waits, if there is one.
pub async fn take(
    db: &PgPool,
    secret_keys: &SecretKeys,
    session: &Session,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<Option<CreatedKey>, NewKeyError> {
    let Some(waiting) = session.remove_value(NEW_KEY).await? else {
        return Ok(None);
    };
    // What another version of this program wrote, and this one can't read, is not shown.
    let waiting = serde_json::from_value(waiting).ok();
    let Some(waiting) = waiting.filter(|waiting: &Waiting| now < waiting.until) else {
        return Ok(None);
    };
    let Ok(sealed) = BASE64_STANDARD.decode(waiting.sealed) else {
        return Ok(None);
    };
    let data_key = account_keys::data_key(db, secret_keys, account, now).await?;
    let content = data_key.open(&Place::new_key(account, waiting.id.0), sealed)?;
    let key = str::from_utf8(&content)
        .ok()
        .and_then(|text| PlaintextKey::parse(text).ok());
    Ok(key.map(|key| CreatedKey { id: waiting.id, key }))
}
