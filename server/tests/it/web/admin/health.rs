//! The service's health as shown to operators: across all processes, including those that have ended.

use std::time::{Duration, Instant};

use reqwest::Response;
use rustix::process::Signal;
use serde_json::json;

use super::{OPERATOR, service_with, site};
use crate::support::{
    process::PATIENCE,
    service::{TestAccount, TestService},
    studio::body,
    visitor::Visitor,
};

const PAGE: &str = "/admin/health";
const STREAM: &str = "/admin/events/health";
const POLL: Duration = Duration::from_millis(100);

/// Renders synchronously.
async fn render(service: &TestService, account: &TestAccount, part: &str) -> Response {
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let request = request.bearer_auth(&account.key).json(&body(part, json!({})));
    request.send().await.expect("an answer")
}

/// Returns the page once it contains this text.
async fn page_with(operator: &Visitor, path: &str, wanted: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let page = operator.page(path).await;
        if page.contains(wanted) {
            return page;
        }
        assert!(Instant::now() < deadline, "no {wanted} in {page}");
        tokio::time::sleep(POLL).await;
    }
}

/// Waits until a query returns this number.
async fn until(service: &TestService, query: &str, wanted: i64) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let number = service.number(query).await;
        if number == wanted {
            return;
        }
        assert!(Instant::now() < deadline, "{query}: {number}");
        tokio::time::sleep(POLL).await;
    }
}

#[tokio::test]
async fn what_is_rendered_and_refused_is_seen_and_each_is_counted_once() {
    let site = site();
    let service = service_with(site.path()).await;
    let other = service.beside(&[]).await;
    let ann = service.account("ann@example.org");
    let operator = Visitor::operator(&service, OPERATOR).await;
    let page = page_with(&operator, PAGE, "All components responding").await;
    for quiet in ["No documents in the last hour.", "No failed renders in the last hour."] {
        assert!(page.contains(quiet), "{page}");
    }

    assert_eq!(render(&service, &ann, "<p>Hello").await.status(), 200);
    assert_eq!(render(&service, &ann, "http://127.0.0.1:8099/").await.status(), 422);
    let page = page_with(&operator, PAGE, "2 in the last hour").await;
    for told in [
        "1 succeeded, 1 failed or cancelled.",
        "<th scope=\"row\">Printing</th>",
        "<th scope=\"row\">Address refused</th>",
        "Egress refusals: 1 host",
        "Postgres",
    ] {
        assert!(page.contains(told), "no {told} in {page}");
    }
    // One of each process, and one for the page of the URL part, which may run scripts.
    page_with(&operator, PAGE, "3 of 3 respond").await;
    // A session that has printed is retained for its account.
    assert_eq!(render(&service, &ann, "<p>Again").await.status(), 200);
    let page = page_with(&operator, PAGE, "3 in the last hour").await;
    assert!(page.contains(&format!("href=\"/admin/accounts/{}\"", ann.id)), "{page}");

    // Repeated writes for the same minute count nothing twice, and a process writes its final counts when it stops.
    assert_eq!(render(&other, &ann, "<p>At last").await.status(), 200);
    drop(other);
    let counted = "select sum(succeeded * 100 + failed * 10 + egress_refusals)::bigint from health_minutes";
    assert_eq!(service.number(counted).await, 311);
    page_with(&operator, PAGE, "4 in the last hour").await;
}

#[tokio::test]
async fn processes_are_summed_up_and_one_that_falls_silent_is_told_of() {
    let site = site();
    let mut service = service_with(site.path()).await;
    let worker = service.beside(&[("PLATEN_ROLE", "worker")]).await;
    let other = service.beside(&[("PLATEN_ROLE", "web")]).await;
    let ann = service.account("ann@example.org");
    let operator = Visitor::operator(&service, OPERATOR).await;
    until(&service, "select count(*) from instance_health", 3).await;
    for at in [&service, &other] {
        assert_eq!(render(at, &ann, "<p>Hello").await.status(), 200);
    }
    page_with(&operator, PAGE, "2 in the last hour").await;
    let id = service
        .text("select instance::text from instance_health where role = 'web'")
        .await;
    let page = page_with(&operator, &format!("{PAGE}?process={id}"), "1 in the last hour").await;
    assert!(
        page.contains(&format!("href=\"{PAGE}?process={id}\" aria-current=\"page\"")),
        "{page}"
    );
    // Ignored, because no such process exists.
    let page = operator.page(&format!("{PAGE}?process=nothing")).await;
    assert!(page.contains("2 in the last hour"), "{page}");

    // One process stops normally, one is killed.
    drop(other);
    until(&service, "select count(*) from instance_health", 2).await;
    worker.process.signal(Signal::KILL);
    let silent = "update instance_health set seen_at = now() - interval '5 minutes' where role = 'worker'";
    assert_eq!(service.execute(silent).await, 1);
    let page = operator.page(PAGE).await;
    for told in [
        "1 issue",
        "has stopped reporting",
        "No report for 5 min",
        "2 in the last hour",
    ] {
        assert!(page.contains(told), "no {told} in {page}");
    }
    service
        .execute("update instance_health set seen_at = now() - interval '2 hours' where role = 'worker'")
        .await;
    service
        .execute("insert into health_minutes select minute - interval '8 days', instance, succeeded, failed, cancelled, browsers_died, browsers_retired, egress_refusals, peak_waiting, detail from health_minutes")
        .await;
    // Old data is deleted when a process starts.
    service.restart(Signal::TERM).await;
    until(
        &service,
        "select count(*) from instance_health where role = 'worker'",
        0,
    )
    .await;
    until(
        &service,
        "select count(*) from health_minutes where minute < now() - interval '7 days'",
        0,
    )
    .await;
    assert_eq!(
        service
            .number("select sum(succeeded)::bigint from health_minutes")
            .await,
        2
    );
}

#[tokio::test]
async fn versions_that_differ_and_work_that_waits_are_told_of() {
    let site = site();
    let settings = [
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
        ("PLATEN_ROLE", "web"),
    ];
    let service = TestService::start_with(&settings).await;
    let ann = service.account("ann@example.org");
    let operator = Visitor::operator(&service, OPERATOR).await;
    page_with(&operator, PAGE, "All components responding").await;
    service.queued(&ann, &json!({"parts": ["<p>"]})).await;
    service
        .execute("update jobs set run_at = now() - interval '11 minutes'")
        .await;
    service
        .execute(
            "insert into instance_health (instance, host, role, version, started_at, seen_at, state)
             values (gen_random_uuid(), 'another', 'worker', '0.0.1', now(), now(), '{\"mood\": \"new\"}')",
        )
        .await;
    let page = operator.page(PAGE).await;
    for told in [
        "2 issues",
        "Queued renders: the oldest job has been due for 11 min",
        "Processes run different releases",
        "0.0.1",
        "1 waiting, 0 in progress",
    ] {
        assert!(page.contains(told), "no {told} in {page}");
    }
}

#[tokio::test]
async fn only_operators_access_the_page_and_its_event_stream() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account("ann@example.org");
    let ann = Visitor::log_in(&service, "ann@example.org").await;
    for path in [PAGE, STREAM] {
        assert_eq!(ann.get(path).await.status(), 404, "{path}");
        let stranger = service.client.get(service.url(path)).send().await.expect("an answer");
        assert_eq!(stranger.status(), 303, "{path}");
    }
    let operator = Visitor::operator(&service, OPERATOR).await;
    let mut stream = operator.get_with(STREAM, &[("accept", "text/event-stream")]).await;
    assert_eq!(stream.status(), 200);
    let mut heard = String::new();
    while !heard.contains("event: changed") {
        let more = stream.chunk().await.expect("the stream goes on").expect("it goes on");
        heard.push_str(&String::from_utf8_lossy(&more));
    }
    // The stream ends once the user is no longer an operator.
    let dismiss = ["admin", "dismiss", "--email", OPERATOR];
    service.command(&dismiss, "").succeeded();
    while stream.chunk().await.expect("an end in order").is_some() {}
    assert_eq!(operator.get(STREAM).await.status(), 303, "they are logged out");
}
