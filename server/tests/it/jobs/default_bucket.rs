//! Documents without a destination, with an operator's bucket as the default storage.

use std::time::Instant;

use serde_json::{Value, json};

use crate::{
    support::{
        background::{page_with_callback, parsed},
        fault_proxy::{Fault, FaultProxy},
        object_stores::{ACCESS_KEY_ID, Access, SECRET_ACCESS_KEY, gcs, s3, service_account_key},
        pdf,
        process::PATIENCE,
        receiver::Receiver,
        studio::Studio,
        visitor::Visitor,
    },
    web::site,
};

/// Returns the settings that make a bucket the default storage. Pages could not reach its address.
pub(super) fn settings<'a>(endpoint: &'a str, bucket: &'a str) -> [(&'static str, &'a str); 5] {
    [
        ("PLATEN_DEFAULT_STORAGE", "aws_s3"),
        ("PLATEN_DEFAULT_BUCKET", bucket),
        ("PLATEN_DEFAULT_BUCKET_ENDPOINT", endpoint),
        ("PLATEN_AWS_ACCESS_KEY_ID", ACCESS_KEY_ID),
        ("PLATEN_AWS_SECRET_ACCESS_KEY", SECRET_ACCESS_KEY),
    ]
}

pub(super) async fn studio_with_bucket(endpoint: &str, bucket: &str, receiver: &Receiver) -> Studio {
    let allowed = ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str());
    Studio::start_with(&[&settings(endpoint, bucket)[..], &[allowed]].concat()).await
}

impl Studio {
    /// Enqueues a page and returns its render and the body of its webhook.
    async fn kept_by_default(&self, receiver: &Receiver) -> (String, Value) {
        let page = page_with_callback("<h1>Kept", &receiver.url("/ok"));
        let id = self.queued(&page).await;
        let callbacks = receiver.wait_for(1).await;
        (id, parsed(&callbacks.last().expect("one").body))
    }

    fn files(&self) -> usize {
        self.service.stored_documents().len()
    }
}

#[tokio::test]
async fn a_bucket_of_s3_keeps_documents() {
    let (store, receiver) = (s3().await, Receiver::start().await);
    let bucket = store.bucket(Access::Full);
    let studio = studio_with_bucket(&store.endpoint(), &bucket, &receiver).await;
    let (id, told) = studio.kept_by_default(&receiver).await;
    assert_eq!(told["status"], "success", "{told}");
    let result = &told["result"];
    let name = result["name"].as_str().expect("a name");
    assert!(name.starts_with("renders/") && !name.contains(&id), "{name}");
    let object = store.object(&bucket, name).await.expect("an object");
    assert_eq!(object.content_type, "application/pdf");
    assert!(pdf::text(&object.content).contains("Kept"));
    // The result has the form of Google Cloud Storage's, as for the default storage on disk.
    assert_eq!(result.as_object().expect("members").len(), 37);
    for (member, value) in [
        ("bucket", json!(bucket)),
        ("kind", json!("storage#object")),
        ("size", json!(object.content.len().to_string())),
        ("mediaLink", json!(format!("{}/{bucket}/{name}", store.endpoint()))),
        ("storageClass", json!("STANDARD")),
        ("generation", Value::Null),
    ] {
        assert_eq!(result[member], value, "{member}");
    }
    assert!(result["etag"].as_str().is_some_and(|etag| etag.len() == 34), "{result}");
    assert_eq!(studio.files(), 0);
    let render = studio.ended(&id).await;
    assert_eq!((&render["result"], render["expires_at"].is_string()), (result, true));
}

#[tokio::test]
async fn a_bucket_at_google_keeps_documents() {
    let (store, receiver) = (gcs().await, Receiver::start().await);
    let bucket = store.bucket().await;
    let key = service_account_key().to_string();
    let studio = Studio::start_with(&[
        ("PLATEN_EGRESS_ALLOW", receiver.authority.as_str()),
        ("PLATEN_DEFAULT_STORAGE", "google_cloud_storage"),
        ("PLATEN_DEFAULT_BUCKET", &bucket),
        ("PLATEN_DEFAULT_BUCKET_URL", "https://documents.example/pdf"),
        ("PLATEN_GCS_ENDPOINT", &store.endpoint()),
        ("PLATEN_GOOGLE_KEY", &key),
    ])
    .await;
    let (_, told) = studio.kept_by_default(&receiver).await;
    let result = &told["result"];
    let name = result["name"].as_str().expect("a name");
    let document = store.object(&bucket, name).await.expect("an object");
    assert!(pdf::text(&document).contains("Kept"));
    assert_eq!(result["mediaLink"], format!("https://documents.example/pdf/{name}"));
    // A generation exists only at Google.
    assert!(
        result["generation"]
            .as_str()
            .is_some_and(|digits| digits.parse::<u64>().is_ok())
    );
    assert_eq!(studio.files(), 0);
}

#[tokio::test]
async fn a_bucket_that_fails_is_tried_again_and_never_the_client_s_fault() {
    let (store, receiver) = (s3().await, Receiver::start().await);
    let bucket = store.bucket(Access::Full);
    let denied = "<Error><Code>AccessDenied</Code><Message>Not you.</Message></Error>";
    let faults = [Fault::AnswerLost, Fault::Answered(403, "application/xml", denied)];
    let proxy = FaultProxy::before(&store.authority, faults).await;
    let studio = studio_with_bucket(&proxy.endpoint(), &bucket, &receiver).await;
    let (id, told) = studio.kept_by_default(&receiver).await;
    assert_eq!((&told["status"], proxy.faults_left()), (&json!("success"), 0));
    assert_eq!(studio.ended(&id).await["credits_used"], 1);
    assert_eq!(
        store.keys(&bucket).await,
        [told["result"]["name"].as_str().expect("a name")]
    );
}

#[tokio::test]
async fn documents_in_a_bucket_are_deleted_when_their_time_is_over() {
    let (store, receiver) = (s3().await, Receiver::start().await);
    let bucket = store.bucket(Access::Full);
    let endpoint = store.endpoint();
    let mut studio = studio_with_bucket(&endpoint, &bucket, &receiver).await;
    let (gone, _) = studio.kept_by_default(&receiver).await;
    let kept = studio.queued(&json!({"parts": ["<p>kept"]})).await;
    let kept = studio.ended(&kept).await["result"]["name"].clone();
    assert_eq!(store.keys(&bucket).await.len(), 2);
    let expire = format!("update renders set object_expires_at = now() where id = '{gone}'");
    assert_eq!(studio.service.execute(&expire).await, 1);
    studio.service.restart(rustix::process::Signal::TERM).await;
    let expiring = "select count(*) from renders where object_expires_at is not null";
    studio.service.number_is(1, expiring).await;
    assert_eq!(store.keys(&bucket).await, [kept.as_str().expect("a name")]);

    let delete = ["accounts", "delete", "--email", "ann@example.org", "--yes"];
    let settings = settings(&endpoint, &bucket);
    studio.service.command_with(&settings, &delete, "").succeeded();
    assert_eq!(store.keys(&bucket).await, [""; 0]);
}

#[tokio::test]
async fn documents_from_before_the_bucket_stay_until_their_time_is_over() {
    let store = s3().await;
    let studio = Studio::start().await;
    let id = studio.queued(&json!({"parts": ["<p>before"]})).await;
    let name = studio.ended(&id).await["result"]["name"].clone();
    let (endpoint, bucket) = (store.endpoint(), store.bucket(Access::Full));
    let settings = settings(&endpoint, &bucket);
    let successor = studio.service.beside(&settings).await;
    let address = successor.url(&format!("/files/{}", name.as_str().expect("a name")));
    let answer = successor.client.get(address).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let expire = "update renders set object_expires_at = now()";
    assert_eq!(studio.service.execute(expire).await, 1);
    // A process deletes expired documents when it starts.
    let _another = studio.service.beside(&settings).await;
    let expiring = "select count(*) from renders where object_expires_at is not null";
    studio.service.number_is(0, expiring).await;
    assert_eq!(studio.files(), 0);
}

#[tokio::test]
async fn a_process_shows_thumbnails_and_documents_that_another_one_has_made() {
    let (store, site) = (s3().await, site());
    let (endpoint, bucket) = (store.endpoint(), store.bucket(Access::Full));
    let stored = settings(&endpoint, &bucket);
    let folder = site.path().to_str().expect("text");
    let of_web = [("PLATEN_ROLE", "web"), ("PLATEN_SITE_DIR", folder)];
    let studio = Studio::start_with(&[&stored[..], &of_web].concat()).await;
    let of_worker = [&stored[..], &[("PLATEN_ROLE", "worker")]].concat();
    let _worker = studio.service.apart(&of_worker).await;
    let ann = Visitor::log_in(&studio.service, "ann@example.org").await;
    let _open = ann.open_page().await;
    // The worker makes thumbnails once it knows of the open page.
    let drawn = "select count(*) from render_thumbnails where sealed is not null";
    let deadline = Instant::now() + PATIENCE;
    while studio.service.number(drawn).await == 0 {
        assert!(Instant::now() < deadline, "nothing is drawn");
        let id = studio.queued(&json!({"parts": ["<h1>Made elsewhere"]})).await;
        studio.ended(&id).await;
    }
    let id = "select render_id::text from render_thumbnails where sealed is not null limit 1";
    let path = format!("/dashboard/renders/{}", studio.service.text(id).await);
    let thumbnail = format!("{path}/pages/1.png");
    assert!(ann.page(&path).await.contains(&thumbnail));
    let answer = ann.get(&thumbnail).await;
    assert_eq!(answer.status(), 200);
    let picture = answer.bytes().await.expect("a picture");
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    let answer = ann.get(&format!("{path}/document.pdf")).await;
    assert_eq!(answer.status(), 200);
    let document = answer.bytes().await.expect("a document");
    assert!(pdf::text(&document).contains("Made elsewhere"));
    assert_eq!(studio.files(), 0);
}

#[tokio::test]
async fn the_doctor_tries_the_bucket() {
    let store = s3().await;
    let studio = Studio::start().await;
    let endpoint = store.endpoint();
    let examine = |bucket: &str| {
        studio
            .service
            .command_with(&settings(&endpoint, bucket), &["doctor"], "")
    };
    let told = examine(&store.bucket(Access::Full)).stdout;
    assert!(
        told.contains("Storage   documents are written to the bucket open-"),
        "{told}"
    );
    assert!(told.contains("the public can't read"), "{told}");
    assert!(told.contains("they can be deleted"), "{told}");
    assert!(told.contains("the service can read them"), "{told}");
    // The running process stores documents in its data folder.
    let elsewhere = "1 of 1 processes store documents in another place";
    assert!(told.contains(elsewhere), "{told}");
    let told_alike = studio.service.command(&["doctor"], "").stdout;
    assert!(!told_alike.contains("in another place"), "{told_alike}");
    let told = examine(&store.bucket(Access::WriteOnly)).stdout;
    assert!(
        told.contains("they can't be deleted: the bucket: Access Denied."),
        "{told}"
    );
    assert!(
        told.contains("the service can't read them: the bucket: Access Denied."),
        "{told}"
    );
    let missing = examine("no-such-bucket");
    assert!(
        missing.stdout.contains("BROKEN   Storage   documents can't be written"),
        "{}",
        missing.stdout
    );
}
