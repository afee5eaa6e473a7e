//! Buckets in Google Cloud Storage. Its address is set by the operator, never by tenants.

pub mod impersonation;
mod object;

use std::{panic::resume_unwind, sync::Arc};

use bytes::Bytes;
use futures::FutureExt;
use google_cloud_auth::{
    build_errors,
    credentials::{CacheableResource, Credentials, service_account},
};
use google_cloud_gax::{error::CredentialsError, retry_policy::NeverRetry};
use google_cloud_storage::{Error, client::Storage};
use http::{Extensions, HeaderMap};
use md5::{Digest, Md5};
use percent_encoding::utf8_percent_encode;
use platen_domain::connection::credentials::{ImpersonatedServiceAccount, ServiceAccountKey};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use url::Url;

use crate::{
    config::storage::Impersonator,
    storage::{
        bucket::{BucketError, CONNECT_TIMEOUT, Refusal, chain},
        google_cloud_storage::object::{SEGMENT, result},
    },
};

type BuildResult = Result<Credentials, build_errors::Error>;

/// Creates clients of buckets; cheap to clone.
#[derive(Debug, Clone)]
pub struct GoogleCloudStorage {
    endpoint: Arc<Url>,
    /// If `None`, no service accounts can be impersonated.
    impersonator: Option<Arc<Impersonator>>,
    /// For the one request that the client library supports only over gRPC.
    http: reqwest::Client,
}

impl GoogleCloudStorage {
    /// Creates the factory for the store at `endpoint`.
    pub fn new(endpoint: Url, impersonator: Option<Impersonator>) -> Result<Self, reqwest::Error> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self {
            endpoint: Arc::new(endpoint),
            impersonator: impersonator.map(Arc::new),
            http,
        })
    }

    /// Returns a bucket, accessed with a service account's key.
    pub async fn bucket(&self, name: &str, key: &ServiceAccountKey) -> Result<Bucket, BucketError> {
        let credentials = service_account::Builder::new(key_file(key)).build();
        self.bucket_by(name, credentials).await
    }

    /// Returns whether service accounts can be impersonated.
    pub fn can_impersonate(&self) -> bool {
        self.impersonator.is_some()
    }

    /// Returns a bucket, accessed by impersonating a service account that has granted this to the service. The caller
    /// must check that the grant is meant for the account.
    pub async fn bucket_as(&self, name: &str, account: &ImpersonatedServiceAccount) -> Result<Bucket, BucketError> {
        let impersonator = self.impersonator.as_ref().ok_or_else(|| {
            let message = "The service has no Google identity to impersonate a service account with.";
            BucketError::Refused(Refusal::by_google("forbidden", message))
        })?;
        self.bucket_by(name, impersonator.credentials(&account.client_email))
            .await
    }

    async fn bucket_by(&self, name: &str, credentials: BuildResult) -> Result<Bucket, BucketError> {
        let credentials = credentials.map_err(|reason| {
            let message = format!("The service account's key can't be used: {reason}.");
            BucketError::Refused(Refusal::by_google("authError", &message))
        })?;
        let storage = Storage::builder()
            .with_endpoint(self.endpoint.as_str())
            .with_credentials(credentials.clone())
            // The job queue retries the whole upload, so one request suffices, however large the document.
            .with_retry_policy(NeverRetry)
            .with_resumable_upload_threshold(usize::MAX)
            .build()
            .await
            .map_err(|error| BucketError::Silent(format!("no client for Google Cloud Storage: {error}")))?;
        Ok(Bucket {
            storage,
            credentials,
            store: self.clone(),
            name: name.to_owned(),
        })
    }
}

/// Returns a key in the format of the client library. Tokens are signed locally, without a request to Google.
fn key_file(key: &ServiceAccountKey) -> Value {
    json!({
        "type": "service_account",
        "client_email": key.client_email,
        "private_key_id": key.private_key_id,
        "private_key": key.private_key.expose_secret(),
        "project_id": "",
    })
}

#[derive(Debug, Clone)]
pub struct Bucket {
    storage: Storage,
    credentials: Credentials,
    store: GoogleCloudStorage,
    name: String,
}

impl Bucket {
    /// See [`super::bucket::Bucket::put`].
    pub async fn put(&self, path: &str, pdf: Bytes) -> Result<Value, BucketError> {
        let (pdf, checksums) = with_checksums(pdf).await;
        let write = self
            .storage
            .write_object(self.resource(), path, pdf)
            .set_content_type("application/pdf")
            // The store verifies the upload with them. They are sent first, because not every store accepts them as a
            // trailer.
            .with_known_crc32c(checksums.crc32c)
            .with_known_md5_hash(checksums.md5)
            .send_unbuffered();
        let object = write.boxed().await.map_err(|error| failure(&error))?;
        Ok(result(&self.name, object))
    }

    /// See [`super::bucket::Bucket::get`].
    pub async fn get(&self, path: &str, most: usize) -> Result<Vec<u8>, BucketError> {
        let read = self.storage.read_object(self.resource(), path);
        let mut answer = read.send().boxed().await.map_err(|error| failure(&error))?;
        let mut content = Vec::new();
        while let Some(piece) = answer.next().await {
            content.extend_from_slice(&piece.map_err(|error| failure(&error))?);
            if content.len() > most {
                return Err(BucketError::Silent("the object is longer than expected".into()));
            }
        }
        Ok(content)
    }

    /// See [`super::bucket::Bucket::delete`].
    pub async fn delete(&self, path: &str) -> Result<(), BucketError> {
        let unsent = |error: &dyn std::error::Error| {
            BucketError::Silent(format!("Google Cloud Storage can't be reached: {error}"))
        };
        let path = format!("storage/v1/b/{}/o/{}", self.name, utf8_percent_encode(path, SEGMENT));
        let url = self.store.endpoint.join(&path).map_err(|error| unsent(&error))?;
        let request = self.store.http.delete(url).headers(self.authorization().await?);
        let answer = request.send().await.map_err(|error| unsent(&error.without_url()))?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            status => Err(refused(status.as_u16(), status.canonical_reason().unwrap_or_default())),
        }
    }

    async fn authorization(&self) -> Result<HeaderMap, BucketError> {
        let headers = self.credentials.headers(Extensions::new()).await;
        match headers {
            Ok(CacheableResource::New { data, .. }) => Ok(data),
            // Only returned if the caller passes the version that it has.
            Ok(CacheableResource::NotModified) => Ok(HeaderMap::new()),
            Err(error) => Err(unauthenticated(&error)),
        }
    }

    /// Returns the bucket's name in the format of the client library.
    fn resource(&self) -> String {
        format!("projects/_/buckets/{}", self.name)
    }
}

struct Checksums {
    crc32c: u32,
    md5: [u8; 16],
}

/// Computes the checksums on a blocking thread.
async fn with_checksums(content: Bytes) -> (Bytes, Checksums) {
    let computing = tokio::task::spawn_blocking(move || {
        let checksums = Checksums {
            crc32c: crc32c::crc32c(&content),
            md5: Md5::digest(&content).into(),
        };
        (content, checksums)
    });
    computing
        .await
        .unwrap_or_else(|panic| resume_unwind(panic.into_panic()))
}

fn failure(error: &Error) -> BucketError {
    if let Some(status) = error.http_status_code() {
        let message = error.status().map(|status| status.message.as_str());
        return refused(status, message.unwrap_or_default());
    }
    if error.is_authentication() {
        return unauthenticated(error);
    }
    BucketError::Silent(format!("Google Cloud Storage can't be reached: {error}"))
}

/// An invalid key stays invalid. If Google is asked for a token, the failure may be transient.
fn unauthenticated(error: &(dyn std::error::Error + 'static)) -> BucketError {
    let of_credentials = chain(error).find_map(|error| error.downcast_ref::<CredentialsError>());
    let reason = chain(error).last().map_or_else(String::new, ToString::to_string);
    let message = format!("The service account can't be used: {reason}");
    if of_credentials.is_some_and(CredentialsError::is_transient) {
        return BucketError::Silent(message);
    }
    BucketError::Refused(Refusal::by_google("authError", &message))
}

/// Maps a status to the reason by <https://cloud.google.com/storage/docs/json_api/v1/status-codes>. The response
/// contains the reason too, but the client library drops it.
fn refused(status: u16, message: &str) -> BucketError {
    let reason = match status {
        401 => "authError",
        403 => "forbidden",
        404 => "notFound",
        408 => "uploadBrokenConnection",
        412 => "conditionNotMet",
        429 => "rateLimitExceeded",
        500.. => "backendError",
        _ => "invalid",
    };
    let message = match message {
        "" => &format!("Google Cloud Storage responded with status {status}."),
        message => message,
    };
    let refusal = Refusal::by_google(reason, message).with_status(status);
    if status >= 500 || matches!(status, 408 | 429) {
        BucketError::Busy(refusal)
    } else {
        BucketError::Refused(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_from_what_stays() {
        for status in [408, 429, 500, 503] {
            assert!(matches!(refused(status, "no"), BucketError::Busy(_)), "{status}");
        }
        for (status, reason) in [
            (400, "invalid"),
            (401, "authError"),
            (403, "forbidden"),
            (404, "notFound"),
            (412, "conditionNotMet"),
        ] {
            match refused(status, "no") {
                BucketError::Refused(refusal) => assert_eq!(refusal.code(), reason),
                other => panic!("{status}: {other:?}"),
            }
        }
    }
}
