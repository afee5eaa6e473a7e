//! Thumbnails of documents.

use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{service_with, site};
use crate::support::{
    process::PATIENCE,
    service::TestService,
    studio::{body, header},
    visitor::Visitor,
};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Waits until this many thumbnails are stored.
async fn drawn(service: &TestService, count: i64) {
    let deadline = Instant::now() + PATIENCE;
    while service.number("select count(*) from render_thumbnails").await < count {
        assert!(Instant::now() < deadline, "nothing is drawn");
        tokio::task::yield_now().await;
    }
}

async fn render(service: &TestService, key: &str, part: &str, options: Value) -> String {
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let answer = request.bearer_auth(key).json(&body(part, options)).send().await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.status(), 200);
    header(&answer, "x-render-id").to_owned()
}

#[tokio::test]
async fn pictures_are_drawn_once_the_caller_has_the_answer_and_are_the_accounts_only() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    service.account("bob@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    let _open = ann.open_page().await;
    let pages = "<p style='break-after:page'>page</p>".repeat(7);
    let pages = format!("<!doctype html><html lang=en><title>Pages</title>{pages}");
    let id = render(&service, &account.key, &pages, json!({"size": "a5"})).await;
    drawn(&service, 6).await;
    assert_eq!(service.number("select count(*) from render_thumbnails").await, 6);

    let html = ann.page(&format!("/dashboard/renders/{id}")).await;
    for page in 1..=6 {
        let path = format!("/dashboard/renders/{id}/pages/{page}.png");
        assert!(html.contains(&path), "{html}");
        let picture = ann.get(&path).await;
        assert_eq!(header(&picture, "content-type"), "image/png");
        assert_eq!(header(&picture, "cache-control"), "private, no-cache");
        assert_eq!(header(&picture, "x-content-type-options"), "nosniff");
        let tag = header(&picture, "etag").to_owned();
        let png = picture.bytes().await.expect("a picture");
        assert!(png.starts_with(PNG));
        assert_eq!(png[20..24], 240_u32.to_be_bytes(), "its height");
        let known = ann.get_with(&path, &[("if-none-match", &tag)]).await;
        assert_eq!(known.status(), 304);
        assert_eq!(bob.get(&path).await.status(), 404);
    }
    for nothing in ["7.png", "0.png", "-1.png", "1", "1.jpg", "99999.png"] {
        let path = format!("/dashboard/renders/{id}/pages/{nothing}");
        assert_eq!(ann.get(&path).await.status(), 404, "{nothing}");
    }
    // Violations, and texts of low contrast, are marked on larger pictures.
    let marked = ["<h1>Plan</h1><h3>Costs</h3>", "<p style='color: #aaa'>Faint</p>"];
    for (content, drawn_before) in marked.into_iter().zip(6..) {
        let request = json!({"parts": [format!("{pages}{content}")], "size": "a5", "pages": "8"});
        let id = service.queued(&account, &request).await;
        service.ended(&account, &id).await;
        service
            .number_is(drawn_before - 5, "select count(*) from accessibility_reports")
            .await;
        ann.page(&format!("/dashboard/renders/{id}")).await;
        drawn(&service, drawn_before + 1).await;
        let picture = ann.get(&format!("/dashboard/renders/{id}/pages/1.png")).await;
        let png = picture.bytes().await.expect("a picture");
        assert_eq!(png[20..24], 720_u32.to_be_bytes(), "its height");
    }
    let open = "select count(*) from render_thumbnails where position('\\x89504e47'::bytea in sealed) > 0";
    assert_eq!(service.number(open).await, 0);
    service.execute("delete from renders").await;
    assert_eq!(service.number("select count(*) from render_thumbnails").await, 0);
}

#[tokio::test]
async fn thumbnails_are_created_only_while_the_dashboard_is_open() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    service.account("bob@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    let _of_another_account = bob.open_page().await;
    let unseen = render(&service, &account.key, "<p>", json!({})).await;
    let _open = ann.open_page().await;
    let seen = render(&service, &account.key, "<p>", json!({})).await;
    // Thumbnails are created one after the other.
    drawn(&service, 1).await;
    let of_unseen = format!("select count(*) from render_thumbnails where render_id = '{unseen}'");
    assert_eq!(service.number(&of_unseen).await, 0);
    let html = ann.page(&format!("/dashboard/renders/{unseen}")).await;
    assert!(html.contains("only while a page of the dashboard is open"), "{html}");
    let html = ann.page(&format!("/dashboard/renders/{seen}")).await;
    assert!(
        html.contains(&format!("/dashboard/renders/{seen}/pages/1.png")),
        "{html}"
    );
}

#[tokio::test]
async fn pages_in_another_process_count() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let other = service
        .beside(&[("PLATEN_SITE_DIR", site.path().to_str().expect("text"))])
        .await;
    let ann = Visitor::log_in(&other, "ann@example.org").await;
    let mut open = ann.open_page().await;
    // The page receives a change event once both processes know of it.
    let heard = open.chunk().await.expect("the stream goes on").expect("news");
    assert!(String::from_utf8_lossy(&heard).contains("changed"), "{heard:?}");
    let deadline = Instant::now() + PATIENCE;
    while service.number("select count(*) from render_thumbnails").await == 0 {
        assert!(Instant::now() < deadline, "nothing is drawn");
        render(&service, &account.key, "<p>", json!({})).await;
    }
}

#[tokio::test]
async fn a_document_in_the_default_storage_is_drawn_when_it_is_viewed() {
    let site = site();
    let mut service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let _open = ann.open_page().await;
    let id = service.queued(&account, &json!({"parts": ["<p>"]})).await;
    service.ended(&account, &id).await;
    // This render comes later and its thumbnail is created at once, so that the other one would already exist.
    render(&service, &account.key, "<p>", json!({})).await;
    drawn(&service, 1).await;
    let of_first = format!("select count(*) from render_thumbnails where render_id = '{id}'");
    assert_eq!(service.number(&of_first).await, 0);
    let html = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(html.contains("Thumbnails are being created"), "{html}");
    drawn(&service, 2).await;
    let html = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(html.contains(&format!("/dashboard/renders/{id}/pages/1.png")), "{html}");

    // The document outlives the retention of its other content.
    service
        .execute("update renders set inserted_at = inserted_at - interval '91 days'")
        .await;
    service.restart(Signal::TERM).await;
    let deadline = Instant::now() + PATIENCE;
    while service.number("select count(*) from render_thumbnails").await > 0 {
        assert!(Instant::now() < deadline, "they are still there");
        tokio::task::yield_now().await;
    }
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let html = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(html.contains("No thumbnails."), "{html}");
}

#[tokio::test]
async fn an_account_that_keeps_no_content_has_neither_pictures_nor_titles() {
    let site = site();
    let service = service_with(site.path()).await;
    let account = service.account("ann@example.org");
    let other = service.account("bob@example.org");
    let forget = format!("update accounts set keep_content = false where id = '{}'", account.id);
    assert_eq!(service.execute(&forget).await, 1);
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    let bob = Visitor::log_in(&service, "bob@example.org").await;
    let _open = (ann.open_page().await, bob.open_page().await);
    let id = render(&service, &account.key, "<title>Private</title>", json!({})).await;
    render(&service, &other.key, "<p>", json!({})).await;
    // Thumbnails are created one after the other.
    drawn(&service, 1).await;
    assert_eq!(service.number("select count(*) from render_thumbnails").await, 1);
    let html = ann.page(&format!("/dashboard/renders/{id}")).await;
    assert!(
        html.contains("doesn’t store thumbnails") && !html.contains("Private"),
        "{html}"
    );
}
