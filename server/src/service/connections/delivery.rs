//! Documents on their way to a client's own store.

use axum::body::Bytes;
use serde_json::Value;

use crate::{
    domain::{
        connection::Connection,
        destination::{Destination, Provider},
        ids::AccountId,
        sentence::sentence,
    },
    service::connections::buckets::{Buckets, BucketsError},
    storage::bucket::{BucketError, Refusal},
    store::{connections, error::StoreError},
};

/// Why there is no connection for a destination.
#[derive(Debug, thiserror::Error)]
pub enum CoveringError {
    /// The account has none.
    #[error("no storage connection of the account covers {} in the bucket {}", .0.path, .0.bucket)]
    NoConnection(Destination),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The account's connection that a destination goes through: of those that cover it, the one with the longest prefix.
pub async fn covering(
    buckets: &Buckets,
    account: AccountId,
    destination: &Destination,
) -> Result<Connection, CoveringError> {
    connections::find_covering(buckets.db(), account, destination)
        .await?
        .ok_or_else(|| CoveringError::NoConnection(destination.clone()))
}

/// Puts a document where the client wants it; once more does no harm. Returns what a callback tells of it.
pub async fn deliver(
    buckets: &Buckets,
    account: AccountId,
    destination: &Destination,
    pdf: Bytes,
) -> Result<Value, BucketError> {
    let connection = match covering(buckets, account, destination).await {
        Ok(connection) => connection,
        // It was deleted after the render was accepted.
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

/// What is ours to mend says nothing to the client.
fn unusable(error: &dyn std::error::Error) -> BucketError {
    tracing::error!(%error, "a storage connection can't be used");
    BucketError::Silent("the storage connection can't be used at the moment".into())
}

/// In the words that the store itself would use.
fn uncovered(provider: Provider, error: &CoveringError) -> BucketError {
    let message = sentence(&error.to_string());
    BucketError::Refused(match provider {
        Provider::AwsS3 => Refusal::by_s3("AccessDenied", &message),
        Provider::GoogleCloudStorage => Refusal::by_google("forbidden", &message),
    })
}
