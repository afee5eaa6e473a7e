//! Limits on the number of connections, and on what a connection may send.

use std::{
    fs,
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, prlimit};
use tokio::time::timeout;

use super::{METRICS, metric};
use crate::support::{
    attack::{Plan, ROOM, Stage},
    process::PATIENCE,
    service::TestService,
    visitor::Visitor,
    wire::{Wire, raise_open_files},
};

const ALIVE: &str = "GET /livez HTTP/1.1\r\nhost: platen\r\n\r\n";

/// Opens connections from this address until one gets the expected response, and returns it.
async fn answered(service: &TestService, source: &str, expected: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut wire = Wire::open_from(service, source).await;
        wire.send(ALIVE).await;
        let mut heard = wire.until("\r\n\r\n").await;
        if heard.starts_with("HTTP/1.1 503") {
            heard += &wire.until_closed().await;
        }
        if heard.contains(expected) {
            return heard;
        }
        assert!(Instant::now() < deadline, "{heard}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_network_with_too_many_connections_is_refused_and_others_are_not() {
    let stage = Stage::start(&[METRICS, ("PLATEN_CONNECTIONS_PER_NETWORK", "8")]).await;
    let report = stage
        .attack(Plan::Free, async |attacker| {
            let mut wires = Vec::new();
            for _ in 0..8 {
                let mut wire = Wire::open_from(attacker.service, "127.0.0.2").await;
                wire.send(ALIVE).await;
                wire.until("200 OK").await;
                wires.push(wire);
            }
            let mut refused = Wire::open_from(attacker.service, "127.0.0.2").await;
            refused.send(ALIVE).await;
            let heard = refused.until_closed().await;
            answered(attacker.service, "127.0.0.3", "200 OK").await;
            drop(wires);
            answered(attacker.service, "127.0.0.2", "200 OK").await;
            heard
        })
        .await;
    let (head, body) = report.outcome.split_once("\r\n\r\n").expect("an answer");
    assert!(
        head.starts_with("HTTP/1.1 503") && head.contains("retry-after: 5"),
        "{head}"
    );
    assert!(
        body.contains("There are too many open connections from your network"),
        "{body}"
    );
    report.neighbour_lost_nothing();
    let refused = metric(
        &stage.service,
        "platen_http_connections_refused_total{limit=\"network\"}",
    );
    assert!(refused.await >= 1.0);
    let log = stage.service.process.log();
    let warnings = log.matches("connections refused").count();
    assert_eq!(warnings, 1, "{log}");
}

#[tokio::test]
async fn places_that_are_all_taken_are_soon_free_again() {
    let settings = [
        ("PLATEN_CONNECTIONS", "16"),
        ("PLATEN_CONNECTIONS_PER_NETWORK", "8"),
        ("PLATEN_HEADER_SECONDS", "3600"),
    ];
    let service = TestService::start_with(&settings).await;
    let mut wires = Vec::new();
    for number in 0..16 {
        wires.push(Wire::open_from(&service, &format!("127.0.0.{}", 2 + number % 4)).await);
    }
    let refused = answered(&service, "127.0.0.9", "503 Service Unavailable").await;
    assert!(
        refused.contains("There are too many open connections to the service"),
        "{refused}"
    );
    // Idle connections are closed if their slots are needed, regardless of the setting.
    answered(&service, "127.0.0.9", "200 OK").await;
}

#[tokio::test]
async fn a_burst_of_connections_does_not_make_others_wait_for_theirs() {
    const BURST: usize = 1_000;
    raise_open_files();
    let service = TestService::start().await;
    // The kernel completes connections while the service is stopped.
    service.process.signal(Signal::STOP);
    let burst = async {
        let mut wires = Vec::new();
        for _ in 0..BURST {
            wires.push(Wire::open_from(&service, "127.0.0.2").await);
        }
        (wires, Wire::open_from(&service, "127.0.0.3").await)
    };
    let connected = timeout(PATIENCE, burst).await;
    service.process.signal(Signal::CONT);
    let (_wires, mut other) = connected.expect("every connection is completed");
    other.send(ALIVE).await;
    other.until("200 OK").await;
}

#[tokio::test]
async fn no_more_open_files_are_not_the_end_of_the_service() {
    let service = TestService::start().await;
    let pid = service.process.id();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").count() as u64;
    let pid = Pid::from_raw(pid.cast_signed()).expect("a process id");
    let limit = |files: u64| Rlimit {
        current: Some(files),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    let before = prlimit(Some(pid), Resource::Nofile, limit(open + 20)).expect("our child");
    let mut wires = Vec::new();
    for _ in 0..60 {
        wires.push(Wire::open(&service).await);
    }
    let service = tokio::task::spawn_blocking(move || {
        let mut service = service;
        service.process.wait_for_event("a connection could not be accepted");
        service
    });
    let service = service.await.expect("it is logged");
    drop(wires);
    answered(&service, "127.0.0.1", "200 OK").await;
    let logged = service
        .process
        .log()
        .matches("a connection could not be accepted")
        .count();
    assert!(logged < 30, "logged {logged} times");
    // The soft limit of open files is raised to the hard limit, at most to 65,536.
    assert_eq!(before.current, before.maximum.map(|hard| hard.min(65_536)));
}

#[tokio::test]
async fn headers_are_bounded_in_number_and_size() {
    let service = TestService::start().await;
    let many = (0..200)
        .map(|number| format!("x-{number}: x\r\n"))
        .collect::<Vec<_>>()
        .concat();
    let large = format!("cookie: {}\r\n", "x".repeat(40_000));
    for headers in [many, large] {
        let mut wire = Wire::open(&service).await;
        wire.send(format!("GET /livez HTTP/1.1\r\nhost: platen\r\n{headers}\r\n"))
            .await;
        let heard = wire.until_closed().await;
        assert!(heard.starts_with("HTTP/1.1 431"), "{heard}");
    }
    let endless = Wire::open(&service).await;
    let mut endless = endless;
    endless.send(vec![b'x'; 1_000_000]).await;
    let heard = endless.until_closed().await;
    assert!(!heard.starts_with("HTTP/1.1 2"), "{heard}");
}

#[tokio::test]
async fn many_requests_in_one_go_are_answered_one_after_the_other() {
    let service = TestService::start().await;
    let mut wire = Wire::open(&service).await;
    wire.send(ALIVE.repeat(199) + "GET /livez HTTP/1.1\r\nhost: platen\r\nconnection: close\r\n\r\n")
        .await;
    let heard = wire.until_closed().await;
    assert_eq!(heard.matches("HTTP/1.1 200 OK").count(), 200);
}

#[tokio::test]
async fn no_connection_speaks_http_2() {
    let service = TestService::start().await;
    let mut wire = Wire::open(&service).await;
    wire.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    // An HTTP/2 server would begin with a SETTINGS frame.
    let heard = wire.until_closed().await;
    assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 4"), "{heard:?}");
}

#[tokio::test]
async fn a_form_of_a_stranger_is_small() {
    let site = crate::web::site();
    let settings = [("PLATEN_SITE_DIR", site.path().to_str().expect("text"))];
    let service = TestService::start_with(&settings).await;
    let form = |bytes: usize| {
        let request = service.client.post(service.url("/web/log-in"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let request = request.header("accept", "text/html");
        request.body(format!("email=ann%40example.org&password={}", "x".repeat(bytes)))
    };
    let refused = form(100_000).send().await.expect("an answer");
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let page = refused.text().await.expect("a page");
    assert!(page.contains("65536 bytes"), "{page}");
    // The limit also applies to bodies without a length.
    let chunks = futures::stream::iter((0..100).map(|_| Ok::<_, std::io::Error>("x".repeat(1000))));
    let request = form(0).body(reqwest::Body::wrap_stream(chunks));
    let refused = request.send().await.expect("an answer");
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert!(form(20).send().await.expect("an answer").status().is_redirection());
}

#[tokio::test]
async fn large_forms_of_one_person_are_read_in_turn() {
    let site = crate::web::site();
    let settings = [
        ("PLATEN_SITE_DIR", site.path().to_str().expect("text")),
        ("PLATEN_MEMORY_MB", "3072"),
    ];
    let stage = Stage::start(&settings).await;
    let visitor = Visitor::log_in(&stage.service, "free@example.org").await;
    let token = visitor.token().await;
    let filler = "x".repeat(8_000_000);
    let fields = [("name", filler.as_str())];
    let report = stage
        .attack(Plan::Free, async |_| {
            let forms = (0..12).map(|_| visitor.submit_with(&token, "rename-account", &fields));
            futures::future::join_all(forms).await
        })
        .await;
    // The name is invalid, so that each request is redirected to its page.
    for answer in &report.outcome {
        assert!(answer.status().is_redirection(), "{}", answer.status());
    }
    report.neighbour_lost_nothing();
    report.memory_rose_at_most(3 * ROOM);
}
