//! Hands a new API key to the page that shows it, and whose address names it. The key is stored encrypted in the session
//! of the user who created it, and removed once it is read.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_domain::{
    api_key::PlaintextKey,
    encryption::{EncryptionError, Place, SecretKeys},
    ids::{AccountId, ApiKeyId},
};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tower_sessions::{Session, session};

use crate::service::{
    api_keys::CreatedKey,
    data_keys::{self, DataKeyError},
    sessions::short_lived,
};

/// Key in the session's data.
const NEW_KEY: &str = "new_key";
/// Time within which the key is shown. A browser follows a redirect at once; a later visit may be another person, or a
/// return to the page.
const SHOWN_WITHIN: Duration = Duration::minutes(5);

/// Error of [`keep`] and [`take`].
#[derive(Debug, thiserror::Error)]
pub enum NewKeyError {
    /// The data key is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The key can't be encrypted or decrypted.
    #[error("a new API key: {0}")]
    Encryption(#[from] EncryptionError),
    /// The session can't be read or written.
    #[error(transparent)]
    Session(#[from] session::Error),
}

#[derive(Serialize, Deserialize)]
struct NewKey {
    id: ApiKeyId,
    sealed: String,
}

/// Stores a key in the session for the next page, and replaces an earlier one.
pub async fn keep(
    db: &PgPool,
    secret_keys: &SecretKeys,
    session: &Session,
    account: AccountId,
    created: &CreatedKey,
    now: OffsetDateTime,
) -> Result<(), NewKeyError> {
    let data_key = data_keys::data_key(db, secret_keys, account, now).await?;
    let content = created.key.expose().as_bytes().to_vec();
    let sealed = data_key.encrypt(&Place::new_key(account, created.id.0), rand::random(), content)?;
    let new = NewKey {
        id: created.id,
        sealed: BASE64_STANDARD.encode(sealed),
    };
    Ok(short_lived::keep(session, NEW_KEY, new, now + SHOWN_WITHIN).await?)
}

/// Removes the stored key from the session and returns it. Returns `None` if it is another key than `id`, which stays for
/// its own page, or if it was stored more than five minutes ago.
pub async fn take(
    db: &PgPool,
    secret_keys: &SecretKeys,
    session: &Session,
    account: AccountId,
    id: ApiKeyId,
    now: OffsetDateTime,
) -> Result<Option<CreatedKey>, NewKeyError> {
    let is_shown = |new: &NewKey| new.id == id;
    let Some(NewKey { id, sealed }) = short_lived::take_if(session, NEW_KEY, is_shown, now).await? else {
        return Ok(None);
    };
    let Ok(sealed) = BASE64_STANDARD.decode(sealed) else {
        return Ok(None);
    };
    let data_key = data_keys::data_key(db, secret_keys, account, now).await?;
    let content = data_key.decrypt(&Place::new_key(account, id.0), sealed)?;
    let key = str::from_utf8(&content)
        .ok()
        .and_then(|text| PlaintextKey::parse(text).ok());
    Ok(key.map(|key| CreatedKey { id, key }))
}
