//! The secret key: the operator's, else one that is made in the data folder beside the private database.

use std::sync::Arc;

use secrecy::ExposeSecret;
use sqlx::PgPool;

use crate::{
    config::{Config, secrets::SecretsConfig},
    database::folder::{DataFolder, FolderError},
    domain::sealing::{SecretKey, SecretKeys},
    service::secret_keys::{self, SecretKeyError},
};

const KEY_FILE: &str = "secret-key";

/// Why there is no secret key.
#[derive(Debug, thiserror::Error)]
pub enum ObtainKeyError {
    /// The operator's database needs the operator's key.
    #[error(
        "PLATEN_SECRET_KEY is not set, and has to be with DATABASE_URL: what is sealed in the database must open after \
         the loss of this machine; `openssl rand -base64 32` makes a key"
    )]
    NotSet,
    /// The file in the data folder holds something else.
    #[error("{KEY_FILE} in the data folder holds no key: restore it, or set PLATEN_SECRET_KEY")]
    Damaged,
    /// The data folder can't be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It does not fit the database.
    #[error(transparent)]
    Unfit(#[from] SecretKeyError),
}

/// The secret keys, checked against what the database holds. `folder`: of a private database.
pub async fn obtain(
    db: &PgPool,
    config: &SecretsConfig,
    folder: Option<&DataFolder>,
) -> Result<Arc<SecretKeys>, ObtainKeyError> {
    let current = match (&config.key, folder) {
        (Some(key), _) => key.clone(),
        (None, Some(folder)) => Arc::new(kept(folder)?),
        (None, None) => return Err(ObtainKeyError::NotSet),
    };
    let keys = SecretKeys {
        current,
        former: config.former.clone(),
    };
    secret_keys::check(db, &keys).await?;
    Ok(Arc::new(keys))
}

/// As [`obtain`], for a command that uses the database beside a running service or without one.
pub async fn obtain_for_command(db: &PgPool, config: &Config) -> Result<Arc<SecretKeys>, ObtainKeyError> {
    let folder = match config.database.url {
        None => Some(DataFolder::open(&config.data.folder)?),
        Some(_) => None,
    };
    obtain(db, &config.secrets, folder.as_ref()).await
}

fn kept(folder: &DataFolder) -> Result<SecretKey, ObtainKeyError> {
    if let Some(text) = folder.read_secret(KEY_FILE)? {
        return SecretKey::parse(text.trim()).ok_or(ObtainKeyError::Damaged);
    }
    let key = SecretKey::from_random(rand::random());
    folder.write_secret(KEY_FILE, &format!("{}\n", key.to_text().expose_secret()))?;
    Ok(key)
}
