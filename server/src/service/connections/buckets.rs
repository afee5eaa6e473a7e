//! Opens the buckets of connections with their sealed credentials.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use secrecy::{ExposeSecret, SecretSlice};
use sqlx::PgPool;

use crate::{
    clock,
    domain::{
        connection::{Connection, Settings, credentials::Credentials},
        ids::{AccountId, ConnectionId},
        sealing::{Place, SealingError, SecretKeys},
    },
    service::account_keys::{self, DataKeyError},
    storage::{
        bucket::{Bucket, BucketError},
        object_stores::ObjectStores,
    },
    store::{connections, error::StoreError},
};

/// Buckets that stay open, with their connections to the stores; beyond them all are opened anew.
const KEPT_OPEN: usize = 256;
/// The object that says for which account a bucket is open.
const OPENED_TO: &str = "platen-account";

/// Opens buckets; cheap to clone.
#[derive(Clone)]
pub struct Buckets {
    db: PgPool,
    secret_keys: Arc<SecretKeys>,
    stores: ObjectStores,
    /// By connection, which never changes: opening one takes milliseconds, more than printing a page.
    open: Arc<Mutex<HashMap<ConnectionId, Bucket>>>,
}

/// Why a bucket is not open.
#[derive(Debug, thiserror::Error)]
pub enum BucketsError {
    /// The connection was deleted just now.
    #[error("the connection is gone")]
    Gone,
    /// There is no key for its credentials.
    #[error(transparent)]
    DataKey(#[from] DataKeyError),
    /// They can't be sealed or opened.
    #[error("the connection's credentials: {0}")]
    Sealing(#[from] SealingError),
    /// They are not what was sealed. What is wrong with them may tell of them.
    #[error("the connection's credentials can't be read")]
    Unreadable,
    /// Nothing in the bucket says that it is open to the account.
    #[error(
        "the bucket {bucket} is not open to this account of the service: put an object {object} there that holds the \
         account's id, {account}, and let the service account read it"
    )]
    NotOpened {
        /// Name of the bucket.
        bucket: String,
        /// Name of the object.
        object: String,
        /// Who wants in.
        account: AccountId,
    },
    /// The store, or the library that speaks with it, does not take them.
    #[error(transparent)]
    Bucket(#[from] BucketError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Buckets {
    /// Opens buckets in these stores.
    pub fn new(db: PgPool, secret_keys: Arc<SecretKeys>, stores: ObjectStores) -> Self {
        Self {
            db,
            secret_keys,
            stores,
            open: Arc::default(),
        }
    }

    /// The stores.
    pub fn stores(&self) -> &ObjectStores {
        &self.stores
    }

    pub(super) fn db(&self) -> &PgPool {
        &self.db
    }

    /// The credentials as they are stored.
    pub(super) async fn seal(
        &self,
        account: AccountId,
        id: ConnectionId,
        credentials: &Credentials,
    ) -> Result<Vec<u8>, BucketsError> {
        let key = account_keys::data_key(&self.db, &self.secret_keys, account, clock::now()).await?;
        let content = credentials.to_value().to_string().into_bytes();
        Ok(key.seal(&Place::connection(account, id.0), rand::random(), content)?)
    }

    /// The bucket of a connection that was just looked up.
    pub(super) async fn open(&self, account: AccountId, connection: &Connection) -> Result<Bucket, BucketsError> {
        let kept = self.kept(|open| open.get(&connection.id).cloned());
        if let Some(bucket) = kept {
            return Ok(bucket);
        }
        let credentials = self.credentials(account, connection).await?;
        let bucket = self.stores.bucket(account, &connection.settings, &credentials).await?;
        if let Credentials::Impersonated(_) = credentials {
            check_opened(&bucket, account, &connection.settings).await?;
        }
        self.kept(|open| {
            if open.len() >= KEPT_OPEN {
                open.clear();
            }
            open.insert(connection.id, bucket.clone());
        });
        Ok(bucket)
    }

    async fn credentials(&self, account: AccountId, connection: &Connection) -> Result<Credentials, BucketsError> {
        let sealed = connections::find_credentials(&self.db, account, connection.id)
            .await?
            .ok_or(BucketsError::Gone)?;
        let key = account_keys::data_key(&self.db, &self.secret_keys, account, clock::now()).await?;
        let content = SecretSlice::from(key.open(&Place::connection(account, connection.id.0), sealed)?);
        serde_json::from_slice(content.expose_secret())
            .and_then(|value| Credentials::from_value(connection.settings.provider, value))
            .map_err(|_| BucketsError::Unreadable)
    }

    fn kept<T>(&self, look: impl FnOnce(&mut HashMap<ConnectionId, Bucket>) -> T) -> T {
        look(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whoever lets the service act as a service account lets it do so for every account of the service: Google knows no
/// external id. So the bucket itself has to say for which account it is open.
async fn check_opened(bucket: &Bucket, account: AccountId, settings: &Settings) -> Result<(), BucketsError> {
    let object = format!("{}{OPENED_TO}", settings.path_prefix);
    let held = match bucket.get(&object).await {
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
