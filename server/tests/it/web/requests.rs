//! The stored requests of synchronous renders.

use reqwest::Response;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{service_with, site};
use crate::support::{
    service::{TestAccount, TestService},
    studio::{body, header},
    visitor::Visitor,
};

const STORED: &str = "select count(*) from render_contents where omitted is null";

/// Renders synchronously, and returns the id of the render.
async fn render(service: &TestService, account: &TestAccount, body: &Value) -> String {
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let answer = request.bearer_auth(&account.key).json(body).send().await;
    header(&answer.expect("an answer"), "x-render-id").to_owned()
}

async fn download(visitor: &Visitor, render: &str) -> Response {
    visitor.get(&format!("/dashboard/renders/{render}/request.json")).await
}

#[tokio::test]
async fn a_request_is_stored_and_shown_to_its_account_only() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    service.account("bob@example.org");
    let (ann, bob) = (
        Visitor::log_in(&service, "ann@example.org").await,
        Visitor::log_in(&service, "bob@example.org").await,
    );
    let cookie = json!({"name": "session", "value": "hunter2", "domain": "example.org"});
    let sent = body(
        "<title>Secret</title><p id=\"fine\">fine print",
        json!({"size": "a5", "scale": 0.5, "set_cookie": cookie, "evaluate_js": {"expression": "1 + 1"}}),
    );
    let good = render(&service, &account, &sent).await;
    let bad = render(&service, &account, &body("http://127.0.0.1:1/?token=x", json!({}))).await;
    service.number_is(2, STORED).await;
    let leaked = "select count(*) from render_contents where position('fine print' in encode(sealed, 'escape')) > 0";
    assert_eq!(service.number(leaked).await, 0);

    let page = ann.page(&format!("/dashboard/renders/{good}")).await;
    assert!(
        page.contains("fine print") && page.contains("Open in playground"),
        "{page}"
    );
    assert!(!page.contains("hunter2"), "{page}");
    let mut expected = sent.clone();
    expected["parts"] = json!([{"type": "html", "content": "<title>Secret</title><p id=\"fine\">fine print"}]);
    expected["set_cookie"] = json!({"name": "session", "domain": "example.org"});
    let shown: Value = download(&ann, &good).await.json().await.expect("JSON");
    assert_eq!(shown, expected);
    let failed = ann.page(&format!("/dashboard/renders/{bad}")).await;
    assert!(failed.contains("http://127.0.0.1:1/?token=x"), "{failed}");

    assert_eq!(download(&bob, &good).await.status(), 404);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn a_request_that_was_not_stored_says_why() {
    let site = site();
    let service = service_with(site.path()).await;
    let (full, off) = (service.account("ann@example.org"), service.account("bob@example.org"));
    service.limit_storage(&full, "retained_bytes", 10).await;
    let forget = format!("update accounts set keep_content = false where id = '{}'", off.id);
    service.execute(&forget).await;
    let sent = body("<p>fine print", json!({}));
    let not_wanted = render(&service, &off, &sent).await;
    let left_out = render(&service, &full, &sent).await;
    let omitted = "select count(*) from render_contents where omitted = 'storage_full'";
    service.number_is(1, omitted).await;
    for (email, render, reason) in [
        ("ann@example.org", &left_out, "the account had no room for content"),
        ("bob@example.org", &not_wanted, "store the content of requests"),
    ] {
        let visitor = Visitor::log_in(&service, email).await;
        let page = visitor.page(&format!("/dashboard/renders/{render}")).await;
        assert!(page.contains("Content wasn") && page.contains(reason), "{page}");
        assert!(!page.contains("Open in playground"), "{page}");
        assert_eq!(download(&visitor, render).await.status(), 404);
    }
    assert_eq!(service.number("select count(*) from render_contents").await, 1);
    service.storage_is_counted().await;
}

#[tokio::test]
async fn what_waits_is_stored_at_shutdown() {
    let site = site();
    let mut service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    render(&service, &account, &body("<p>last", json!({}))).await;
    service.restart(Signal::TERM).await;
    assert_eq!(service.number(STORED).await, 1);
}

#[tokio::test]
async fn a_large_request_is_shown_in_part() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let html = format!("<p>begin<!--{}--><!--the very end-->", "x".repeat(1_500_000));
    let id = render(&service, &account, &body(html.as_str(), json!({}))).await;
    service.number_is(1, STORED).await;
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let page = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(page.len() < 600_000 && page.contains("Showing the first") && !page.contains("the very end"));
    assert!(!page.contains("Open in playground"));
    let shown: Value = download(&ann, &id).await.json().await.expect("JSON");
    assert_eq!(shown["parts"][0]["content"], html);
}
