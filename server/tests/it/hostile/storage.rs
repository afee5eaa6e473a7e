//! Accounts that store as much as they are allowed to.

use futures::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::attack::{Answer, Attacker, Plan, Stage};

const ASYNC: &str = "/api/v1/renderers/pdf/async";
/// The limits of the Free plan.
const QUEUED_RENDERS: usize = 1000;
const QUEUED_BYTES: i64 = 100 << 20;
const TEMPLATES: usize = 50;
/// A limit for the attacker only, low enough to be reached soon.
const TEMPLATE_BYTES: i64 = 30_000_000;
/// Concurrent requests of an attacker.
const AT_ONCE: usize = 8;

/// Sends bodies of one size until one is refused. Returns the number of accepted ones and the refusal.
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

/// Starts a service that accepts renders but doesn't run them, so that the queue stays full.
async fn intake() -> Stage {
    Stage::start(&[("PLATEN_ROLE", "web")]).await
}

#[tokio::test]
async fn an_account_on_free_can_not_fill_the_queue() {
    let stage = intake().await;
    let page = json!({"parts": ["<p>1</p>"]});
    let report = stage
        .attack(Plan::Free, async |attacker| {
            fill(&attacker, ASYNC, |_| page.clone(), QUEUED_RENDERS + AT_ONCE).await
        })
        .await;
    let (_, refusal) = &report.outcome;
    refused_with(refusal, "Queued renders are limited to 1,000");
    let queued = "select count(*) from renders where status = 'queued'";
    assert_eq!(stage.service.number(queued).await, 1000);
    stage.service.storage_is_counted().await;
    report.was_harmless(Plan::Free);
}

#[tokio::test]
async fn an_account_on_free_can_not_fill_the_database_with_requests() {
    let stage = intake().await;
    let filler = "x".repeat(9 << 20);
    let page = json!({"parts": [format!("<!--{filler}--><p>1</p>")]}).to_string();
    let report = stage
        .attack(Plan::Free, async |attacker| {
            // Sequentially, because the memory of concurrent bodies is subject to another limit.
            for _ in 0..30 {
                let answer = attacker.send(ASYNC, page.clone()).await;
                if answer.status == StatusCode::FORBIDDEN {
                    return answer;
                }
                assert!(answer.status.is_success(), "{} {}", answer.status, answer.body);
            }
            panic!("nothing is refused")
        })
        .await;
    refused_with(&report.outcome, "Requests of queued renders are limited to 100 MB");
    let stored = "select sum(octet_length(sealed))::bigint from render_contents";
    assert!(stage.service.number(stored).await <= QUEUED_BYTES);
    stage.service.storage_is_counted().await;
    report.neighbour_lost_nothing();
    // The memory of a dozen large bodies: each database connection retains a buffer of that size.
    report.memory_rose_at_most(256 << 20);
    report.no_browser_died();
}

#[tokio::test]
async fn templates_that_are_made_and_deleted_all_the_time_go_on_to_count() {
    const PATH: &str = "/api/v1/templates";
    let stage = Stage::start(&[]).await;
    let attacker = stage.attacker(Plan::Free);
    stage
        .service
        .limit_storage(attacker.account, "template_bytes", TEMPLATE_BYTES)
        .await;
    let content = "x".repeat(500_000);
    let template = |number: usize| json!({"template": {"name": format!("Letter {number}"), "content": content}});
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let (_, refusal) = fill(&attacker, PATH, template, TEMPLATES + AT_ONCE).await;
            refused_with(&refusal, "Templates are limited to 50");
            let (service, key) = (attacker.service, &attacker.account.key);
            for number in 100..200 {
                let newest = service
                    .client
                    .get(service.url(&format!("{PATH}?page_size=1")))
                    .bearer_auth(key);
                let newest: Value = newest.send().await.expect("an answer").json().await.expect("JSON");
                let path = format!("{PATH}/{}", newest["data"][0]["id"].as_str().expect("a template"));
                let deleted = service.client.delete(service.url(&path)).bearer_auth(key).send().await;
                assert_eq!(deleted.expect("an answer").status(), StatusCode::NO_CONTENT);
                let answer = attacker.send(PATH, template(number).to_string()).await;
                if answer.status == StatusCode::FORBIDDEN {
                    return answer;
                }
                assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
            }
            panic!("nothing is refused")
        })
        .await;
    refused_with(&report.outcome, "Template versions are limited to 28.6 MB");
    let stored = "select sum(octet_length(content))::bigint from template_versions";
    assert!(stage.service.number(stored).await <= TEMPLATE_BYTES);
    stage.service.storage_is_counted().await;
    report.was_harmless(Plan::Free);
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
    report.was_harmless(Plan::Free);
}
