//! Documents on their way to a client's own store.

use axum::body::Bytes;
use serde_json::Value;

use crate::{
    domain::{
        connection::Connection,
        destination::{Destination, Provider},
        ids::AccountId,
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

/// Why a document is not where it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// The store refuses it, and would again.
    #[error("{message}")]
    Refused {
        /// As a callback tells it.
        result: Value,
        /// A sentence.
        message: String,
    },
    /// It may succeed later.
    #[error("{0}")]
    Transient(String),
}

/// Puts a document where the client wants it; once more does no harm. Returns what a callback tells of it.
pub async fn deliver(
    buckets: &Buckets,
    account: AccountId,
    destination: &Destination,
    pdf: Bytes,
) -> Result<Value, DeliveryError> {
    let connection = match covering(buckets, account, destination).await {
        Ok(connection) => connection,
        // It was deleted after the render was accepted.
        Err(error @ CoveringError::NoConnection(_)) => return Err(refused(&uncovered(destination, &error))),
        Err(CoveringError::Store(error)) => return Err(DeliveryError::Transient(error.to_string())),
    };
    let put = async {
        buckets
            .open(account, &connection)
            .await?
            .put(&destination.path, pdf)
            .await
            .map_err(Into::into)
    };
    put.await.map_err(|error: BucketsError| match error {
        BucketsError::Bucket(BucketError::Refused(refusal)) => refused(&refusal),
        other => DeliveryError::Transient(other.to_string()),
    })
}

/// In the words that the store itself would use.
fn uncovered(destination: &Destination, error: &CoveringError) -> Refusal {
    let message = crate::domain::sentence::sentence(&error.to_string());
    match destination.provider {
        Provider::AwsS3 => Refusal::by_s3("AccessDenied", &message),
        Provider::GoogleCloudStorage => Refusal::by_google("forbidden", &message),
    }
}

fn refused(refusal: &Refusal) -> DeliveryError {
    DeliveryError::Refused {
        result: refusal.result(),
        message: refusal.message().to_owned(),
    }
}
