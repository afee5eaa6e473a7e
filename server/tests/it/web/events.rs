//! Event streams of open pages.

use reqwest::Response;
use rustix::process::Signal;

use super::{service_with, site};
use crate::support::{
    service::{TestAccount, TestService},
    studio::{body, header},
    visitor::Visitor,
};

/// A stream of events.
struct Stream {
    answer: Response,
    heard: String,
}

impl Stream {
    /// Opens a stream, and waits until the server listens for changes.
    async fn open(visitor: &Visitor, path: &str) -> Self {
        let answer = visitor.get_with(path, &[("accept", "text/event-stream")]).await;
        assert_eq!(answer.status(), 200, "{path}");
        let mut stream = Self {
            answer,
            heard: String::new(),
        };
        stream.until(": listening").await;
        stream
    }

    /// Reads until this text was received.
    async fn until(&mut self, said: &str) {
        while !self.heard.contains(said) {
            let more = self.answer.chunk().await.expect("the stream goes on");
            let more = more.expect("the stream goes on");
            self.heard.push_str(&String::from_utf8_lossy(&more));
        }
    }
}

/// Renders synchronously and returns the render's id.
async fn rendered(service: &TestService, account: &TestAccount) -> String {
    let request = service.client.post(service.url("/api/v1/renderers/pdf"));
    let request = request
        .bearer_auth(&account.key)
        .json(&body("<p>", serde_json::json!({})));
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    header(&answer, "x-render-id").to_owned()
}

#[tokio::test]
async fn a_page_hears_of_the_renders_of_its_account_and_of_no_others() {
    let site = site();
    let service = service_with(site.path()).await;
    let (ann, bob) = (service.account("ann@example.org"), service.account("bob@example.org"));
    let anns = Visitor::log_in(&service, "ann@example.org").await;
    let bobs = Visitor::log_in(&service, "bob@example.org").await;
    let mut of_ann = Stream::open(&anns, "/dashboard/events/renders").await;
    let mut of_bob = Stream::open(&bobs, "/dashboard/events/renders").await;
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!(header(&of_ann.answer, name), value);
    }

    let foreign = rendered(&service, &bob).await;
    of_bob.until(&foreign).await;
    let own = rendered(&service, &ann).await;
    of_ann.until(&format!("event: changed\ndata: {own}")).await;
    assert!(!of_ann.heard.contains(&foreign), "{}", of_ann.heard);

    // A stream for another account's render only reports changes of the user's own account: here, none.
    let mut of_foreign = Stream::open(&anns, &format!("/dashboard/events/renders/{foreign}")).await;
    let mut of_own = Stream::open(&bobs, &format!("/dashboard/events/renders/{foreign}")).await;
    let next = rendered(&service, &bob).await;
    of_bob.until(&next).await;
    let cancelled = service.queued(&bob, &serde_json::json!({"parts": ["<p>"]})).await;
    of_bob.until(&cancelled).await;
    assert!(!of_own.heard.contains("event"), "{}", of_own.heard);

    // Shutdown doesn't wait for event streams.
    service.process.signal(Signal::TERM);
    for stream in [&mut of_ann, &mut of_bob, &mut of_foreign, &mut of_own] {
        while let Ok(Some(more)) = stream.answer.chunk().await {
            stream.heard.push_str(&String::from_utf8_lossy(&more));
        }
    }
    assert!(!of_foreign.heard.contains("event"), "{}", of_foreign.heard);
}

#[tokio::test]
async fn only_who_is_logged_in_is_told() {
    let site = site();
    let service = service_with(site.path()).await;
    service.account("ann@example.org");
    let visitor = Visitor::log_in(&service, "ann@example.org").await;
    assert_eq!(visitor.get("/dashboard/events/renders/nothing").await.status(), 404);
    assert_eq!(visitor.submit("log-out", &[]).await.status(), 303);
    for path in ["/dashboard/events/renders", "/dashboard/events/renders/nothing"] {
        assert_eq!(visitor.get(path).await.status(), 303, "{path}");
    }
}
