//! Opens the buckets of storage connections with their encrypted credentials.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use platen_domain::{
    connection::{Connection, Settings, credentials::Credentials},
    encryption::{EncryptionError, Place, SecretKeys},
    ids::{AccountId, ConnectionId},
};
use secrecy::{ExposeSecret, SecretSlice};
use sqlx::PgPool;

use crate::{
    clock,
    mutex::lock,
    service::data_keys::{self, DataKeyError},
    storage::{
        bucket::{Bucket, BucketError, LONGEST_ANSWER},
        object_stores::ObjectStores,
    },
    store::{connections, error::StoreError},
};

/// Buckets that stay open, with their network connections. When the limit is reached, all of them are closed.
const KEPT_OPEN: usize = 256;
/// Name of the object in a bucket that names the account that may use it.
const OPENED_TO: &str = "platen-account";

/// Opens and caches buckets. Cheap to clone.
#[derive(Clone)]
pub struct Buckets {
    db: PgPool,
    secret_keys: Arc<SecretKeys>,
    stores: ObjectStores,
    /// Open buckets by connection, with its revision. Opening a bucket takes milliseconds, more than printing a page.
    open: Arc<Mutex<HashMap<ConnectionId, (i32, Bucket)>>>,
}

/// Error of opening a bucket.
#[derive(Debug, thiserror::Error)]
pub enum BucketsError {
    /// The connection was deleted in the meantime.
    #[error("the connection has been deleted")]
    Gone,
    /// The data key for its credentials is unavailable.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// The credentials can't be encrypted or decrypted.
    #[error("the connection's credentials: {0}")]
    Encryption(#[from] EncryptionError),
    /// The decrypted credentials can't be parsed. The cause is omitted, because it could reveal parts of them.
    #[error("the connection's credentials can't be read")]
    Unreadable,
    /// The bucket has no object that names the account.
    #[error(
        "the bucket {bucket} is not assigned to this account: create an object {object} in it that contains the \
         account's id, {account}, and let the service account read it"
    )]
    NotOpened {
        bucket: String,
        /// Name of the expected object.
        object: String,
        /// Account that the object must name.
        account: AccountId,
    },
    /// The store or its client library rejected the credentials.
    #[error(transparent)]
    Bucket(#[from] BucketError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Buckets {
    /// Creates an empty cache.
    pub fn new(db: PgPool, secret_keys: Arc<SecretKeys>, stores: ObjectStores) -> Self {
        Self {
            db,
            secret_keys,
            stores,
            open: Arc::default(),
        }
    }

    pub fn stores(&self) -> &ObjectStores {
        &self.stores
    }

    pub(super) fn db(&self) -> &PgPool {
        &self.db
    }

    /// Encrypts credentials for storage.
    pub(super) async fn encrypt(
        &self,
        account: AccountId,
        id: ConnectionId,
        credentials: &Credentials,
    ) -> Result<Vec<u8>, BucketsError> {
        let key = data_keys::data_key(&self.db, &self.secret_keys, account, clock::now()).await?;
        let content = credentials.to_value().to_string().into_bytes();
        Ok(key.encrypt(&Place::connection(account, id.0), rand::random(), content)?)
    }

    /// Opens the bucket of a connection. The caller has looked up the connection just now, so that a change in another
    /// process shows in its revision.
    pub(super) async fn open(&self, account: AccountId, connection: &Connection) -> Result<Bucket, BucketsError> {
        let cached = self.with_cache(|cache| cache.get(&connection.id).cloned());
        if let Some((revision, bucket)) = cached
            && revision == connection.revision
        {
            return Ok(bucket);
        }
        let credentials = self.credentials(account, connection).await?;
        let bucket = self.open_with(account, &connection.settings, &credentials).await?;
        self.with_cache(|cache| {
            if cache.len() >= KEPT_OPEN {
                cache.clear();
            }
            cache.insert(connection.id, (connection.revision, bucket.clone()));
        });
        Ok(bucket)
    }

    /// Opens a bucket with credentials that need not be stored.
    pub(super) async fn open_with(
        &self,
        account: AccountId,
        settings: &Settings,
        credentials: &Credentials,
    ) -> Result<Bucket, BucketsError> {
        let bucket = self.stores.bucket(account, settings, credentials).await?;
        if let Credentials::Impersonated(_) = credentials {
            check_opened(&bucket, account, settings).await?;
        }
        Ok(bucket)
    }

    async fn credentials(&self, account: AccountId, connection: &Connection) -> Result<Credentials, BucketsError> {
        let sealed = connections::find_credentials(&self.db, account, connection.id)
            .await?
            .ok_or(BucketsError::Gone)?;
        let key = data_keys::data_key(&self.db, &self.secret_keys, account, clock::now()).await?;
        let content = SecretSlice::from(key.decrypt(&Place::connection(account, connection.id.0), sealed)?);
        serde_json::from_slice(content.expose_secret())
            .and_then(|value| Credentials::from_value(connection.settings.provider, value))
            .map_err(|_| BucketsError::Unreadable)
    }

    fn with_cache<T>(&self, run: impl FnOnce(&mut HashMap<ConnectionId, (i32, Bucket)>) -> T) -> T {
        run(&mut lock(&self.open))
    }
}

/// Checks that the bucket names the account. A service account that the service may impersonate could be used by every
/// account of the service, because Google has no external id; so the bucket must name the account it is for.
async fn check_opened(bucket: &Bucket, account: AccountId, settings: &Settings) -> Result<(), BucketsError> {
    let object = format!("{}{OPENED_TO}", settings.path_prefix);
    let held = match bucket.get(&object, LONGEST_ANSWER).await {
        Ok(held) => held,
        Err(BucketError::Refused(refusal)) if refusal.code() == "notFound" => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    if held.trim_ascii() == account.to_string().as_bytes() {
        return Ok(());
    }
    Err(BucketsError::NotOpened {
        bucket: settings.bucket.clone(),
        object,
        account,
    })
}
