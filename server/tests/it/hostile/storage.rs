//! Accounts that store as much as they are let.

use futures::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::attack::{Answer, Attacker, Plan, ROOM, Stage};

const ASYNC: &str = "/api/v1/renderers/pdf/async";
/// The limits of the plan Free.
const QUEUED_RENDERS: usize = 1000;
const QUEUED_BYTES: usize = 100 << 20;
const TEMPLATES: usize = 50;
const TEMPLATE_BYTES: usize = 200 << 20;
/// Requests that an attacker has in flight at once.
const AT_ONCE: usize = 8;

/// Sends bodies of one size until one is refused; returns how many were accepted, and the refusal.
async fn fill(attacker: &Attacker<'_>, path: &str, body: impl Fn(usize) -> Value, most: usize) -> (usize, Answer) {
    let (mut accepted, mut sent) = (0, 0);
    while sent <= most {
        let bodies = (sent..sent + AT_ONCE).map(|number| attacker.send(path, body(number).to_string()));
        for answer in join_all(bodies).await {
            if answer.status == StatusCode::FORBIDDEN {
                return (accepted, answer);
            }
            assert!(answer.status.is_success(), "{} {}", answer.status, answer.body);
            accepted += 1;
        }
        sent += AT_ONCE;
    }
    panic!("{accepted} were accepted, and none refused");
}

#[track_caller]
fn refused_with(answer: &Answer, beginning: &str) {
    assert_eq!(answer.body["error"], "forbidden", "{}", answer.body);
    let message = answer.body["message"].as_str().expect("text");
    assert!(message.starts_with(beginning), "{message}");
    assert!(message.contains("/dashboard/billing"), "{message}");
}

#[tokio::test]
async fn an_account_on_free_can_not_fill_the_queue() {
    let stage = Stage::start(&[]).await;
    // Far slower than they come.
    let page = json!({"parts": ["<p>1</p>"], "wait_for": {"selector": "#never"}});
    let report = stage
        .attack(Plan::Free, async |attacker| {
            fill(&attacker, ASYNC, |_| page.clone(), QUEUED_RENDERS + 200).await
        })
        .await;
    let (accepted, refusal) = &report.outcome;
    assert!(
        (QUEUED_RENDERS - AT_ONCE..=QUEUED_RENDERS + 100).contains(accepted),
        "{accepted}"
    );
    refused_with(refusal, "Queued renders are limited to 1,000");
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(ROOM + 2 * Plan::Free.body_bytes());
    report.no_browser_died();
}

#[tokio::test]
async fn an_account_on_free_can_not_fill_the_database_with_requests() {
    let stage = Stage::start(&[]).await;
    let filler = "x".repeat(9 << 20);
    let page = json!({"parts": [format!("<!--{filler}--><p>1</p>")], "wait_for": {"selector": "#never"}});
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let text = page.to_string();
            let mut accepted = 0;
            // One after the other: what many bodies hold in memory is another limit's to say.
            loop {
                let answer = attacker.send(ASYNC, text.clone()).await;
                if answer.status == StatusCode::FORBIDDEN {
                    break (accepted, answer);
                }
                assert!(answer.status.is_success(), "{} {}", answer.status, answer.body);
                accepted += 1;
                assert!(accepted < 30, "nothing is refused");
            }
        })
        .await;
    let (accepted, refusal) = &report.outcome;
    // Some have failed meanwhile, and made room.
    assert!(
        (QUEUED_BYTES / page.to_string().len()..25).contains(accepted),
        "{accepted}"
    );
    refused_with(refusal, "Requests of queued renders are limited to 100 MB");
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(ROOM + 2 * Plan::Free.body_bytes());
    report.no_browser_died();
}

#[tokio::test]
async fn an_account_on_free_can_not_make_templates_or_versions_without_end() {
    let stage = Stage::start(&[]).await;
    let content = "x".repeat(2 << 20);
    let template = |number: usize| json!({"template": {"name": format!("Letter {number}"), "content": content}});
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let path = "/api/v1/templates";
            let (made, refusal) = fill(&attacker, path, template, TEMPLATES + AT_ONCE).await;
            refused_with(&refusal, "Templates are limited to 50");
            assert!((TEMPLATES - AT_ONCE..=TEMPLATES).contains(&made), "{made}");
            // Those that are deleted go on to count by their bytes.
            let listed = attacker
                .service
                .client
                .get(attacker.service.url("/api/v1/templates?page_size=1"));
            let listed = listed.bearer_auth(&attacker.account.key);
            let mut versions = made;
            loop {
                let page: Value = listed
                    .try_clone()
                    .expect("no body")
                    .send()
                    .await
                    .expect("an answer")
                    .json()
                    .await
                    .expect("JSON");
                let id = page["data"][0]["id"].as_str().expect("a template").to_owned();
                let path = attacker.service.url(&format!("{path}/{id}"));
                let deleted = attacker
                    .service
                    .client
                    .delete(path)
                    .bearer_auth(&attacker.account.key)
                    .send()
                    .await;
                assert_eq!(deleted.expect("an answer").status(), 204);
                let answer = attacker
                    .send("/api/v1/templates", template(versions + 100).to_string())
                    .await;
                if answer.status == StatusCode::FORBIDDEN {
                    break (versions, answer);
                }
                assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
                versions += 1;
                assert!(versions < 120, "nothing is refused");
            }
        })
        .await;
    let (versions, refusal) = &report.outcome;
    assert!(versions * (2 << 20) <= TEMPLATE_BYTES, "{versions}");
    refused_with(refusal, "Template versions are limited to 200 MB");
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(ROOM + 2 * Plan::Free.body_bytes());
    report.no_browser_died();
}

#[tokio::test]
async fn what_a_render_leaves_in_its_row_is_small() {
    let stage = Stage::start(&[]).await;
    let long = "a".repeat(8 << 20);
    let bodies = [
        json!({"parts": [format!("http://127.0.0.1/{long}")], "output_encoding": "binary"}),
        json!({"parts": ["<p>1"], "wait_for": {"selector": format!("#{long}!")}, "output_encoding": "binary"}),
    ];
    let report = stage
        .attack(Plan::Free, async |attacker| {
            for body in &bodies {
                let answer = attacker.render(body).await;
                assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.status);
            }
        })
        .await;
    let largest = "select max(octet_length(renders::text))::bigint from renders";
    let largest = stage.service.number(largest).await;
    assert!(largest < 20_000, "{largest} bytes");
    report.neighbour_lost_nothing();
    report.no_browser_died();
}
