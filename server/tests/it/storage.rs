//! Documents in real object stores, and failures on the way.

use std::sync::Arc;

use axum::body::Bytes;
use platen_core::{
    config::storage::{DefaultStorageConfig, StorageConfig},
    storage::{
        bucket::{Bucket, BucketError},
        object_stores::ObjectStores,
    },
};
use platen_domain::{
    connection::{Settings, credentials::Credentials},
    destination::Provider,
    ids::AccountId,
};
use platen_egress::{
    guard::{Guard, GuardLimits},
    policy::AddressPolicy,
    resolve::SystemResolver,
};
use serde_json::{Value, json};

use crate::support::{
    fault_proxy::{Fault, FaultProxy},
    object_stores::{Access, access_key, gcs, s3, service_account_key},
};

/// Spaces, non-ASCII letters, and characters with a meaning in URLs.
const PATH: &str = "2026/11/ä b+c%20?#&'.pdf";
/// Maximum size of objects, in bytes.
const LONGEST: usize = 64 << 10;

fn stores(allow: &str, gcs_endpoint: &str) -> ObjectStores {
    let guard = Guard::new(
        AddressPolicy::new(allow.parse().expect("a list")),
        Arc::new(SystemResolver::default()),
        GuardLimits::default(),
    );
    let config = StorageConfig {
        default: DefaultStorageConfig {
            name: "platen-renders".into(),
            bucket: None,
            public_url: None,
        },
        gcs_endpoint: gcs_endpoint.parse().expect("an address"),
        impersonator: None,
        token_service: None,
    };
    ObjectStores::new(guard, &config).expect("clients")
}

async fn s3_bucket(endpoint: &str, name: &str, credentials: Value) -> Bucket {
    let settings = Settings {
        provider: Provider::AwsS3,
        name: "tests".into(),
        bucket: name.into(),
        path_prefix: String::new(),
        region: None,
        endpoint: Some(endpoint.parse().expect("an address")),
    };
    let credentials = Credentials::from_value(Provider::AwsS3, credentials).expect("credentials");
    let stores = stores("127.0.0.1", "http://127.0.0.1:1");
    stores
        .bucket(AccountId::generate(), &settings, &credentials)
        .await
        .expect("a bucket")
}

async fn gcs_bucket(endpoint: &str, name: &str) -> Bucket {
    let settings = Settings {
        provider: Provider::GoogleCloudStorage,
        name: "tests".into(),
        bucket: name.into(),
        path_prefix: String::new(),
        region: None,
        endpoint: None,
    };
    let credentials = Credentials::from_value(Provider::GoogleCloudStorage, service_account_key());
    let stores = stores("", endpoint);
    stores
        .bucket(AccountId::generate(), &settings, &credentials.expect("credentials"))
        .await
        .expect("a bucket")
}

/// Returns content that any checksum distinguishes from other content.
fn document(bytes: usize) -> Bytes {
    (0..bytes).map(|index| (index * 7 % 251) as u8).collect()
}

#[track_caller]
fn refusal(outcome: Result<Value, BucketError>) -> Value {
    let error = outcome.expect_err("a refusal");
    assert!(
        matches!(error, BucketError::Refused(_) | BucketError::Blocked(_)),
        "{error:?}"
    );
    error.result().expect("words")
}

#[tokio::test]
async fn s3_takes_a_document_and_gives_it_back() {
    let store = s3().await;
    let name = store.bucket(Access::Full);
    let bucket = s3_bucket(&store.endpoint(), &name, access_key()).await;
    let pdf = document(50_000);
    let result = bucket.put(PATH, pdf.clone()).await.expect("it is stored");
    assert_eq!(
        result.as_object().expect("members").keys().collect::<Vec<_>>(),
        ["bucket", "key", "etag", "location"]
    );
    assert_eq!(result["bucket"], name);
    assert_eq!(result["key"], PATH);
    let etag = result["etag"].as_str().expect("text");
    assert!(etag.starts_with('"') && etag.len() == 34, "{etag}");
    let location = format!(
        "{}/{name}/2026/11/%C3%A4%20b%2Bc%2520%3F%23%26%27.pdf",
        store.endpoint()
    );
    assert_eq!(result["location"], location);
    let stored = store.object(&name, PATH).await.expect("an object");
    assert_eq!(stored.content_type, "application/pdf");
    assert_eq!(stored.content, pdf);

    assert_eq!(bucket.get(PATH, pdf.len()).await.expect("it is there"), pdf);
    bucket.delete(PATH).await.expect("it can be deleted");
    assert_eq!(store.keys(&name).await, [""; 0]);
}

#[tokio::test]
async fn google_takes_a_document_and_gives_it_back() {
    let store = gcs().await;
    let name = store.bucket().await;
    let bucket = gcs_bucket(&store.endpoint(), &name).await;
    // By default, the client library would upload the second document in chunks.
    for (path, bytes) in [(PATH, 50_000), ("large.pdf", 17 << 20)] {
        let pdf = document(bytes);
        let result = bucket.put(path, pdf.clone()).await.expect("it is stored");
        assert_eq!(result["bucket"], name);
        assert_eq!(result["name"], path);
        assert_eq!(result["size"], bytes.to_string());
        assert_eq!(store.object(&name, path).await.expect("an object"), pdf);
        match bucket.get(path, LONGEST).await {
            Ok(content) => assert_eq!(content, pdf),
            Err(error) => assert!(bytes > 64 * 1024, "{error}"),
        }
        bucket.delete(path).await.expect("it can be deleted");
        assert_eq!(store.names(&name).await, [""; 0]);
    }
}

/// fake-gcs-server drops the content type of single-request uploads, and doesn't verify checksums.
#[tokio::test]
async fn google_is_told_type_and_checksums() {
    let store = gcs().await;
    let proxy = FaultProxy::before(&store.authority, []).await;
    let bucket = gcs_bucket(&proxy.endpoint(), &store.bucket().await).await;
    bucket.put("a.pdf", document(1000)).await.expect("it is stored");
    let [request] = proxy.requests().try_into().expect("one request");
    for told in [
        r#""contentType":"application/pdf""#,
        r#""crc32c":"o0U3eg==""#,
        r#""md5Hash":"Sy83/EmhNLF8cnX9BKG3rA==""#,
        "authorization: Bearer ",
    ] {
        assert!(request.contains(told), "{told} is missing in {request}");
    }
}

#[tokio::test]
async fn google_tells_of_an_object_as_its_json_api_does() {
    let store = gcs().await;
    let name = store.bucket().await;
    let bucket = gcs_bucket(&store.endpoint(), &name).await;
    let result = bucket.put("a/b c.pdf", document(1000)).await.expect("it is stored");
    let generation = result["generation"].as_str().expect("digits");
    assert!(generation.parse::<u64>().is_ok(), "{generation}");
    let times = ["timeCreated", "updated", "timeStorageClassUpdated"];
    for time in times {
        let text = result[time].as_str().unwrap_or_else(|| panic!("{time} in {result}"));
        assert!(text.len() == 24 && text.ends_with('Z'), "{time}: {text}");
    }
    let object = "a%2Fb%20c.pdf";
    let expected = json!({
        "bucket": name,
        "name": "a/b c.pdf",
        "id": format!("{name}/a/b c.pdf/{generation}"),
        "etag": result["etag"],
        "md5Hash": "Sy83/EmhNLF8cnX9BKG3rA==",
        "size": "1000",
        "storageClass": "STANDARD",
        "timeCreated": result["timeCreated"],
        "mediaLink": format!(
            "https://storage.googleapis.com/download/storage/v1/b/{name}/o/{object}?generation={generation}&alt=media"
        ),
        "selfLink": format!("https://www.googleapis.com/storage/v1/b/{name}/o/{object}"),
        "generation": generation,
        "metageneration": "1",
        "crc32c": "o0U3eg==",
        // Unlike Google, fake-gcs-server returns neither this field nor the content type.
        "timeFinalized": null,
        "updated": result["updated"],
        "timeStorageClassUpdated": result["timeStorageClassUpdated"],
        "kind": "storage#object",
        "softDeleteTime": null,
        "hardDeleteTime": null,
        "contentLanguage": null,
        "retention": null,
        "retentionExpirationTime": null,
        "kmsKeyName": null,
        "customTime": null,
        "contentEncoding": null,
        "eventBasedHold": null,
        "temporaryHold": null,
        "componentCount": null,
        "cacheControl": null,
        "owner": null,
        "restoreToken": null,
        "contentType": null,
        "customerEncryption": null,
        "timeDeleted": null,
        "metadata": null,
        "acl": null,
        "contentDisposition": null,
    });
    assert_eq!(result, expected);
}

#[tokio::test]
async fn what_a_store_refuses_is_told_in_its_words() {
    let store = s3().await;
    let put = async |name: &str, credentials| {
        let bucket = s3_bucket(&store.endpoint(), name, credentials).await;
        refusal(bucket.put("a.pdf", document(10)).await)
    };
    let missing = put("nowhere", access_key()).await;
    let message = "The specified bucket does not exist";
    assert_eq!(
        missing,
        json!({"error": "s3_error", "code": "NoSuchBucket", "message": message})
    );
    let closed = put(&store.bucket(Access::None), access_key()).await;
    let denied = json!({"error": "s3_error", "code": "AccessDenied", "message": "Access Denied."});
    assert_eq!(closed, denied);
    let open = store.bucket(Access::Full);
    let wrong = put(&open, json!({"access_key_id": "platen", "secret_access_key": "wrong"})).await;
    assert_eq!(wrong["code"], "SignatureDoesNotMatch");
    let unknown = put(&open, json!({"access_key_id": "nobody", "secret_access_key": "wrong"})).await;
    assert_eq!(unknown["code"], "InvalidAccessKeyId");

    let google = gcs_bucket(&gcs().await.endpoint(), "nowhere").await;
    let missing = refusal(google.put("a.pdf", document(10)).await);
    assert_eq!(
        (&missing["error"], &missing["reason"]),
        (&json!("gcs_error"), &json!("notFound"))
    );
}

/// In Google's format.
const FORBIDDEN: &str = r#"{"error": {"code": 403, "message": "platen@tests.iam.gserviceaccount.com does not have storage.objects.create access to the Google Cloud Storage object.", "errors": [{"message": "no", "domain": "global", "reason": "forbidden"}]}}"#;

#[tokio::test]
async fn google_s_message_is_passed_on() {
    let store = gcs().await;
    let faults = [
        Fault::Answered(403, "application/json", FORBIDDEN),
        Fault::Answered(
            401,
            "application/json",
            r#"{"error": {"code": 401, "message": "Invalid Credentials"}}"#,
        ),
        Fault::Answered(403, "text/html", "<html>"),
    ];
    let proxy = FaultProxy::before(&store.authority, faults).await;
    let bucket = gcs_bucket(&proxy.endpoint(), &store.bucket().await).await;
    let mut told = Vec::new();
    while proxy.faults_left() > 0 {
        told.push(refusal(bucket.put("a.pdf", document(10)).await));
    }
    let said = |reason: &str, message: &str| json!({"error": "gcs_error", "message": message, "reason": reason});
    let no_access = "platen@tests.iam.gserviceaccount.com does not have storage.objects.create access to the Google Cloud \
                     Storage object.";
    assert_eq!(
        told,
        [
            said("forbidden", no_access),
            said("authError", "Invalid Credentials"),
            said("forbidden", "Google Cloud Storage responded with status 403."),
        ]
    );
}

const SLOW_DOWN: &str = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>";

fn passing_faults(kind: &'static str, body: &'static str) -> [Fault; 6] {
    [
        Fault::Dropped,
        Fault::AnswerLost,
        Fault::AnswerCut,
        Fault::Answered(503, kind, body),
        Fault::Answered(500, "text/html", "<html>"),
        Fault::Answered(429, kind, ""),
    ]
}

/// Retries until no fault is left. Every failure must be transient.
async fn put_again_and_again(bucket: &Bucket, proxy: &FaultProxy, pdf: &Bytes) -> Value {
    while proxy.faults_left() > 0 {
        let before = proxy.faults_left();
        match bucket.put("a.pdf", pdf.clone()).await {
            Err(BucketError::Busy(_) | BucketError::Unreachable(..) | BucketError::Silent(_)) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(proxy.faults_left(), before - 1, "one try is one request");
    }
    bucket.put("a.pdf", pdf.clone()).await.expect("nothing is in the way")
}

#[tokio::test]
async fn after_faults_that_pass_s3_has_one_object() {
    let store = s3().await;
    let name = store.bucket(Access::Full);
    let proxy = FaultProxy::before(&store.authority, passing_faults("application/xml", SLOW_DOWN)).await;
    let bucket = s3_bucket(&proxy.endpoint(), &name, access_key()).await;
    let pdf = document(50_000);
    put_again_and_again(&bucket, &proxy, &pdf).await;
    assert_eq!(store.keys(&name).await, ["a.pdf"]);
    assert_eq!(store.object(&name, "a.pdf").await.expect("an object").content, pdf);
}

#[tokio::test]
async fn after_faults_that_pass_google_has_one_object() {
    let store = gcs().await;
    let name = store.bucket().await;
    let faults = passing_faults(
        "application/json",
        r#"{"error": {"code": 503, "message": "Backend Error"}}"#,
    );
    let proxy = FaultProxy::before(&store.authority, faults).await;
    let bucket = gcs_bucket(&proxy.endpoint(), &name).await;
    let pdf = document(50_000);
    let result = put_again_and_again(&bucket, &proxy, &pdf).await;
    assert_eq!(result["size"], "50000");
    assert_eq!(store.names(&name).await, ["a.pdf"]);
    assert_eq!(store.object(&name, "a.pdf").await.expect("an object"), pdf);
}

#[tokio::test]
async fn a_slow_store_is_waited_for() {
    let store = s3().await;
    let name = store.bucket(Access::Full);
    let proxy = FaultProxy::before(&store.authority, [Fault::Slow]).await;
    let bucket = s3_bucket(&proxy.endpoint(), &name, access_key()).await;
    bucket.put("a.pdf", document(10)).await.expect("in the end");
    let store = gcs().await;
    let name = store.bucket().await;
    let proxy = FaultProxy::before(&store.authority, [Fault::Slow]).await;
    let bucket = gcs_bucket(&proxy.endpoint(), &name).await;
    bucket.put("a.pdf", document(10)).await.expect("in the end");
}

#[tokio::test]
async fn an_endpoint_at_a_private_address_is_not_reached() {
    let store = s3().await;
    let settings = |endpoint: &str| Settings {
        provider: Provider::AwsS3,
        name: "tests".into(),
        bucket: "open".into(),
        path_prefix: String::new(),
        region: None,
        endpoint: Some(endpoint.parse().expect("an address")),
    };
    let credentials = Credentials::from_value(Provider::AwsS3, access_key()).expect("credentials");
    let stores = stores("", "http://127.0.0.1:1");
    let (_, port) = store.authority.split_once(':').expect("a port");
    for host in ["127.0.0.1", "localhost", "store.localhost"] {
        let endpoint = format!("http://{host}:{port}");
        let bucket = stores
            .bucket(AccountId::generate(), &settings(&endpoint), &credentials)
            .await
            .expect("a bucket");
        let told = refusal(bucket.put("a.pdf", document(10)).await);
        assert_eq!(told["code"], "AccessDenied", "{host}");
        assert!(
            told["message"].as_str().expect("text").contains("a loopback address"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_is_not_read_to_its_end() {
    let store = s3().await;
    let proxy = FaultProxy::before(&store.authority, [Fault::Endless, Fault::Endless, Fault::Endless]).await;
    let bucket = s3_bucket(&proxy.endpoint(), &store.bucket(Access::Full), access_key()).await;
    let errors = [
        bucket.put("a.pdf", document(10)).await.map(drop),
        bucket.get("a.pdf", LONGEST).await.map(drop),
        bucket.delete("a.pdf").await,
    ];
    for error in errors {
        match error.expect_err("an endless answer") {
            // Not the timeout of one minute.
            BucketError::Silent(reason) => assert!(!reason.contains("within"), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
}
