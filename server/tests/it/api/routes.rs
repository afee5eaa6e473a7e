//! Behaviour common to all routes.

use std::collections::{BTreeMap, BTreeSet};

use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use crate::support::{
    description::operations,
    service::TestService,
    studio::{Studio, header},
};

#[tokio::test]
async fn unknown_paths_and_methods_have_the_resource_error_shape() {
    let studio = Studio::start().await;
    let ask = async |method: reqwest::Method, path: &str| {
        let request = studio.service.client.request(method, studio.service.url(path));
        request.bearer_auth(&studio.account.key).send().await.unwrap()
    };
    for (method, path, status, allow) in [
        (reqwest::Method::GET, "/api/v1/nothing", 404, None),
        (reqwest::Method::GET, "/api/v1/renderers/pdf/", 404, None),
        (reqwest::Method::GET, "/api/v1/renderers/pdf", 405, Some("POST")),
        (reqwest::Method::DELETE, "/api/v1/health", 405, Some("GET,HEAD")),
    ] {
        let answer = ask(method, path).await;
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(
            answer.headers().get("allow").map(|value| value.to_str().unwrap()),
            allow,
            "{path}"
        );
        assert!(!header(&answer, "x-request-id").is_empty());
    }
}

#[tokio::test]
async fn each_path_takes_the_methods_that_are_described_and_no_others() {
    let studio = Studio::start().await;
    let mut described = BTreeMap::<_, BTreeSet<_>>::new();
    for operation in operations() {
        described
            .entry(operation.path)
            .or_default()
            .insert(operation.method.to_string());
    }
    for (path, mut methods) in described {
        let request = studio
            .service
            .client
            .request(reqwest::Method::TRACE, studio.service.url(path));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 405, "{path}");
        if methods.contains("GET") {
            methods.insert("HEAD".to_owned());
        }
        let allowed: BTreeSet<_> = header(&answer, "allow").split(',').map(ToOwned::to_owned).collect();
        assert_eq!(allowed, methods, "{path}");
    }
}

#[tokio::test]
async fn a_sane_request_id_comes_back_and_is_logged_without_the_query() {
    let mut studio = Studio::start().await;
    let health = studio.service.url("/api/v1/health?secret=hunter2");
    let request = studio.service.client.get(health).bearer_auth(&studio.account.key);
    let answer = request.header("x-request-id", "order-4711").send().await.unwrap();
    assert_eq!(header(&answer, "x-request-id"), "order-4711");
    let insane = studio
        .service
        .client
        .get(studio.service.url("/livez"))
        .header("x-request-id", "a b");
    assert_ne!(header(&insane.send().await.unwrap(), "x-request-id"), "a b");

    studio
        .service
        .process
        .wait_for(|process| process.log().contains("order-4711").then_some(()));
    let log = studio.service.process.log();
    let line = log.lines().find(|line| line.contains("order-4711")).unwrap();
    for expected in ["/api/v1/health", "GET", "200", studio.account.id.as_str()] {
        assert!(line.contains(expected), "{expected} is missing in {line}");
    }
    assert!(!log.contains("hunter2") && !log.contains(&studio.account.key), "{log}");
}

#[tokio::test]
async fn the_security_contact_is_public_once_it_is_set() {
    const PATH: &str = "/.well-known/security.txt";
    let get = async |service: &TestService| {
        let answer = service.client.get(service.url(PATH)).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.text().await.unwrap())
    };
    let without_contact = TestService::start().await;
    assert_eq!(get(&without_contact).await.0, 404);
    let with_contact = without_contact
        .beside(&[
            ("PLATEN_SECURITY_CONTACT", "mailto:security@example.org"),
            ("PLATEN_BASE_URL", "https://platen.example"),
        ])
        .await;
    let (status, text) = get(&with_contact).await;
    assert_eq!(status, 200);
    let fields: Vec<_> = text.lines().filter_map(|line| line.split_once(": ")).collect();
    assert_eq!(fields[0], ("Contact", "mailto:security@example.org"));
    assert_eq!(
        fields[3],
        ("Canonical", "https://platen.example/.well-known/security.txt")
    );
    let expires = OffsetDateTime::parse(fields[1].1, &Rfc3339).unwrap();
    let year = OffsetDateTime::now_utc()..OffsetDateTime::now_utc() + Duration::days(365);
    assert!(fields[1].0 == "Expires" && year.contains(&expires), "{text}");
}
