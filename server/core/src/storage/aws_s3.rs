//! Buckets in Amazon S3 and in S3-compatible stores.
//!
//! The address of an S3-compatible store is chosen by a tenant, so every connection to it goes to an address that the
//! egress guard has allowed.

mod bounded;
pub mod role;

use std::{
    error::Error,
    fmt, io,
    sync::{Arc, OnceLock},
};

use aws_sdk_s3::{
    Client,
    config::{
        BehaviorVersion, Config, Credentials, Region, SharedCredentialsProvider, SharedHttpClient, http::HttpResponse,
        retry::RetryConfig, timeout::TimeoutConfig,
    },
    error::{ProvideErrorMetadata, SdkError},
};
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::dns::{DnsFuture, ResolveDns, ResolveDnsError};
use bytes::Bytes;
use platen_domain::{
    connection::{
        Settings,
        credentials::{AccessKey, Role},
    },
    ids::AccountId,
};
use platen_egress::guard::{ConnectError, Guard};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use url::Url;

use crate::{
    config::storage::TokenService,
    storage::{
        aws_s3::bounded::bounded,
        bucket::{BucketError, CONNECT_TIMEOUT, Obstacle, Refusal, chain},
    },
};

/// The region sent to stores without regions.
const ANY_REGION: &str = "us-east-1";

/// The cryptography library that the whole service uses.
const TLS: Provider = Provider::Rustls(CryptoMode::AwsLc);

/// Creates clients of buckets; cheap to clone.
#[derive(Clone)]
pub struct AwsS3 {
    guard: Arc<Guard>,
    /// Connects to Amazon's addresses, and is shared by all storage connections.
    http: SharedHttpClient,
    /// For buckets of the operator, whose responses are not bounded.
    own_http: SharedHttpClient,
    /// If `None`, no roles can be assumed.
    token_service: Option<Arc<TokenService>>,
}

impl AwsS3 {
    /// Creates the factory; `guard` decides which S3-compatible stores may be reached.
    pub fn new(guard: Arc<Guard>, token_service: Option<TokenService>) -> Self {
        let own_http = Builder::new().tls_provider(TLS).build_https();
        Self {
            guard,
            http: bounded(own_http.clone()),
            own_http,
            token_service: token_service.map(Arc::new),
        }
    }

    /// Returns whether roles can be assumed.
    pub fn can_assume_roles(&self) -> bool {
        self.token_service.is_some()
    }

    /// Returns the bucket of a storage connection, accessed with the tenant's key.
    pub fn bucket(&self, settings: &Settings, key: &AccessKey) -> Bucket {
        self.bucket_by(settings, credentials(key))
    }

    /// Returns a bucket of the operator, which may be at any address.
    pub fn own_bucket(&self, name: &str, region: Option<&str>, endpoint: Option<&Url>, key: &AccessKey) -> Bucket {
        Bucket {
            client: client(region, credentials(key), self.own_http.clone(), endpoint),
            name: name.to_owned(),
            endpoint: None,
        }
    }

    /// Returns the bucket of a storage connection, accessed in a role that the service assumes for the account.
    pub fn bucket_in_role(&self, settings: &Settings, role: &Role, account: AccountId) -> Result<Bucket, BucketError> {
        let token_service = self.token_service.as_ref().ok_or_else(|| {
            let message = "The service has no AWS identity to assume a role with.";
            BucketError::Refused(Refusal::by_s3("AccessDenied", message))
        })?;
        let region = settings.region.as_deref().unwrap_or(ANY_REGION);
        let role = token_service.role(self.http.clone(), region, &role.role_arn, account);
        Ok(self.bucket_by(settings, SharedCredentialsProvider::new(role)))
    }

    fn bucket_by(&self, settings: &Settings, credentials: SharedCredentialsProvider) -> Bucket {
        let endpoint = settings.endpoint.as_ref().map(|url| Endpoint::new(&self.guard, url));
        let http = endpoint.as_ref().map_or_else(
            || self.http.clone(),
            |endpoint| bounded(Builder::new().tls_provider(TLS).build_with_resolver(endpoint.clone())),
        );
        let url = endpoint.as_ref().map(|endpoint| &endpoint.url);
        Bucket {
            client: client(settings.region.as_deref(), credentials, http, url),
            name: settings.bucket.clone(),
            endpoint,
        }
    }
}

/// `endpoint` is the address of a store other than Amazon's.
fn client(
    region: Option<&str>,
    credentials: SharedCredentialsProvider,
    http: SharedHttpClient,
    endpoint: Option<&Url>,
) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(region.unwrap_or(ANY_REGION).to_owned()))
        .credentials_provider(credentials)
        // Requests are retried by the job queue.
        .retry_config(RetryConfig::disabled())
        .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECT_TIMEOUT).build())
        .http_client(http);
    let config = match endpoint {
        None => config,
        // Few other stores have a host name for each bucket.
        Some(url) => config.endpoint_url(url.as_str()).force_path_style(true),
    };
    Client::from_conf(config.build())
}

fn credentials(key: &AccessKey) -> SharedCredentialsProvider {
    let secret = key.secret_access_key.expose_secret();
    SharedCredentialsProvider::new(Credentials::new(&key.access_key_id, secret, None, None, "settings"))
}

/// A store other than Amazon's.
#[derive(Clone)]
struct Endpoint {
    guard: Arc<Guard>,
    url: Url,
    port: u16,
}

impl Endpoint {
    fn new(guard: &Arc<Guard>, url: &Url) -> Self {
        Self {
            guard: guard.clone(),
            port: url.port_or_known_default().unwrap_or_default(),
            url: url.clone(),
        }
    }

    /// Checks that the store's address may be reached. Required because IP addresses don't pass through the resolver,
    /// and because refusals must be distinguished from transient errors.
    async fn check(&self) -> Result<(), BucketError> {
        let host = self.url.host_str().unwrap_or_default();
        match self.guard.resolve(host, self.port).await {
            Ok(_) => Ok(()),
            Err(ConnectError::Refused(refusal)) => Err(BucketError::Blocked(Refusal::by_s3(
                "AccessDenied",
                &format!("The endpoint {host} resolves to {refusal}, which the service doesn't connect to."),
            ))),
            Err(error) => {
                let reason = format!("the endpoint {host}: {error}");
                Err(BucketError::Unreachable(Obstacle::Name, reason))
            }
        }
    }
}

impl ResolveDns for Endpoint {
    fn resolve_dns<'a>(&'a self, name: &'a str) -> DnsFuture<'a> {
        DnsFuture::new(async move {
            let addresses = self.guard.resolve(name, self.port).await;
            let addresses = addresses.map_err(ResolveDnsError::new)?;
            Ok(addresses.into_iter().map(|address| address.ip()).collect())
        })
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Endpoint").field(&self.url.as_str()).finish()
    }
}

#[derive(Debug, Clone)]
pub struct Bucket {
    client: Client,
    name: String,
    endpoint: Option<Endpoint>,
}

impl Bucket {
    /// See [`super::bucket::Bucket::put`].
    pub async fn put(&self, path: &str, pdf: Bytes) -> Result<Value, BucketError> {
        self.check().await?;
        let location = Arc::new(OnceLock::new());
        let seen = location.clone();
        let put = self
            .client
            .put_object()
            .bucket(&self.name)
            .key(path)
            .content_type("application/pdf")
            // It includes a CRC-32 with which the store verifies the upload.
            .body(pdf.into())
            .customize()
            .mutate_request(move |request| {
                let _ = seen.set(without_query(request.uri()));
            });
        let answer = put.send().await.map_err(failure)?;
        Ok(json!({
            "bucket": self.name,
            "key": path,
            "etag": answer.e_tag(),
            "location": location.get(),
        }))
    }

    /// See [`super::bucket::Bucket::get`].
    pub async fn get(&self, path: &str, most: usize) -> Result<Vec<u8>, BucketError> {
        self.check().await?;
        let get = self.client.get_object().bucket(&self.name).key(path);
        let answer = get.send().await.map_err(failure)?;
        let mut body = answer.body;
        let mut content = Vec::new();
        while let Some(piece) = body.next().await {
            let interrupted = |error| BucketError::Silent(format!("the store's response was interrupted: {error}"));
            content.extend_from_slice(&piece.map_err(interrupted)?);
            if content.len() > most {
                return Err(BucketError::Silent("the object is longer than expected".into()));
            }
        }
        Ok(content)
    }

    /// See [`super::bucket::Bucket::delete`].
    pub async fn delete(&self, path: &str) -> Result<(), BucketError> {
        self.check().await?;
        let delete = self.client.delete_object().bucket(&self.name).key(path);
        delete.send().await.map_err(failure)?;
        Ok(())
    }

    async fn check(&self) -> Result<(), BucketError> {
        match &self.endpoint {
            Some(endpoint) => endpoint.check().await,
            None => Ok(()),
        }
    }
}

/// The address of an object is that of its upload, without the query.
fn without_query(uri: &str) -> String {
    uri.split('?').next().unwrap_or_default().to_owned()
}

/// Classifies an error. An error of assuming a role is reported as an error of the bucket.
fn failure<E>(error: SdkError<E, HttpResponse>) -> BucketError
where
    E: ProvideErrorMetadata + Error + 'static,
{
    if let Some(of_role) = chain(&error).find_map(|error| error.downcast_ref::<BucketError>()) {
        return of_role.clone();
    }
    match error {
        SdkError::ServiceError(answer) => {
            let status = answer.raw().status().as_u16();
            refused(status, answer.err().code(), answer.err().message())
        }
        SdkError::TimeoutError(_) => {
            BucketError::Unreachable(Obstacle::Timeout, "the store did not respond in time".into())
        }
        SdkError::DispatchFailure(failure) => {
            let error = failure.as_connector_error();
            let reason = error.map_or_else(|| "unknown reason".into(), |error| root_cause(error));
            let reason = format!("the store can't be reached: {reason}");
            match error {
                Some(error) if error.is_timeout() => BucketError::Unreachable(Obstacle::Timeout, reason),
                Some(error) if error.is_io() => BucketError::Unreachable(obstacle(error), reason),
                _ => BucketError::Silent(reason),
            }
        }
        SdkError::ResponseError(answer) => {
            let status = answer.raw().status().as_u16();
            BucketError::Silent(format!("the store's response with status {status} can't be read"))
        }
        // The request can't be built, for instance because the bucket's name is invalid, and will fail again.
        SdkError::ConstructionFailure(_) => BucketError::Refused(Refusal::by_s3(
            "InvalidRequest",
            "Requests to this bucket can't be created; its name or region may be wrong.",
        )),
        _ => BucketError::Silent("the request to the store failed".into()),
    }
}

/// Classifies an error response by <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>.
fn refused(status: u16, code: Option<&str>, message: Option<&str>) -> BucketError {
    /// Codes of transient errors with a status below 500.
    const PASSING: [&str; 10] = [
        "BadDigest",
        "ConditionalRequestConflict",
        "ExpiredToken",
        "IncompleteBody",
        "OperationAborted",
        // The clock of this machine is wrong; that of another may be right.
        "RequestTimeTooSkewed",
        "RequestTimeout",
        "Throttling",
        "ThrottlingException",
        "XAmzContentChecksumMismatch",
    ];
    let code = match (code, status) {
        (Some(code), _) => code,
        (None, 401 | 403) => "AccessDenied",
        (None, 404) => "NoSuchBucket",
        (None, 408) => "RequestTimeout",
        (None, 429) => "SlowDown",
        (None, 503) => "ServiceUnavailable",
        (None, 500..) => "InternalError",
        (None, _) => "InvalidRequest",
    };
    let message = message.map_or_else(|| format!("The store responded with status {status}."), str::to_owned);
    let refusal = Refusal::by_s3(code, &message).with_status(status);
    if status >= 500 || matches!(status, 408 | 429) || PASSING.contains(&code) {
        BucketError::Busy(refusal)
    } else {
        BucketError::Refused(refusal)
    }
}

/// Returns the obstacle that an I/O error shows. TLS reports certificates and messages that it rejects as invalid data.
fn obstacle(error: &(dyn Error + 'static)) -> Obstacle {
    let mut errors = chain(error).filter_map(|error| error.downcast_ref::<io::Error>());
    if errors.any(is_invalid_data) {
        Obstacle::Tls
    } else {
        Obstacle::Connection
    }
}

/// An I/O error that wraps another one doesn't return it as its source.
fn is_invalid_data(error: &io::Error) -> bool {
    let wrapped = error.get_ref().and_then(|error| error.downcast_ref());
    error.kind() == io::ErrorKind::InvalidData || wrapped.is_some_and(is_invalid_data)
}

/// Returns the last error of the chain, which is the most specific one.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map_or_else(String::new, ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_from_what_stays() {
        for (status, code) in [
            (500, Some("InternalError")),
            (503, Some("SlowDown")),
            (503, None),
            (429, None),
            (400, Some("RequestTimeout")),
            (400, Some("BadDigest")),
            (403, Some("RequestTimeTooSkewed")),
            (409, Some("OperationAborted")),
        ] {
            let error = refused(status, code, None);
            assert!(matches!(error, BucketError::Busy(_)), "{status} {code:?}: {error:?}");
        }
        for (status, code, told) in [
            (404, Some("NoSuchBucket"), "NoSuchBucket"),
            (403, Some("AccessDenied"), "AccessDenied"),
            (403, Some("InvalidAccessKeyId"), "InvalidAccessKeyId"),
            (301, Some("PermanentRedirect"), "PermanentRedirect"),
            (403, None, "AccessDenied"),
            (404, None, "NoSuchBucket"),
            (400, None, "InvalidRequest"),
        ] {
            match refused(status, code, Some("No.")) {
                BucketError::Refused(refusal) => {
                    assert_eq!((refusal.code(), refusal.message()), (told, "No."));
                }
                other => panic!("{status} {code:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_location_is_the_address_without_what_is_asked() {
        let uri = "https://b.s3.eu-central-1.amazonaws.com/a/%C3%A4.pdf?x-id=PutObject";
        assert_eq!(
            without_query(uri),
            "https://b.s3.eu-central-1.amazonaws.com/a/%C3%A4.pdf"
        );
    }
}
