//! The bucket of a storage connection in any store, and its errors.

use std::{error::Error, iter, time::Duration};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use platen_domain::{connection::ErrorResponse, destination::Provider};
use serde_json::{Value, json};

use crate::storage::{aws_s3, google_cloud_storage};

/// Timeout for connecting to a store.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a request to a store, not counting the transfer.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// The lowest tolerated speed of transfers; slower uploads could occupy a worker for an hour.
const SLOWEST_BYTES_PER_SECOND: u64 = 256 * 1024;
/// Maximum size of a response of a tenant's store in bytes. Stores respond with a few hundred; objects are read only to see what they
/// are.
pub(crate) const LONGEST_ANSWER: usize = 64 * 1024;
/// Maximum length of a store's message in characters. Stores send a sentence, but proxies in front of them may send a
/// page.
const LONGEST_MESSAGE: usize = 500;
/// Maximum length of a store's error code in characters.
const LONGEST_CODE: usize = 100;

/// A bucket and its credentials; cheap to clone.
#[derive(Debug, Clone)]
pub enum Bucket {
    /// In an S3-compatible store.
    AwsS3(aws_s3::Bucket),
    GoogleCloudStorage(Box<google_cloud_storage::Bucket>),
}

/// Why a request to a store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// Permanent: the same request would be refused again.
    #[error("{}", .0.message())]
    Refused(Refusal),
    /// Permanent: the egress guard doesn't allow the address of the store.
    #[error("{}", .0.message())]
    Blocked(Refusal),
    /// Transient: the store can't respond now.
    #[error("{}", .0.message())]
    Busy(Refusal),
    /// There is no connection to the store.
    #[error("{1}")]
    Unreachable(Obstacle, String),
    /// No response, or an unintelligible one.
    #[error("{0}")]
    Silent(String),
}

/// Why a store can't be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Its name can't be resolved.
    Name,
    /// Nothing accepts connections at its address.
    Connection,
    /// It has no valid certificate, or doesn't speak TLS.
    Tls,
    /// It didn't respond in time.
    Timeout,
}

impl BucketError {
    /// Returns the store's result for the webhook, or `None` if the store did not respond.
    pub fn result(&self) -> Option<Value> {
        match self {
            Self::Refused(refusal) | Self::Blocked(refusal) | Self::Busy(refusal) => Some(refusal.result()),
            Self::Unreachable(..) | Self::Silent(_) => None,
        }
    }
}

/// A store's refusal, in the store's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    provider: Provider,
    /// HTTP status of the store's response. `None` if the service refuses on the store's behalf.
    status: Option<u16>,
    code: String,
    message: String,
}

impl Refusal {
    /// Creates a refusal with an error code of S3. The message is cut to 500 characters.
    pub fn by_s3(code: &str, message: &str) -> Self {
        Self::new(Provider::AwsS3, code, message)
    }

    /// Creates a refusal with an error reason of Google. The message is cut to 500 characters.
    pub fn by_google(reason: &str, message: &str) -> Self {
        Self::new(Provider::GoogleCloudStorage, reason, message)
    }

    fn new(provider: Provider, code: &str, message: &str) -> Self {
        let printable = |text: &str, longest| {
            text.chars()
                .filter(|character| !character.is_control())
                .take(longest)
                .collect()
        };
        Self {
            provider,
            status: None,
            code: printable(code, LONGEST_CODE),
            message: printable(message, LONGEST_MESSAGE),
        }
    }

    /// Sets the status of the store's response.
    #[must_use]
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self {
            status: Some(status),
            ..self
        }
    }

    /// Returns the store's response, or `None` if the service refuses on the store's behalf.
    pub fn response(&self) -> Option<ErrorResponse> {
        Some(ErrorResponse {
            status: self.status?,
            code: self.code.clone(),
            message: self.message.clone(),
        })
    }

    /// The store's error code, for instance `NoSuchBucket`, or reason, for instance `notFound`.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The store's error message.
    pub fn message(&self) -> &str {
        &self.message
    }

    fn result(&self) -> Value {
        let Self { code, message, .. } = self;
        match self.provider {
            Provider::AwsS3 => json!({"error": "s3_error", "code": code, "message": message}),
            Provider::GoogleCloudStorage => json!({"error": "gcs_error", "message": message, "reason": code}),
        }
    }
}

impl Bucket {
    /// Uploads a PDF, and replaces an object of the same name. Returns the store's result for the webhook. Times out
    /// after one minute plus one second per 256 KiB.
    pub async fn put(&self, path: &str, pdf: Bytes) -> Result<Value, BucketError> {
        let patience = patience(pdf.len());
        match self {
            Self::AwsS3(bucket) => within(patience, bucket.put(path, pdf).boxed()).await,
            Self::GoogleCloudStorage(bucket) => within(patience, bucket.put(path, pdf).boxed()).await,
        }
    }

    /// Reads an object of at most `most` bytes; tenants' S3 buckets send 64 KiB at most. Times out like an upload.
    pub async fn get(&self, path: &str, most: usize) -> Result<Vec<u8>, BucketError> {
        let patience = patience(most);
        match self {
            Self::AwsS3(bucket) => within(patience, bucket.get(path, most).boxed()).await,
            Self::GoogleCloudStorage(bucket) => within(patience, bucket.get(path, most).boxed()).await,
        }
    }

    /// Deletes an object. Times out after one minute.
    pub async fn delete(&self, path: &str) -> Result<(), BucketError> {
        match self {
            Self::AwsS3(bucket) => within(REQUEST_TIMEOUT, bucket.delete(path).boxed()).await,
            Self::GoogleCloudStorage(bucket) => within(REQUEST_TIMEOUT, bucket.delete(path).boxed()).await,
        }
    }
}

/// Returns an error and its sources, down to the root cause.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&error| error.source())
}

/// Returns how long a request may take that transfers so many bytes.
fn patience(bytes: usize) -> Duration {
    REQUEST_TIMEOUT + Duration::from_secs(bytes as u64 / SLOWEST_BYTES_PER_SECOND)
}

async fn within<T>(patience: Duration, request: BoxFuture<'_, Result<T, BucketError>>) -> Result<T, BucketError> {
    tokio::time::timeout(patience, request).await.unwrap_or_else(|_| {
        let reason = format!("the store did not respond within {} s", patience.as_secs());
        Err(BucketError::Unreachable(Obstacle::Timeout, reason))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_in_the_form_of_its_store() {
        assert_eq!(
            Refusal::by_s3("NoSuchBucket", "The specified bucket does not exist").result(),
            json!({"error": "s3_error", "code": "NoSuchBucket", "message": "The specified bucket does not exist"})
        );
        assert_eq!(
            Refusal::by_google("forbidden", "No access.").result(),
            json!({"error": "gcs_error", "message": "No access.", "reason": "forbidden"})
        );
    }

    #[test]
    fn a_message_of_a_page_is_cut_and_printable() {
        let refusal = Refusal::by_s3(&"A\n".repeat(10_000), &"ä\u{1b}".repeat(10_000));
        assert_eq!(refusal.code(), "A".repeat(100));
        assert_eq!(refusal.message(), "ä".repeat(500));
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_does_not_answer_is_not_waited_for_without_end() {
        let silent = std::future::pending::<Result<(), BucketError>>().boxed();
        let error = within(REQUEST_TIMEOUT, silent).await.expect_err("no answer");
        assert_eq!(
            error,
            BucketError::Unreachable(Obstacle::Timeout, "the store did not respond within 60 s".into())
        );
    }
}
