//! A bucket that a connection leads to, whichever store it is of, and what can go wrong there.

use std::{error::Error, iter, time::Duration};

use axum::body::Bytes;
use futures::{FutureExt, future::BoxFuture};
use serde_json::{Value, json};

use crate::storage::{aws_s3, google_cloud_storage};

/// For every request to a store: to reach it.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For a request to a store, whatever its size.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// Slower than this, one upload would keep a worker for an hour.
const SLOWEST_BYTES_PER_SECOND: u64 = 256 * 1024;
/// Bytes. Stores answer with a few hundred; objects are read only to find out what is there, never to be used.
pub(super) const LONGEST_ANSWER: usize = 64 * 1024;
/// Of a store's message: its own are a sentence, those of what stands before it may be a page.
const LONGEST_MESSAGE: usize = 500;

/// A bucket and the credentials for it; cheap to clone.
#[derive(Debug, Clone)]
pub enum Bucket {
    /// In a store that speaks S3.
    AwsS3(aws_s3::Bucket),
    /// In Google Cloud Storage.
    GoogleCloudStorage(Box<google_cloud_storage::Bucket>),
}

/// Why a store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BucketError {
    /// It will say the same the next time.
    #[error("{}", .0.message())]
    Refused(Refusal),
    /// It says that it can't now.
    #[error("{}", .0.message())]
    Busy(Refusal),
    /// It said nothing, or nothing that can be understood.
    #[error("{0}")]
    Silent(String),
}

impl BucketError {
    /// What a callback says of it, if the store said something.
    pub fn result(&self) -> Option<Value> {
        match self {
            Self::Refused(refusal) | Self::Busy(refusal) => Some(refusal.result()),
            Self::Silent(_) => None,
        }
    }
}

/// A store's refusal, in the words of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// By a store that speaks S3.
    AwsS3 {
        /// For instance `NoSuchBucket` or `AccessDenied`.
        code: String,
        /// A sentence.
        message: String,
    },
    /// By Google Cloud Storage.
    GoogleCloudStorage {
        /// For instance `notFound` or `forbidden`.
        reason: String,
        /// A sentence.
        message: String,
    },
}

impl Refusal {
    /// A refusal in S3's words.
    pub fn by_s3(code: impl Into<String>, message: &str) -> Self {
        Self::AwsS3 {
            code: code.into(),
            message: cut(message),
        }
    }

    /// A refusal in Google's words.
    pub fn by_google(reason: impl Into<String>, message: &str) -> Self {
        Self::GoogleCloudStorage {
            reason: reason.into(),
            message: cut(message),
        }
    }

    /// The store's word for it.
    pub fn code(&self) -> &str {
        match self {
            Self::AwsS3 { code, .. } => code,
            Self::GoogleCloudStorage { reason, .. } => reason,
        }
    }

    /// The store's sentence.
    pub fn message(&self) -> &str {
        match self {
            Self::AwsS3 { message, .. } | Self::GoogleCloudStorage { message, .. } => message,
        }
    }

    fn result(&self) -> Value {
        match self {
            Self::AwsS3 { code, message } => json!({"error": "s3_error", "code": code, "message": message}),
            Self::GoogleCloudStorage { reason, message } => {
                json!({"error": "gcs_error", "message": message, "reason": reason})
            }
        }
    }
}

fn cut(message: &str) -> String {
    message.chars().take(LONGEST_MESSAGE).collect()
}

impl Bucket {
    /// Puts a PDF there, in the place of an object of the same name. Returns what the store says of it, as a callback
    /// tells it.
    pub async fn put(&self, path: &str, pdf: Bytes) -> Result<Value, BucketError> {
        let patience = REQUEST_TIMEOUT + Duration::from_secs(pdf.len() as u64 / SLOWEST_BYTES_PER_SECOND);
        match self {
            Self::AwsS3(bucket) => within(patience, bucket.put(path, pdf).boxed()).await,
            Self::GoogleCloudStorage(bucket) => within(patience, bucket.put(path, pdf).boxed()).await,
        }
    }

    /// Reads an object of at most 64 KiB.
    pub async fn get(&self, path: &str) -> Result<Vec<u8>, BucketError> {
        match self {
            Self::AwsS3(bucket) => within(REQUEST_TIMEOUT, bucket.get(path).boxed()).await,
            Self::GoogleCloudStorage(bucket) => within(REQUEST_TIMEOUT, bucket.get(path).boxed()).await,
        }
    }

    /// Deletes an object.
    pub async fn delete(&self, path: &str) -> Result<(), BucketError> {
        match self {
            Self::AwsS3(bucket) => within(REQUEST_TIMEOUT, bucket.delete(path).boxed()).await,
            Self::GoogleCloudStorage(bucket) => within(REQUEST_TIMEOUT, bucket.delete(path).boxed()).await,
        }
    }
}

/// An error and what it came from, down to the root.
pub(super) fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&error| error.source())
}

async fn within<T>(patience: Duration, request: BoxFuture<'_, Result<T, BucketError>>) -> Result<T, BucketError> {
    match tokio::time::timeout(patience, request).await {
        Ok(outcome) => outcome,
        Err(_) => Err(BucketError::Silent(format!(
            "the store did not answer within {} s",
            patience.as_secs()
        ))),
    }
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
    fn a_message_of_a_page_is_cut() {
        assert_eq!(
            Refusal::by_s3("AccessDenied", &"ä".repeat(10_000))
                .message()
                .chars()
                .count(),
            500
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_does_not_answer_is_not_waited_for_without_end() {
        let silent = std::future::pending::<Result<(), BucketError>>().boxed();
        let error = within(REQUEST_TIMEOUT, silent).await.expect_err("no answer");
        assert_eq!(
            error,
            BucketError::Silent("the store did not answer within 60 s".into())
        );
    }
}
