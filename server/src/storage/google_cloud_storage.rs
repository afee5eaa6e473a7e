//! Buckets in Google Cloud Storage. Its address is the operator's to say, never a tenant's.

pub mod impersonation;

use std::{panic::resume_unwind, sync::Arc};

use axum::{
    body::Bytes,
    http::{Extensions, HeaderMap},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::FutureExt;
use google_cloud_auth::{
    build_errors,
    credentials::{CacheableResource, Credentials, service_account},
};
use google_cloud_gax::{error::CredentialsError, retry_policy::NeverRetry};
use google_cloud_storage::{Error, client::Storage, model::Object};
use md5::{Digest, Md5};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};
use url::Url;

use crate::{
    domain::connection::credentials::{ImpersonatedServiceAccount, ServiceAccountKey},
    storage::{
        bucket::{BucketError, CONNECT_TIMEOUT, LONGEST_ANSWER, Refusal, chain},
        google_cloud_storage::impersonation::Impersonator,
    },
};

/// An object's name as one segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

type BuildResult = Result<Credentials, build_errors::Error>;

/// What makes buckets; cheap to clone.
#[derive(Debug, Clone)]
pub struct GoogleCloudStorage {
    endpoint: Arc<Url>,
    /// Without it the service can act as nobody.
    impersonator: Option<Arc<Impersonator>>,
    /// For the one request that the client library makes over gRPC only.
    http: reqwest::Client,
}

impl GoogleCloudStorage {
    /// Reaches the store at `endpoint`.
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

    /// A bucket, by a service account's own key.
    pub async fn bucket(&self, name: &str, key: &ServiceAccountKey) -> Result<Bucket, BucketError> {
        let credentials = service_account::Builder::new(key_file(key)).build();
        self.bucket_by(name, credentials).await
    }

    /// Whether the service can act as somebody else.
    pub fn can_impersonate(&self) -> bool {
        self.impersonator.is_some()
    }

    /// A bucket, as a service account that has let the service act as it. Whether that is meant for an account of ours is
    /// for the caller to find out.
    pub async fn bucket_as(&self, name: &str, account: &ImpersonatedServiceAccount) -> Result<Bucket, BucketError> {
        let impersonator = self.impersonator.as_ref().ok_or_else(|| {
            let message = "The service has no identity at Google by which it could act as a service account.";
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
            // The queue tries again, from the beginning: one request is enough, however large the document.
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

/// A key as the client library reads it. It signs its own tokens: nobody is asked for one.
fn key_file(key: &ServiceAccountKey) -> Value {
    json!({
        "type": "service_account",
        "client_email": key.client_email,
        "private_key_id": key.private_key_id,
        "private_key": key.private_key.expose_secret(),
        "project_id": "",
    })
}

/// A bucket; cheap to clone.
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
            // The store checks what arrives against them. Sent ahead, because not every store reads them behind.
            .with_known_crc32c(checksums.crc32c)
            .with_known_md5_hash(checksums.md5)
            .send_unbuffered();
        let object = write.boxed().await.map_err(|error| failure(&error))?;
        Ok(result(&self.name, object))
    }

    /// See [`super::bucket::Bucket::get`].
    pub async fn get(&self, path: &str) -> Result<Vec<u8>, BucketError> {
        let read = self.storage.read_object(self.resource(), path);
        let mut answer = read.send().boxed().await.map_err(|error| failure(&error))?;
        let mut content = Vec::new();
        while let Some(piece) = answer.next().await {
            content.extend_from_slice(&piece.map_err(|error| failure(&error))?);
            if content.len() > LONGEST_ANSWER {
                return Err(BucketError::Silent(
                    "the object is longer than what was looked for".into(),
                ));
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
            // Said only to those who name a version that they have.
            Ok(CacheableResource::NotModified) => Ok(HeaderMap::new()),
            Err(error) => Err(unauthenticated(&error)),
        }
    }

    /// The bucket's name as the client library wants it.
    fn resource(&self) -> String {
        format!("projects/_/buckets/{}", self.name)
    }
}

struct Checksums {
    crc32c: u32,
    md5: [u8; 16],
}

/// Computed off the threads that serve requests.
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

/// What is wrong with a key stays wrong. Where Google is asked for a token, that may just not work now.
fn unauthenticated(error: &(dyn std::error::Error + 'static)) -> BucketError {
    let of_credentials = chain(error).find_map(|error| error.downcast_ref::<CredentialsError>());
    let reason = chain(error).last().map_or_else(String::new, ToString::to_string);
    let message = format!("The service account can't be used: {reason}");
    if of_credentials.is_some_and(CredentialsError::is_transient) {
        return BucketError::Silent(message);
    }
    BucketError::Refused(Refusal::by_google("authError", &message))
}

/// The words for it, by <https://cloud.google.com/storage/docs/json_api/v1/status-codes>. The answer has them as well, but
/// the client library drops them.
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
        "" => &format!("Google Cloud Storage answered with status {status}."),
        message => message,
    };
    let refusal = Refusal::by_google(reason, message);
    if status >= 500 || matches!(status, 408 | 429) {
        BucketError::Busy(refusal)
    } else {
        BucketError::Refused(refusal)
    }
}

/// What the JSON API says of an object. The client library knows it in the form of the gRPC API, which lacks addresses and
/// says nothing of what is not set.
fn result(bucket: &str, object: Object) -> Value {
    let name = utf8_percent_encode(&object.name, SEGMENT);
    let generation = object.generation.to_string();
    let checksums = object.checksums.unwrap_or_default();
    json!({
        "bucket": bucket,
        "name": object.name,
        "id": format!("{bucket}/{}/{generation}", object.name),
        "etag": object.etag,
        "md5Hash": set(BASE64_STANDARD.encode(checksums.md5_hash)),
        "size": object.size.to_string(),
        "storageClass": object.storage_class,
        "timeCreated": time_of(object.create_time),
        "mediaLink": format!(
            "https://storage.googleapis.com/download/storage/v1/b/{bucket}/o/{name}?generation={generation}&alt=media"
        ),
        "selfLink": format!("https://www.googleapis.com/storage/v1/b/{bucket}/o/{name}"),
        "generation": generation,
        "metageneration": object.metageneration.to_string(),
        "crc32c": checksums.crc32c.map(|crc| BASE64_STANDARD.encode(crc.to_be_bytes())),
        "timeFinalized": time_of(object.finalize_time),
        "updated": time_of(object.update_time),
        "timeStorageClassUpdated": time_of(object.update_storage_class_time),
        "kind": "storage#object",
        "softDeleteTime": time_of(object.soft_delete_time),
        "hardDeleteTime": time_of(object.hard_delete_time),
        "contentLanguage": set(object.content_language),
        // This and what else is always null is set by whoever writes an object, and not by us.
        "retention": null,
        "retentionExpirationTime": time_of(object.retention_expire_time),
        "kmsKeyName": set(object.kms_key),
        "customTime": time_of(object.custom_time),
        "contentEncoding": set(object.content_encoding),
        "eventBasedHold": object.event_based_hold,
        "temporaryHold": object.temporary_hold.then_some(true),
        "componentCount": (object.component_count != 0).then_some(object.component_count),
        "cacheControl": set(object.cache_control),
        // Told only to those who ask for it.
        "owner": null,
        "restoreToken": object.restore_token,
        "contentType": set(object.content_type),
        "customerEncryption": null,
        "timeDeleted": time_of(object.delete_time),
        "metadata": (!object.metadata.is_empty()).then_some(object.metadata),
        "acl": null,
        "contentDisposition": set(object.content_disposition),
    })
}

/// What is not set is empty text in gRPC.
fn set(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// Milliseconds, always three digits, as the JSON API writes them. The client library has the beginning of Unix time for
/// what the store did not say.
fn time_of(time: Option<impl Into<String>>) -> Option<String> {
    let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
    let time = OffsetDateTime::parse(&time?.into(), &Rfc3339).ok()?;
    (time != OffsetDateTime::UNIX_EPOCH).then(|| time.format(form).ok())?
}

#[cfg(test)]
mod tests {
    use google_cloud_storage::model::ObjectChecksums;

    use super::*;

    fn object() -> Object {
        let checksums = ObjectChecksums::new()
            .set_crc32c(0xa345_377a_u32)
            .set_md5_hash(Bytes::from_static(&[7; 16]));
        Object::new()
            .set_name("a/ä.pdf")
            .set_bucket("projects/_/buckets/documents")
            .set_generation(1_795_320_861_664_279_i64)
            .set_size(1000)
            .set_checksums(checksums)
    }

    #[test]
    fn what_the_client_library_drops_is_rebuilt() {
        let told = result("documents", object());
        for (name, value) in [
            ("bucket", "documents"),
            ("id", "documents/a/ä.pdf/1795320861664279"),
            (
                "selfLink",
                "https://www.googleapis.com/storage/v1/b/documents/o/a%2F%C3%A4.pdf",
            ),
            (
                "mediaLink",
                "https://storage.googleapis.com/download/storage/v1/b/documents/o/a%2F%C3%A4.pdf\
                 ?generation=1795320861664279&alt=media",
            ),
            ("kind", "storage#object"),
            ("size", "1000"),
            ("crc32c", "o0U3eg=="),
            ("md5Hash", "BwcHBwcHBwcHBwcHBwcHBw=="),
        ] {
            assert_eq!(told[name], value, "{name}");
        }
    }

    #[test]
    fn what_is_set_is_told_and_what_is_not_is_null() {
        let names = [
            "kmsKeyName",
            "contentType",
            "temporaryHold",
            "eventBasedHold",
            "componentCount",
            "metadata",
        ];
        let told = result("documents", object());
        for name in names {
            assert_eq!(told[name], Value::Null, "{name}");
        }
        let set = object()
            .set_kms_key("key")
            .set_content_type("application/pdf")
            .set_temporary_hold(true)
            .set_event_based_hold(false)
            .set_component_count(2)
            .set_metadata([("a", "b")]);
        let told = result("documents", set);
        let values = [
            json!("key"),
            json!("application/pdf"),
            json!(true),
            json!(false),
            json!(2),
            json!({"a": "b"}),
        ];
        for (name, value) in names.into_iter().zip(values) {
            assert_eq!(told[name], value, "{name}");
        }
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(
            time_of(Some("2026-11-22T09:30:00Z")).as_deref(),
            Some("2026-11-22T09:30:00.000Z")
        );
        assert_eq!(
            time_of(Some("2026-11-22T09:30:00.12Z")).as_deref(),
            Some("2026-11-22T09:30:00.120Z")
        );
        assert_eq!(time_of(Some("1970-01-01T00:00:00Z")), None);
        assert_eq!(time_of(None::<String>), None);
    }

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
