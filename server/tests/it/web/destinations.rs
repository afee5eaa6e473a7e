//! The page of storage connections, with a real store.

use tempfile::TempDir;

use super::site;
use crate::support::{
    object_stores::{ACCESS_KEY_ID, Access, SECRET_ACCESS_KEY, s3, service_account_key},
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
    let settings = [
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
        ("PLATEN_EGRESS_ALLOW", "127.0.0.1"),
    ];
    TestService::start_with(&settings).await
}

/// Returns the id of the only connection on a page.
fn only_id(page: &str) -> String {
    let (_, rest) = page.split_once("id=\"delete-").expect("a dialog");
    rest.split('"').next().expect("an id").to_owned()
}

#[tokio::test]
async fn a_bucket_is_connected_tested_and_forgotten() {
    let (s3, site) = (s3().await, site());
    let service = service_with_stores(&site).await;
    service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let (bucket, endpoint) = (s3.bucket(Access::Full), s3.endpoint());

    let answer = ann.submit("connect-bucket", &form("Archive", &bucket, &endpoint)).await;
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=connected"));
    let page = ann.page(PAGE).await;
    assert!(
        page.contains("Working") && page.contains("Wrote, read and removed an object"),
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
    ann.submit("connect-bucket", &form("Read only", &bucket, &endpoint))
        .await;
    let page = ann.page(PAGE).await;
    assert!(
        page.contains("Refused") && page.contains("allow it s3:PutObject"),
        "{page}"
    );

    // The name is taken: the form is shown again, without the secret.
    let other = s3.bucket(Access::Full);
    let answer = ann
        .submit("connect-bucket", &form("Read only", &other, &endpoint))
        .await;
    assert_eq!(answer.status(), 302);
    let location = header(&answer, "location");
    assert!(location.contains("__err="), "{location}");
    ann.remember(&answer);
    let refused = location.strip_prefix(&service.base_url).expect("a page of ours");
    let refused = ann.page(&refused.replacen("/dashboard?", &format!("{PAGE}?"), 1)).await;
    assert!(refused.contains("that no other connection has"), "{refused}");
    assert!(
        refused.contains(&other) && !refused.contains(SECRET_ACCESS_KEY),
        "{refused}"
    );
}

#[tokio::test]
async fn nobody_tests_or_forgets_the_connection_of_another_account() {
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
            "delete-connection",
            &[("subject", id.as_str()), ("confirmation", "Archive")],
        ),
    ] {
        let answer = bob.submit(function, fields).await;
        assert!(header(&answer, "location").contains("__err="), "{function}");
    }
    assert_eq!(only_id(&ann.page(PAGE).await), id);
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
    assert_eq!(header(&answer, "location"), format!("{PAGE}?done=connected"));
    let page = ann.page(PAGE).await;
    assert!(page.contains("External id") && page.contains(ROLE), "{page}");
    assert!(page.contains("Working"), "{page}");
}
