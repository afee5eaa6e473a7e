//! Hostile use of background work: exports, webhook deliveries and event streams.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    support::{
        attack::{Plan, Stage},
        background::page_with_callback,
        receiver::Receiver,
        visitor::Visitor,
        wire::Wire,
    },
    web::site,
};

/// Maximum number of event streams of one account.
const LISTENERS: usize = 30;

#[tokio::test]
async fn an_archive_is_made_without_its_contents_in_memory() {
    let site = site();
    let stage = Stage::start(&[("PLATEN_SITE_DIR", site.path().to_str().expect("text"))]).await;
    let attacker = stage.attacker(Plan::Free);
    for content in ["x", "\u{1}"] {
        for _ in 0..10 {
            attacker.template(&content.repeat(1_000_000)).await;
        }
    }
    let visitor = Visitor::log_in(&stage.service, "free@example.org").await;
    let report = stage
        .attack(Plan::Free, async |_| {
            visitor.submit("request-export", &[]).await;
            let ready = "select count(*) from exports where state = 'ready'";
            stage.service.number_is(1, ready).await;
        })
        .await;
    report.was_harmless(Plan::Free);
}

#[tokio::test]
async fn callbacks_that_are_answered_without_end_cost_their_time_and_no_memory() {
    const RENDERS: usize = 16;
    let receiver = Receiver::start().await;
    let stage = Stage::start(&[("PLATEN_EGRESS_ALLOW", &receiver.authority)]).await;
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let paths = ["/endless", "/never"];
            let renders = (0..RENDERS).map(async |number| {
                let url = receiver.url(paths[number % paths.len()]);
                let body = page_with_callback("<p>", &url);
                let id = attacker.service.queued(attacker.account, &body).await;
                let tried = |render: &Value| !render["callback"]["attempts"][0].is_null();
                attacker.service.shown_when(attacker.account, &id, tried).await
            });
            join_all(renders).await
        })
        .await;
    for render in &report.outcome {
        let answer = &render["callback"]["attempts"][0]["answer"];
        assert!(answer.as_str().is_none_or(|answer| answer.len() <= 500), "{answer}");
    }
    report.was_harmless(Plan::Free);
}

#[tokio::test]
async fn pages_that_listen_and_never_read_are_few_and_small() {
    const RENDERS: usize = 200;
    let site = site();
    let settings = [
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
        ("PLATEN_RATE_PER_MINUTE", "1000000"),
        ("PLATEN_CONNECTIONS_PER_NETWORK", "4000"),
    ];
    let stage = Stage::start(&settings).await;
    let visitor = Visitor::log_in(&stage.service, "free@example.org").await;
    let request = format!(
        "GET /dashboard/events/renders HTTP/1.1\r\nhost: platen\r\naccept: text/event-stream\r\ncookie: {}\r\n\r\n",
        visitor.cookie()
    );
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let mut listening = Vec::new();
            for _ in 0..LISTENERS {
                let mut wire = Wire::open(attacker.service).await;
                wire.send(&request).await;
                wire.until("listening").await;
                listening.push(wire);
            }
            let mut refused = Wire::open(attacker.service).await;
            refused.send(&request).await;
            let refusal = refused.until("\r\n\r\n").await;
            for _ in 0..RENDERS {
                let queued = attacker.send("/api/v1/renderers/pdf/async", json!({"parts": ["<p>"]}).to_string());
                assert_eq!(queued.await.status, 200);
            }
            let unfinished = "select count(*) from renders where finished_at is null";
            stage.service.number_is(0, unfinished).await;
            refusal
        })
        .await;
    assert!(report.outcome.starts_with("HTTP/1.1 503"), "{}", report.outcome);
    report.was_harmless(Plan::Free);
}
