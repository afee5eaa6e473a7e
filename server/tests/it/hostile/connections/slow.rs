//! Clients that keep the service waiting: for a header, a body, or room for a response.

use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{METRICS, metric};
use crate::{
    support::{
        attack::{Plan, ROOM, Stage},
        noise,
        process::PATIENCE,
        service::TestService,
        studio::{Studio, header},
        visitor::Visitor,
        wire::{Wire, raise_open_files},
    },
    web,
};

/// Returns a complete render request as sent on the wire.
fn render_request(key: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "POST /api/v1/renderers/pdf HTTP/1.1\r\nhost: platen\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn connections_that_send_nothing_or_half_a_header_are_closed_in_time() {
    const CONNECTIONS: usize = 2_500;
    raise_open_files();
    let settings = [
        ("PLATEN_HEADER_SECONDS", "2"),
        ("PLATEN_CONNECTIONS", "4000"),
        ("PLATEN_CONNECTIONS_PER_NETWORK", "4000"),
    ];
    let stage = Stage::start(&settings).await;
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let mut wires = Vec::new();
            for number in 0..CONNECTIONS {
                let mut wire = Wire::open(attacker.service).await;
                if number % 2 == 0 {
                    wire.send("POST /api/v1/renderers/pdf HTTP/1.1\r\nhost: platen\r\nx-half")
                        .await;
                }
                wires.push(wire);
            }
            let opened = Instant::now();
            let answers = join_all(wires.iter_mut().map(Wire::until_closed)).await;
            (answers, opened.elapsed())
        })
        .await;
    let (answers, took) = &report.outcome;
    assert!(answers.iter().all(String::is_empty));
    assert!(*took < Duration::from_secs(10), "{took:?}");
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(ROOM);
    report.no_browser_died();
}

#[tokio::test]
async fn a_header_that_trickles_has_its_time_and_no_more() {
    let service = TestService::start_with(&[METRICS, ("PLATEN_HEADER_SECONDS", "1")]).await;
    // The first request of a connection, and a subsequent one.
    let mut first = Wire::open(&service).await;
    first.send("GET /livez HTTP/1.1\r\nx-trickle: ").await;
    let mut second = Wire::open(&service).await;
    second.send("GET /livez HTTP/1.1\r\nhost: platen\r\n\r\n").await;
    second.until("200 OK").await;
    for wire in [first, second] {
        let began = Instant::now();
        wire.trickle(b'x').await;
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
    let timed_out = "platen_http_connections_timed_out_total{phase=\"header\"}";
    assert!((metric(&service, timed_out).await - 2.0).abs() < f64::EPSILON);
}

#[tokio::test]
async fn a_connection_may_idle_for_longer_than_a_header_may_take() {
    let settings = [METRICS, ("PLATEN_HEADER_SECONDS", "1"), ("PLATEN_IDLE_SECONDS", "4")];
    let service = TestService::start_with(&settings).await;
    let mut wire = Wire::open(&service).await;
    wire.send("GET /livez HTTP/1.1\r\nhost: platen\r\n\r\n").await;
    wire.until("200 OK").await;
    let idle = Instant::now();
    wire.until_closed().await;
    assert!(
        (3..10).contains(&idle.elapsed().as_secs()),
        "closed after {:?}",
        idle.elapsed()
    );
    let timed_out = "platen_http_connections_timed_out_total{phase=\"idle\"}";
    assert!((metric(&service, timed_out).await - 1.0).abs() < f64::EPSILON);
}

#[tokio::test]
async fn slow_request_bodies_time_out_in_every_handler() {
    let site = web::site();
    let settings = [
        ("PLATEN_BODY_SECONDS", "1"),
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
    ];
    let stage = Stage::start(&settings).await;
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let bearer = format!("authorization: Bearer {}\r\n", attacker.account.key);
            let form = "content-type: application/x-www-form-urlencoded\r\naccept: text/html\r\n";
            let json = "content-type: application/json\r\n";
            let targets = [
                ("/api/v1/renderers/pdf", format!("{bearer}{json}"), 408),
                (
                    "/api/v1/templates",
                    format!("{bearer}{json}expect: 100-continue\r\n"),
                    408,
                ),
                ("/web/log-in", form.to_owned(), 408),
                ("/web/sign-up", json.to_owned(), 408),
                ("/webhooks/stripe", "stripe-signature: t=1\r\n".to_owned(), 408),
                // The body of these is read only so that the response arrives.
                ("/api/v1/renderers/pdf", json.to_owned(), 401),
                ("/api/nowhere", String::new(), 404),
            ];
            let trickles = targets.map(async |(path, headers, status)| {
                let mut wire = Wire::open(attacker.service).await;
                wire.send(format!(
                    "POST {path} HTTP/1.1\r\nhost: platen\r\ncontent-length: 5000\r\n{headers}\r\n"
                ))
                .await;
                let began = Instant::now();
                let heard = wire.trickle(b' ').await;
                (path, status, heard, began.elapsed())
            });
            join_all(trickles).await
        })
        .await;
    for (path, status, said, took) in &report.outcome {
        let answered = said.trim_start_matches("HTTP/1.1 100 Continue\r\n\r\n");
        assert!(answered.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {said}");
        assert!(*took < Duration::from_secs(10), "{path}: {took:?}");
    }
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(ROOM);
}

#[tokio::test]
async fn a_body_that_is_expected_and_does_not_come_is_asked_for_once() {
    let studio = Studio::start_with(&[("PLATEN_BODY_SECONDS", "1")]).await;
    let head = |key: &str| {
        format!(
            "POST /api/v1/renderers/pdf HTTP/1.1\r\nhost: platen\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\ncontent-length: 50\r\nexpect: 100-continue\r\n\r\n"
        )
    };
    let mut known = Wire::open(&studio.service).await;
    known.send(head(&studio.account.key)).await;
    let said = known.until_closed().await;
    assert!(said.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 408"), "{said}");
    // An unauthenticated client is not asked to continue.
    let mut stranger = Wire::open(&studio.service).await;
    stranger.send(head("pk_live_x")).await;
    let said = stranger.until("\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 401"), "{said}");
}

#[tokio::test]
async fn clients_that_never_read_cost_their_documents_and_no_more() {
    let stage = Stage::start(&[METRICS, ("PLATEN_WRITE_SECONDS", "1")]).await;
    let timed_out = "platen_http_connections_timed_out_total{phase=\"write\"}";
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let request = render_request(&attacker.account.key, &noise::request());
            let mut wires = Vec::new();
            for _ in 0..2 {
                let mut wire = Wire::open(attacker.service).await;
                wire.send(&request).await;
                wires.push(wire);
            }
            let deadline = Instant::now() + PATIENCE;
            while metric(attacker.service, timed_out).await < 2.0 {
                assert!(Instant::now() < deadline, "they are still open");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(2 * ROOM);
    report.no_browser_died();
}

#[tokio::test]
async fn a_slow_reader_and_a_slow_render_have_all_the_time_they_need() {
    let settings = [
        ("PLATEN_HEADER_SECONDS", "1"),
        ("PLATEN_IDLE_SECONDS", "1"),
        // Longer than a pause of a busy machine, and shorter than the response takes below.
        ("PLATEN_WRITE_SECONDS", "3"),
    ];
    let site = web::site();
    let site = ("PLATEN_SITE_DIR", site.path().to_str().expect("text"));
    let studio = Studio::start_with(&[&settings[..], &[site]].concat()).await;
    let visitor = Visitor::log_in(&studio.service, "ann@example.org").await;
    let mut events = visitor
        .get_with("/dashboard/events/renders", &[("accept", "text/event-stream")])
        .await;
    let wait = json!({"evaluate_js": {"expression": "new Promise(done => setTimeout(done, 3000))"}});
    let slow = studio.render("<p>", wait).await;
    assert_eq!(slow.status(), StatusCode::OK);
    // The stream was idle for longer than any of the timeouts.
    let render = header(&slow, "x-render-id").to_owned();
    let mut heard = String::new();
    while !heard.contains(&render) {
        let more = events.chunk().await.expect("the stream goes on");
        heard.push_str(&String::from_utf8_lossy(&more.expect("the stream goes on")));
    }

    // Made before the connection is opened, which waits for it for a second only.
    let request = render_request(&studio.account.key, &noise::request());
    let mut wire = Wire::open(&studio.service).await;
    wire.send(request).await;
    let (began, length) = (Instant::now(), wire.read_slowly(128 * 1024).await);
    assert!(length > 5_000_000, "{length} bytes came");
    assert!(began.elapsed() > Duration::from_secs(3), "too fast to mean anything");
}

#[tokio::test]
async fn none_of_them_holds_up_the_end_of_the_service() {
    let settings = [
        METRICS,
        ("PLATEN_WRITE_SECONDS", "1"),
        ("PLATEN_BODY_SECONDS", "1"),
        ("PLATEN_SHUTDOWN_GRACE", "60"),
    ];
    let mut studio = Studio::start_with(&settings).await;
    let silent = Wire::open(&studio.service).await;
    let mut half = Wire::open(&studio.service).await;
    half.send("GET /livez HTTP/1.1\r\nx-half").await;
    let mut unread = Wire::open(&studio.service).await;
    unread
        .send(render_request(&studio.account.key, &noise::request()))
        .await;
    let mut body = Wire::open(&studio.service).await;
    body.send("POST /webhooks/stripe HTTP/1.1\r\nhost: platen\r\ncontent-length: 5000\r\n\r\n")
        .await;
    let deadline = Instant::now() + PATIENCE;
    while metric(&studio.service, "platen_http_connections").await < 5.0 {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let stopping = Instant::now();
    studio.service.process.signal(Signal::TERM);
    let status = tokio::task::spawn_blocking(move || studio.service.process.ended()).await;
    assert!(status.expect("it ended").success());
    assert!(stopping.elapsed() < Duration::from_secs(20), "{:?}", stopping.elapsed());
    drop((silent, half, unread, body));
}
