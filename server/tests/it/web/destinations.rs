//! The page of storage connections, with a real store.

use reqwest::Response;
use serde_json::json;
use tempfile::TempDir;

use super::{service_reaching, site};
use crate::support::{
    fault_proxy::FaultProxy,
    object_stores::{ACCESS_KEY_ID, Access, SECRET_ACCESS_KEY, gcs, s3, service_account_key},
    service::TestService,
    studio::header,
    visitor::Visitor,
};

const PAGE: &str = "/dashboard/destinations";

/// Returns a form for a bucket in the test's store.
fn form<'a>(name: &'a str, bucket: &'a str, endpoint: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("provider", "aws_s3"),
        ("connection_name", name),
        ("bucket", bucket),
        ("endpoint", endpoint),
        ("amazon_access", "access_key"),
        ("access_key_id", ACCESS_KEY_ID),
        ("secret_access_key", SECRET_ACCESS_KEY),
    ]
}

async fn service_with_stores(site: &TempDir) -> TestService {
    service_reaching("127.0.0.1", site.path()).await
}

/// Returns the id of the only connection on a page.
fn only_id(page: &str) -> String {
    let (_, rest) = page.split_once("id=\"delete-").expect("a dialog");
    rest.split('"').next().expect("an id").to_owned()
}

/// Returns the page of storage connections as a rejected form shows it again.
async fn page_of_rejected(visitor: &mut Visitor, answer: &Response) -> String {
    visitor.remember(answer);
    let (_, error) = header(answer, "location").split_once('?').expect("an error");
    visitor.page(&format!("{PAGE}?{error}")).await
}

#[tokio::test]
async fn a_bucket_is_connected_tested_and_forgotten() {
    let (s3, site) = (s3().await, site());
    let service = service_with_stores(&site).await;
    service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let (bucket, endpoint) = (s3.bucket(Access::Full), s3.endpoint());

    let answer = ann.submit("connect-bucket", &form("Archive", &bucket, &endpoint)).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=saved"));
    let page = ann.page(header(&answer, "location")).await;
    assert!(page.contains("Connection saved and tested."), "{page}");
    assert!(
        page.contains("Working") && page.contains("Wrote, read and deleted an object"),
        "{page}"
    );
    assert!(!page.contains(SECRET_ACCESS_KEY), "{page}");
    assert_eq!(s3.keys(&bucket).await, [""; 0]);

    let id = only_id(&page);
    let answer = ann.submit("test-connection", &[("subject", &id)]).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=tested"));

    let fields = [("subject", id.as_str()), ("confirmation", "Archive")];
    let answer = ann.submit("delete-connection", &fields).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=deleted"));
    assert!(!ann.page(PAGE).await.contains(&id));
}

#[tokio::test]
async fn what_a_store_refuses_stands_on_the_page_and_its_secret_in_no_address() {
    let (s3, site) = (s3().await, site());
    let service = service_with_stores(&site).await;
    service.account("ann@example.org");
    let mut ann = Visitor::log_in(&service, "ann@example.org").await;
    let (bucket, endpoint) = (s3.bucket(Access::None), s3.endpoint());
    let answer = ann
        .submit("connect-bucket", &form("Read only", &bucket, &endpoint))
        .await;
    let page = ann.page(header(&answer, "location")).await;
    assert!(!page.contains("Connection saved and tested."), "{page}");
    for expected in [
        "Saved. The connection test failed.",
        "Refused",
        "<code>PutObject</code> failed",
        "403 AccessDenied",
        "The store says: “Access Denied.”",
        "allow it s3:PutObject",
    ] {
        assert_eq!(page.matches(expected).count(), 1, "{expected} in {page}");
    }
    // The reason stays on the page when the notice is gone.
    assert!(ann.page(PAGE).await.contains("allow it s3:PutObject"));

    // The name is taken: the form is shown again, without the secret.
    let other = s3.bucket(Access::Full);
    let answer = ann
        .submit("connect-bucket", &form("Read only", &other, &endpoint))
        .await;
    assert_eq!(answer.status(), 302);
    let location = header(&answer, "location");
    assert!(location.contains("__err="), "{location}");
    let refused = page_of_rejected(&mut ann, &answer).await;
    assert!(refused.contains("that no other connection has"), "{refused}");
    assert!(
        refused.contains(&other) && !refused.contains(SECRET_ACCESS_KEY),
        "{refused}"
    );
}

#[tokio::test]
async fn connections_of_another_account_cannot_be_tested_changed_or_deleted() {
    let (s3, site) = (s3().await, site());
    let service = service_with_stores(&site).await;
    service.account("ann@example.org");
    service.account("bob@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    let bucket = s3.bucket(Access::Full);
    ann.submit("connect-bucket", &form("Archive", &bucket, &s3.endpoint()))
        .await;
    let id = only_id(&ann.page(PAGE).await);

    assert!(!bob.page(PAGE).await.contains(&id));
    for (function, fields) in [
        ("test-connection", &[("subject", id.as_str())][..]),
        (
            "edit-connection",
            &[
                ("subject", id.as_str()),
                ("connection_name", "Mine"),
                ("region", "us-east-1"),
            ],
        ),
        (
            "rotate-credentials",
            &[
                ("subject", id.as_str()),
                ("access_key_id", ACCESS_KEY_ID),
                ("secret_access_key", SECRET_ACCESS_KEY),
            ],
        ),
        (
            "delete-connection",
            &[("subject", id.as_str()), ("confirmation", "Archive")],
        ),
    ] {
        let answer = bob.submit(function, fields).await;
        assert!(header(&answer, "location").contains("__err="), "{function}");
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        assert_eq!(bob.call(function, &fields).await, "NotFound", "{function}");
    }
    let page = ann.page(PAGE).await;
    assert_eq!(only_id(&page), id);
    assert!(page.contains("Archive") && !page.contains("Mine"), "{page}");
    let revision = format!("select revision::bigint from connections where id = '{id}'");
    assert_eq!(service.number(&revision).await, 1);
}

/// Fields that rotate the credentials of a connection to `MinIO`'s key with this secret.
fn rotation<'a>(id: &'a str, secret: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("subject", id),
        ("amazon_access", "access_key"),
        ("access_key_id", ACCESS_KEY_ID),
        ("secret_access_key", secret),
    ]
}

#[tokio::test]
async fn rejected_credentials_change_nothing_and_are_explained_once() {
    const WRONG: &str = "platen-secretly";
    let (s3, site) = (s3().await, site());
    let service = service_with_stores(&site).await;
    service.account("ann@example.org");
    let mut ann = Visitor::log_in(&service, "ann@example.org").await;
    let bucket = s3.bucket(Access::Full);
    ann.submit("connect-bucket", &form("Archive", &bucket, &s3.endpoint()))
        .await;
    let id = only_id(&ann.page(PAGE).await);
    let stored = "select md5(connections::text) || connection_tests.steps::text
                  from connections join connection_tests on connection_id = id";
    let before = service.text(stored).await;

    let answer = ann.submit("rotate-credentials", &rotation(&id, WRONG)).await;
    let page = page_of_rejected(&mut ann, &answer).await;
    for expected in [
        "The previous credentials stay in use.",
        "403 SignatureDoesNotMatch",
        "Copy the secret again",
    ] {
        assert_eq!(page.matches(expected).count(), 1, "{expected} in {page}");
    }
    assert!(!page.contains(WRONG) && page.contains("Working"), "{page}");
    let page = page_of_rejected(&mut ann, &answer).await;
    assert!(!page.contains("SignatureDoesNotMatch"), "only once");
    assert_eq!(service.text(stored).await, before);
    let log = "select count(*) from account_log where kind = 'destination.credentials_rotated'";
    assert_eq!(service.number(log).await, 0);

    let answer = ann
        .submit("rotate-credentials", &rotation(&id, SECRET_ACCESS_KEY))
        .await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=rotated"));
    assert_ne!(service.text(stored).await, before);
    assert_eq!(service.number(log).await, 1);
    let log = ann.page("/dashboard/team/log").await;
    assert!(
        log.contains("rotated the credentials of the storage connection Archive"),
        "{log}"
    );
}

#[tokio::test]
async fn a_worker_notices_new_credentials_and_a_new_endpoint() {
    let (s3, site) = (s3().await, site());
    let site_dir = ("PLATEN_SITE_DIR", site.path().to_str().expect("text"));
    let allow = ("PLATEN_EGRESS_ALLOW", "127.0.0.1");
    let service = TestService::start_with(&[site_dir, allow, ("PLATEN_ROLE", "web")]).await;
    let _worker = service.beside(&[allow, ("PLATEN_ROLE", "worker")]).await;
    let account = service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let (bucket, endpoint) = (s3.bucket(Access::Full), s3.endpoint());
    let mut fields = form("Archive", &bucket, &endpoint);
    fields.retain(|(name, _)| *name != "secret_access_key");
    fields.push(("secret_access_key", "platen-secretly"));
    let answer = ann.submit("connect-bucket", &fields).await;
    let page = ann.page(header(&answer, "location")).await;
    assert!(page.contains("Saved. The connection test failed."), "{page}");
    let id = only_id(&page);
    let delivered = async |path: &str| {
        let destination = json!({"provider": "aws_s3", "bucket": bucket, "path": path});
        let render = service
            .queued(&account, &json!({"parts": ["<p>"], "destination": destination}))
            .await;
        service.ended(&account, &render).await["state"].clone()
    };
    assert_eq!(delivered("a.pdf").await, "failed");

    ann.submit("rotate-credentials", &rotation(&id, SECRET_ACCESS_KEY))
        .await;
    assert_eq!(delivered("b.pdf").await, "succeeded");

    let proxy = FaultProxy::before(&s3.authority, []).await;
    let elsewhere = proxy.endpoint();
    let edit = [
        ("subject", id.as_str()),
        ("connection_name", "Invoices"),
        ("region", "eu-central-1"),
        ("endpoint", elsewhere.as_str()),
    ];
    let answer = ann.submit("edit-connection", &edit).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=saved"));
    let before = proxy.requests().len();
    assert_eq!(delivered("c.pdf").await, "succeeded");
    assert_eq!(proxy.requests().len(), before + 1);
    assert_eq!(s3.keys(&bucket).await, ["b.pdf", "c.pdf"]);
    let page = ann.page(PAGE).await;
    assert!(page.contains("Invoices") && page.contains("eu-central-1"), "{page}");
    let log = ann.page("/dashboard/team/log").await;
    assert!(log.contains("changed the storage connection Invoices"), "{log}");
}

#[tokio::test]
async fn an_edit_is_held_against_the_rules_of_the_api() {
    let (s3, site) = (s3().await, site());
    let service = service_with_stores(&site).await;
    service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let endpoint = s3.endpoint();
    for name in ["First", "Second"] {
        let bucket = s3.bucket(Access::Full);
        ann.submit("connect-bucket", &form(name, &bucket, &endpoint)).await;
    }
    let second = service
        .text("select id::text from connections where name = 'Second'")
        .await;
    for (name, region, endpoint, faulty) in [
        ("First", "", endpoint.as_str(), "connection_name"),
        ("", "", endpoint.as_str(), "connection_name"),
        ("Second", "", "", "region"),
        ("Second", "", "http://169.254.169.254", "endpoint"),
    ] {
        let edit = [
            ("subject", second.as_str()),
            ("connection_name", name),
            ("region", region),
            ("endpoint", endpoint),
        ];
        let edit = edit.map(|(name, value)| (name, value.to_owned()));
        let answer = ann.call("edit-connection", &edit).await;
        assert_eq!(
            answer["Rejected"]["reason"]["invalid"],
            json!([faulty]),
            "{name} {endpoint}"
        );
    }
    assert_eq!(service.number("select max(revision)::bigint from connections").await, 1);
}

#[tokio::test]
async fn the_key_file_of_a_bucket_at_google_is_rotated() {
    let (gcs, site) = (gcs().await, site());
    let endpoint = gcs.endpoint();
    let service = TestService::start_with(&[
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
        ("PLATEN_GCS_ENDPOINT", &endpoint),
    ])
    .await;
    service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let (bucket, mut key) = (gcs.bucket().await, service_account_key());
    let file = key.to_string();
    let fields = [
        ("provider", "google_cloud_storage"),
        ("connection_name", "Reports"),
        ("bucket", bucket.as_str()),
        ("google_access", "key_file"),
        ("key_file", file.as_str()),
    ];
    let answer = ann.submit("connect-bucket", &fields).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=saved"));
    let id = only_id(&ann.page(PAGE).await);
    key["client_email"] = "next@tests.iam.gserviceaccount.com".into();
    let file = key.to_string();
    let fields = [
        ("subject", id.as_str()),
        ("google_access", "key_file"),
        ("key_file", file.as_str()),
    ];
    let answer = ann.submit("rotate-credentials", &fields).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=rotated"));
    let page = ann.page(PAGE).await;
    assert!(page.contains("next@tests.iam.gserviceaccount.com"), "{page}");
    assert!(!page.contains("PRIVATE KEY"), "{page}");
}

#[tokio::test]
async fn roles_and_service_accounts_are_offered_where_the_service_has_an_identity_of_its_own() {
    const ROLE: &str = "arn:aws:iam::123456789012:role/platen";
    let (s3, site) = (s3().await, site());
    let plain = service_with_stores(&site).await;
    plain.account("ann@example.org");
    let page = Visitor::log_in(&plain, "ann@example.org").await.page(PAGE).await;
    assert!(
        !page.contains("Assume a role") && !page.contains("Act as a service account"),
        "{page}"
    );

    let (endpoint, google_key) = (s3.endpoint(), service_account_key().to_string());
    let service = TestService::start_with(&[
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
        ("PLATEN_EGRESS_ALLOW", "127.0.0.1"),
        ("PLATEN_AWS_ACCESS_KEY_ID", ACCESS_KEY_ID),
        ("PLATEN_AWS_SECRET_ACCESS_KEY", SECRET_ACCESS_KEY),
        ("PLATEN_STS_ENDPOINT", &endpoint),
        ("PLATEN_GOOGLE_KEY", &google_key),
    ])
    .await;
    let account = service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let page = ann.page(PAGE).await;
    for expected in [
        "Assume a role",
        "Act as a service account",
        "platen-account",
        &account.id,
    ] {
        assert!(page.contains(expected), "{expected} in {page}");
    }
    let bucket = s3.bucket(Access::Full);
    let mut fields = form("By role", &bucket, &endpoint);
    fields.retain(|(name, _)| *name != "amazon_access");
    fields.extend([("amazon_access", "role"), ("role_arn", ROLE)]);
    let answer = ann.submit("connect-bucket", &fields).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=saved"));
    let page = ann.page(PAGE).await;
    assert!(page.contains("External id") && page.contains(ROLE), "{page}");
    assert!(page.contains("Working"), "{page}");
}
