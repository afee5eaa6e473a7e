//! Documents with a destination in a client's bucket.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    background::parsed,
    fault_proxy::{Fault, FaultProxy},
    object_stores::{Access, access_key, gcs, s3, service_account_key},
    pdf,
    receiver::Receiver,
    studio::Studio,
};

/// Starts a service with `gcs_endpoint` as its Google Cloud Storage.
async fn studio(gcs_endpoint: &str) -> Studio {
    Studio::start_with(&[
        ("PLATEN_EGRESS_ALLOW", "127.0.0.1"),
        ("PLATEN_GCS_ENDPOINT", gcs_endpoint),
    ])
    .await
}

/// Starts a service without Google Cloud Storage.
async fn studio_of_s3() -> Studio {
    studio("http://127.0.0.1:1").await
}

impl Studio {
    /// Creates a connection and returns its path.
    async fn connect_to(&self, mut connection: Value) -> String {
        connection["name"] = format!("{}/{}", connection["bucket"], connection["path_prefix"]).into();
        self.connected(&connection).await
    }

    async fn connect_to_s3(&self, endpoint: &str, bucket: &str, path_prefix: &str) -> String {
        self.connect_to(json!({
            "provider": "aws_s3", "bucket": bucket, "path_prefix": path_prefix, "endpoint": endpoint,
            "credentials": access_key(),
        }))
        .await
    }

    async fn connect_to_google(&self, bucket: &str) -> String {
        let credentials = service_account_key();
        self.connect_to(json!({"provider": "google_cloud_storage", "bucket": bucket, "credentials": credentials}))
            .await
    }

    /// Renders a page to `destination`; returns the body of the webhook and the render as the API shows it.
    async fn delivered(&self, destination: &Destination<'_>) -> (Value, Value) {
        let receiver = Receiver::start().await;
        let id = self.queued(&destination.body(&receiver)).await;
        let [callback] = receiver.wait_for(1).await.try_into().ok().expect("one");
        (parsed(&callback.body), self.ended(&id).await)
    }
}

struct Destination<'a> {
    provider: &'static str,
    bucket: &'a str,
    path: &'a str,
}

impl Destination<'_> {
    fn body(&self, receiver: &Receiver) -> Value {
        json!({
            "parts": ["<h1>Delivered"],
            "destination": {"provider": self.provider, "bucket": self.bucket, "path": self.path},
            "callback": {"url": receiver.url("/ok")},
        })
    }
}

fn in_s3<'a>(bucket: &'a str, path: &'a str) -> Destination<'a> {
    Destination {
        provider: "aws_s3",
        bucket,
        path,
    }
}

fn at_google<'a>(bucket: &'a str, path: &'a str) -> Destination<'a> {
    Destination {
        provider: "google_cloud_storage",
        bucket,
        path,
    }
}

#[track_caller]
fn assert_page(document: &[u8]) {
    assert_eq!(pdf::page_count(document), 1);
    assert!(pdf::text(document).contains("Delivered"));
}

/// Every field of section 6.1 of the interface.
const OF_GOOGLE: [&str; 37] = [
    "acl",
    "bucket",
    "cacheControl",
    "componentCount",
    "contentDisposition",
    "contentEncoding",
    "contentLanguage",
    "contentType",
    "crc32c",
    "customTime",
    "customerEncryption",
    "etag",
    "eventBasedHold",
    "generation",
    "hardDeleteTime",
    "id",
    "kind",
    "kmsKeyName",
    "md5Hash",
    "mediaLink",
    "metadata",
    "metageneration",
    "name",
    "owner",
    "restoreToken",
    "retention",
    "retentionExpirationTime",
    "selfLink",
    "size",
    "softDeleteTime",
    "storageClass",
    "temporaryHold",
    "timeCreated",
    "timeDeleted",
    "timeFinalized",
    "timeStorageClassUpdated",
    "updated",
];

#[tokio::test]
async fn a_document_goes_into_a_bucket_of_s3() {
    let store = s3().await;
    let bucket = store.bucket(Access::WriteOnly);
    let studio = studio_of_s3().await;
    studio.connect_to_s3(&store.endpoint(), &bucket, "").await;
    let (body, render) = studio.delivered(&in_s3(&bucket, "2026/11/{{ number }}.pdf")).await;
    assert_eq!(body["status"], "success");
    let result = &body["result"];
    assert_eq!(
        *result,
        json!({
            "bucket": bucket,
            "key": "2026/11/{{ number }}.pdf",
            "etag": result["etag"],
            "location": format!("{}/{bucket}/2026/11/%7B%7B%20number%20%7D%7D.pdf", store.endpoint()),
        })
    );
    assert!(result["etag"].as_str().is_some_and(|etag| !etag.is_empty()));
    assert_eq!((&render["state"], &render["result"]), (&json!("succeeded"), result));
    // The document doesn't expire.
    assert_eq!(render["expires_at"], Value::Null);
}

#[tokio::test]
async fn what_is_in_the_bucket_is_the_document() {
    let store = s3().await;
    let bucket = store.bucket(Access::Full);
    let studio = studio_of_s3().await;
    studio.connect_to_s3(&store.endpoint(), &bucket, "").await;
    for _ in 0..2 {
        studio.delivered(&in_s3(&bucket, "a.pdf")).await;
    }
    assert_eq!(store.keys(&bucket).await, ["a.pdf"]);
    let object = store.object(&bucket, "a.pdf").await.expect("an object");
    assert_eq!(object.content_type, "application/pdf");
    assert_page(&object.content);
    // The service stores no copy.
    assert_eq!(studio.service.stored_documents().len(), 0);
}

#[tokio::test]
async fn a_document_goes_into_a_bucket_at_google() {
    let store = gcs().await;
    let bucket = store.bucket().await;
    let studio = studio(&store.endpoint()).await;
    studio.connect_to_google(&bucket).await;
    let (body, render) = studio.delivered(&at_google(&bucket, "2026/11/ä.pdf")).await;
    assert_eq!(body["status"], "success");
    let result = &body["result"];
    let fields: BTreeSet<_> = result
        .as_object()
        .expect("members")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(fields, BTreeSet::from(OF_GOOGLE));
    assert_eq!(
        (&result["bucket"], &result["name"]),
        (&json!(bucket), &json!("2026/11/ä.pdf"))
    );
    let document = store.object(&bucket, "2026/11/ä.pdf").await.expect("an object");
    assert_eq!(result["size"], document.len().to_string());
    assert_page(&document);
    assert_eq!((&render["state"], &render["result"]), (&json!("succeeded"), result));
}

#[tokio::test]
async fn what_a_store_refuses_is_told_at_once() {
    let (store, google) = (s3().await, gcs().await);
    let closed = store.bucket(Access::None);
    let proxy = FaultProxy::before(&store.authority, []).await;
    let studio = studio(&google.endpoint()).await;
    for bucket in ["no-such-bucket", &closed] {
        studio.connect_to_s3(&proxy.endpoint(), bucket, "").await;
    }
    studio.connect_to_google("no-such-bucket").await;
    let told = async |destination: Destination<'_>| {
        let (mut body, render) = studio.delivered(&destination).await;
        assert_eq!(body["status"], "failed");
        assert_eq!(
            (&render["state"], &render["credits_used"]),
            (&json!("failed"), &Value::Null)
        );
        (body["error"].take(), body["result"].take())
    };
    let message = "The specified bucket does not exist";
    assert_eq!(
        told(in_s3("no-such-bucket", "a.pdf")).await,
        (
            json!(format!("{message}.")),
            json!({"error": "s3_error", "code": "NoSuchBucket", "message": message})
        )
    );
    assert_eq!(
        told(in_s3(&closed, "a.pdf")).await,
        (
            json!("Access Denied."),
            json!({"error": "s3_error", "code": "AccessDenied", "message": "Access Denied."})
        )
    );
    assert_eq!(proxy.requests().len(), 2, "neither was tried again");
    let (error, result) = told(at_google("no-such-bucket", "a.pdf")).await;
    assert!(error.as_str().is_some_and(|error| !error.is_empty()));
    let message = result["message"].clone();
    assert_eq!(
        result,
        json!({"error": "gcs_error", "message": message, "reason": "notFound"})
    );
}

#[tokio::test]
async fn a_destination_that_no_connection_covers_is_refused_before_anything_is_queued() {
    let studio = studio_of_s3().await;
    let receiver = Receiver::start().await;
    studio
        .connect_to_s3("https://store.example", "documents", "invoices/")
        .await;
    let stranger = studio.service.account("bob@example.org");
    for (account, destination) in [
        (&studio.account, in_s3("documents", "a.pdf")),
        (&studio.account, in_s3("documents", "invoices")),
        (&studio.account, in_s3("documents", "invoices-of-others/a.pdf")),
        (&studio.account, in_s3("others", "invoices/a.pdf")),
        (&studio.account, at_google("documents", "invoices/a.pdf")),
        (&stranger, in_s3("documents", "invoices/a.pdf")),
    ] {
        let answer = studio.service.queue(account, &destination.body(&receiver)).await;
        assert_eq!(answer.status(), 403, "{}/{}", destination.bucket, destination.path);
        let body: Value = answer.json().await.expect("JSON");
        assert_eq!(body["error"], "forbidden");
        let message = body["message"].as_str().expect("a sentence");
        assert!(
            message.contains("No storage connection of the account covers"),
            "{message}"
        );
    }
    assert_eq!(studio.service.number("select count(*) from renders").await, 0);
}

#[tokio::test]
async fn a_connection_that_is_removed_meanwhile_is_a_refusal() {
    let receiver = Receiver::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1"), ("PLATEN_ROLE", "web")]).await;
    let path = studio.connect_to_s3("http://127.0.0.1:1", "documents", "").await;
    let id = studio.queued(&in_s3("documents", "a.pdf").body(&receiver)).await;
    let removed = studio.request(Method::DELETE, &path).send().await.expect("an answer");
    assert_eq!(removed.status(), 204);
    let settings = [("PLATEN_EGRESS_ALLOW", "127.0.0.1"), ("PLATEN_ROLE", "worker")];
    let _worker = studio.service.beside(&settings).await;
    let [callback] = receiver.wait_for(1).await.try_into().ok().expect("one");
    let body = parsed(&callback.body);
    assert_eq!(
        (&body["status"], &body["result"]["code"]),
        (&json!("failed"), &json!("AccessDenied"))
    );
    let message = body["error"].as_str().expect("a sentence");
    assert!(
        message.starts_with("No storage connection of the account covers a.pdf in the bucket documents"),
        "{message}"
    );
    assert_eq!(studio.ended(&id).await["state"], "failed");
}

#[tokio::test]
async fn of_several_connections_the_one_with_the_longest_prefix_is_used() {
    let store = s3().await;
    let bucket = store.bucket(Access::Full);
    let studio = studio_of_s3().await;
    for prefix in ["", "a/", "a/b/c/"] {
        studio.connect_to_s3("https://store.invalid", &bucket, prefix).await;
    }
    studio.connect_to_s3(&store.endpoint(), &bucket, "a/b/").await;
    let (body, _) = studio.delivered(&in_s3(&bucket, "a/b/d.pdf")).await;
    assert_eq!(body["status"], "success", "{body}");
}

#[tokio::test]
async fn what_passes_is_tried_again_and_leaves_one_object() {
    let store = s3().await;
    let bucket = store.bucket(Access::Full);
    let busy = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>";
    let faults = [Fault::AnswerLost, Fault::Answered(503, "application/xml", busy)];
    let proxy = FaultProxy::before(&store.authority, faults).await;
    let studio = studio_of_s3().await;
    studio.connect_to_s3(&proxy.endpoint(), &bucket, "").await;
    let (body, render) = studio.delivered(&in_s3(&bucket, "a.pdf")).await;
    assert_eq!((&body["status"], proxy.faults_left()), (&json!("success"), 0));
    assert_eq!(render["credits_used"], 1);
    assert_eq!(store.keys(&bucket).await, ["a.pdf"]);
    assert_page(&store.object(&bucket, "a.pdf").await.expect("an object").content);
}
