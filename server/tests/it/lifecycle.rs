//! Signals and shutdown.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::json;

use crate::support::{
    folder,
    origin::Origin,
    process::processes_naming,
    service::{TestAccount, TestService},
};

/// Starts a render of a page on the origin, and returns once the page was requested.
async fn begin_render(
    service: &TestService,
    account: &TestAccount,
    origin: &Origin,
    path: &str,
) -> tokio::task::JoinHandle<reqwest_middleware::Result<reqwest::Response>> {
    let request = service
        .client
        .post(service.url("/api/v1/renderers/pdf"))
        .bearer_auth(&account.key)
        .json(&json!({"parts": [origin.url(path)], "output_encoding": "binary"}))
        .send();
    let render = tokio::spawn(request);
    let deadline = Instant::now() + crate::support::process::PATIENCE;
    while !origin.hits().iter().any(|hit| hit == path) {
        assert!(!render.is_finished(), "{:?}", render.await);
        assert!(
            Instant::now() < deadline,
            "the page was never asked for:\n{}",
            service.process.log()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    render
}

#[tokio::test]
async fn sigterm_lets_a_running_render_finish_and_takes_no_new_one() {
    let origin = Origin::start().await;
    let mut service = TestService::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let account = service.account("ann@example.org");
    let render = begin_render(&service, &account, &origin, "/held").await;
    service.process.signal(Signal::TERM);
    service.process.wait_for_event("stopping; running renders may finish");
    origin.release();

    let answer = render.await.unwrap().expect("an answer");
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.bytes().await.unwrap().starts_with(b"%PDF-"));
    let status = tokio::task::spawn_blocking(move || (service.process.ended(), service));
    let (status, service) = status.await.unwrap();
    assert!(status.success(), "{}", service.process.log());
    assert!(
        service.client.get(service.url("/livez")).send().await.is_err(),
        "it still listens"
    );
}

#[tokio::test]
async fn a_second_signal_does_not_wait_for_renders() {
    let origin = Origin::start().await;
    let settings = [
        ("PLATEN_EGRESS_ALLOW", &*origin.authority),
        ("PLATEN_SHUTDOWN_GRACE", "3600"),
    ];
    let mut service = TestService::start_with(&settings).await;
    let account = service.account("ann@example.org");
    let render = begin_render(&service, &account, &origin, "/never").await;
    service.process.signal(Signal::INT);
    service.process.wait_for_event("stopping; running renders may finish");
    service.process.signal(Signal::INT);
    let ended = tokio::task::spawn_blocking(move || service.process.ended());
    assert_eq!(ended.await.unwrap().code(), Some(0));
    let answered = render
        .await
        .unwrap()
        .is_ok_and(|answer| answer.status() == StatusCode::OK);
    assert!(!answered);
}

#[tokio::test]
async fn no_browser_and_no_profile_outlive_the_service() {
    for signal in [Signal::TERM, Signal::KILL] {
        let temporary = folder::temporary();
        let path = temporary.path().to_str().unwrap();
        let mut service = TestService::start_with(&[("TMPDIR", path)]).await;
        assert!(
            !processes_naming(temporary.path()).is_empty(),
            "the browser's profile is elsewhere"
        );
        service.process.signal(signal);
        tokio::task::spawn_blocking(move || service.process.ended())
            .await
            .unwrap();
        let deadline = Instant::now() + crate::support::process::PATIENCE;
        while !processes_naming(temporary.path()).is_empty() {
            assert!(Instant::now() < deadline, "browsers are left after {signal:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if signal == Signal::TERM {
            assert_eq!(
                std::fs::read_dir(temporary.path()).unwrap().count(),
                0,
                "a profile is left"
            );
        }
    }
}
