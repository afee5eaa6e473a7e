//! Delivery of documents through storage connections.

use bytes::Bytes;
use platen_domain::{
    connection::Connection,
    destination::{Destination, Provider},
    ids::AccountId,
    sentence::sentence,
};
use serde_json::Value;

use crate::{
    service::connections::buckets::{Buckets, BucketsError},
    storage::bucket::{BucketError, Refusal},
    store::{connections, error::StoreError},
};

/// Error of [`covering`].
#[derive(Debug, thiserror::Error)]
pub enum CoveringError {
    /// No connection of the account covers the destination.
    #[error("no storage connection of the account covers {} in the bucket {}", .0.path, .0.bucket)]
    NoConnection(Destination),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the account's connection for a destination: the one with the longest prefix of those that cover it.
pub async fn covering(
    buckets: &Buckets,
    account: AccountId,
    destination: &Destination,
) -> Result<Connection, CoveringError> {
    connections::find_covering(buckets.db(), account, destination)
        .await?
        .ok_or_else(|| CoveringError::NoConnection(destination.clone()))
}

/// Writes a document to its destination; idempotent. Returns the store's response, for the webhook.
pub async fn deliver(
    buckets: &Buckets,
    account: AccountId,
    destination: &Destination,
    pdf: Bytes,
) -> Result<Value, BucketError> {
    let connection = match covering(buckets, account, destination).await {
        Ok(connection) => connection,
        // The connection was deleted after the render was accepted.
        Err(error @ CoveringError::NoConnection(_)) => return Err(uncovered(destination.provider, &error)),
        Err(CoveringError::Store(error)) => return Err(unusable(&error)),
    };
    match buckets.open(account, &connection).await {
        Ok(bucket) => bucket.put(&destination.path, pdf).await,
        Err(BucketsError::Bucket(error)) => Err(error),
        Err(error @ BucketsError::NotOpened { .. }) => Err(BucketError::Refused(Refusal::by_google(
            "forbidden",
            &sentence(&error.to_string()),
        ))),
        Err(error) => Err(unusable(&error)),
    }
}

/// Logs an internal error, which the client is not shown.
fn unusable(error: &dyn std::error::Error) -> BucketError {
    tracing::error!(%error, "storage connection can't be used");
    BucketError::Silent("the storage connection is temporarily unavailable".into())
}

/// Returns the refusal that the store itself would send.
fn uncovered(provider: Provider, error: &CoveringError) -> BucketError {
    let message = sentence(&error.to_string());
    BucketError::Refused(match provider {
        Provider::AwsS3 => Refusal::by_s3("AccessDenied", &message),
        Provider::GoogleCloudStorage => Refusal::by_google("forbidden", &message),
    })
}
