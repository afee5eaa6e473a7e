//! Memory reservations of requests.

use serde_json::json;

use crate::support::{
    attack::{Attacker, Plan, ROOM, Stage},
    noise,
    process::PATIENCE,
    wire::Wire,
};

/// Leaves 469 MB for requests, and disables the limit on slow readers.
const LITTLE_MEMORY: [(&str, &str); 4] = [
    ("PLATEN_MEMORY_MB", "3072"),
    ("PLATEN_BROWSERS", "1"),
    ("PLATEN_SLOTS", "2"),
    ("PLATEN_WRITE_SECONDS", "600"),
];
const REQUESTS_MB: usize = 469;

#[tokio::test]
async fn the_largest_body_fits_the_memory_of_one_request() {
    let stage = Stage::start(&[]).await;
    for plan in [Plan::Free, Plan::Scale] {
        let filler = "x".repeat(plan.body_bytes() as usize - 1000);
        let body = json!({"parts": [format!("<!doctype html><!--{filler}--><p>Hello")], "output_encoding": "base64"});
        let report = stage.attack(plan, async |attacker| attacker.render(&body).await).await;
        assert_eq!(report.outcome.status, 200, "{plan:?}: {}", report.outcome.body);
        report.was_harmless(plan);
    }
}

#[tokio::test]
async fn templates_yield_no_more_html_than_a_document_may_have() {
    let stage = Stage::start(&[]).await;
    let template = stage.attacker(Plan::Free).template("{{ ('x' * 2000000)|safe }}").await;
    let part = json!({"type": "template", "content": {"template_id": template}});
    let body = json!({"parts": vec![part; 50], "output_encoding": "binary"});
    let report = stage
        .attack(Plan::Free, async |attacker| attacker.render_at_once(10, &body).await)
        .await;
    for answer in &report.outcome {
        let detail = answer.refused_at("/parts/9");
        assert!(detail.contains("19398656 bytes"), "{detail}");
    }
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(3 * (ROOM + 2 * Plan::Free.body_bytes()));
    report.no_browser_died();
}

#[tokio::test]
async fn unread_responses_use_only_the_memory_share_of_their_account() {
    let stage = Stage::start(&LITTLE_MEMORY).await;
    let body = noise::request().to_string();
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let mut unread = Vec::new();
            // An account may reserve half of the memory for requests.
            while unread.len() < (REQUESTS_MB << 20) / noise::DOCUMENT_BYTES {
                let mut wire = announce(&attacker, body.len()).await;
                wire.send(&body).await;
                let head = wire.until("\r\n\r\n").await;
                if !head.starts_with("HTTP/1.1 200") {
                    return head;
                }
                unread.push(wire);
            }
            panic!("{} documents are unread", unread.len());
        })
        .await;
    let refused = report.outcome.to_ascii_lowercase();
    assert!(
        refused.starts_with("http/1.1 503") && refused.contains("\r\nretry-after: "),
        "{refused}"
    );
    report.neighbour_lost_nothing();
    report.memory_rose_at_most((REQUESTS_MB as u64) << 20);
    // Disconnecting releases the reservation.
    let attacker = stage.attacker(Plan::Free);
    let deadline = std::time::Instant::now() + PATIENCE;
    while attacker.send("/api/v1/renderers/pdf", body.clone()).await.status != 200 {
        assert!(std::time::Instant::now() < deadline, "its memory is not given back");
    }
}

#[tokio::test]
async fn bodies_that_do_not_come_cost_only_their_account() {
    let stage = Stage::start(&LITTLE_MEMORY).await;
    let report = stage
        .attack(Plan::Scale, async |attacker| {
            let announced = Plan::Scale.body_bytes() as usize;
            // Twice the announced size is reserved for each, and an account may reserve half of the total.
            let mut waiting = Vec::new();
            for _ in 0..4 {
                waiting.push(announce(&attacker, announced).await);
            }
            let heads = waiting.iter_mut().map(|wire| Box::pin(wire.until("\r\n\r\n")));
            futures::future::select_all(heads).await.0
        })
        .await;
    assert!(report.outcome.starts_with("HTTP/1.1 503"), "{}", report.outcome);
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(ROOM);
}

/// Opens a connection and sends the head of a render request that announces a body of `length` bytes.
async fn announce(attacker: &Attacker<'_>, length: usize) -> Wire {
    let mut wire = Wire::open(attacker.service).await;
    let key = &attacker.account.key;
    wire.send(format!(
        "POST /api/v1/renderers/pdf HTTP/1.1\r\nhost: platen\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    ))
    .await;
    wire
}
