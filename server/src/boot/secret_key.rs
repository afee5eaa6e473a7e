//! The master key: the operator's, or else one that is generated in the data folder of the private database.

use std::sync::Arc;

use platen_core::{
    config::{Config, secrets::SecretsConfig},
    service::secret_keys::{self, SecretKeyError},
};
use platen_domain::encryption::{SecretKey, SecretKeys};
use secrecy::ExposeSecret;
use sqlx::PgPool;

use crate::database::folder::{DataFolder, FolderError};

const KEY_FILE: &str = "secret-key";

/// Why there is no usable master key.
#[derive(Debug, thiserror::Error)]
pub enum ObtainKeyError {
    /// A database at `DATABASE_URL` requires `PLATEN_SECRET_KEY`.
    #[error(
        "PLATEN_SECRET_KEY is not set, but is required with DATABASE_URL: encrypted data in the database must remain \
         readable after the loss of this machine; create a key with `openssl rand -base64 32`"
    )]
    NotSet,
    /// The file in the data folder contains something else.
    #[error("{KEY_FILE} in the data folder contains no valid key: restore the file, or set PLATEN_SECRET_KEY")]
    Damaged,
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The key does not match the database.
    #[error(transparent)]
    Unfit(#[from] SecretKeyError),
}

/// Returns the master keys, checked against the database. `folder` is the data folder of a private database.
pub async fn obtain(
    db: &PgPool,
    config: &SecretsConfig,
    folder: Option<&DataFolder>,
) -> Result<Arc<SecretKeys>, ObtainKeyError> {
    let current = match (&config.key, folder) {
        (Some(key), _) => key.clone(),
        (None, Some(folder)) => Arc::new(load_or_create(folder)?),
        (None, None) => return Err(ObtainKeyError::NotSet),
    };
    let keys = SecretKeys {
        current,
        former: config.former.clone(),
    };
    secret_keys::check(db, &keys).await?;
    Ok(Arc::new(keys))
}

/// Like [`obtain`], for a command, whether or not a service is running.
pub async fn obtain_for_command(db: &PgPool, config: &Config) -> Result<Arc<SecretKeys>, ObtainKeyError> {
    let folder = match config.database.url {
        None => Some(DataFolder::open(&config.data.folder)?),
        Some(_) => None,
    };
    obtain(db, &config.secrets, folder.as_ref()).await
}

fn load_or_create(folder: &DataFolder) -> Result<SecretKey, ObtainKeyError> {
    if let Some(text) = folder.read_secret(KEY_FILE)? {
        return SecretKey::parse(text.trim()).ok_or(ObtainKeyError::Damaged);
    }
    let key = SecretKey::from_random(rand::random());
    folder.write_secret(KEY_FILE, &format!("{}\n", key.to_text().expose_secret()))?;
    Ok(key)
}
