//! OpenTelemetry traces sent to a collector.

use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::json;

use crate::support::{collector::Collector, studio::Studio};

async fn start(collector: &Collector) -> Studio {
    Studio::start_with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ("OTEL_SERVICE_NAME", "invoices"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=tests"),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ])
    .await
}

/// Asserts that the phases are in order and contiguous, and within the span above them.
fn assert_phases(above: &Span, mut phases: Vec<Span>) {
    phases.sort_by_key(|phase| phase.start_time_unix_nano);
    let names: Vec<_> = phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["queue", "load", "print", "post"]);
    for pair in phases.windows(2) {
        assert_eq!(pair[0].end_time_unix_nano, pair[1].start_time_unix_nano);
    }
    assert!(phases[0].start_time_unix_nano >= above.start_time_unix_nano);
    assert!(phases[3].end_time_unix_nano <= above.end_time_unix_nano);
    assert!(phases.iter().all(|phase| phase.trace_id == above.trace_id));
}

#[tokio::test]
async fn renders_are_traced_with_their_phases() {
    let collector = Collector::start().await;
    let studio = start(&collector).await;
    studio.pdf("<p>Confidential", json!({})).await;
    let (request, phases) = collector.wait_for("POST /api/v1/renderers/pdf").await;
    assert_phases(&request, phases);
    assert!(request.parent_span_id.is_empty());

    let id = studio.queued(&json!({"parts": ["<p>Confidential"]})).await;
    let (job, phases) = collector.wait_for("job render").await;
    assert_phases(&job, phases);
    let ids = job.attributes.iter().find(|attribute| attribute.key == "render_id");
    assert!(format!("{ids:?}").contains(&id));

    let list = "/api/v1/renders?mode=sync&secret=4711";
    let listed = studio.request(Method::GET, list).send().await.expect("an answer");
    assert_eq!(listed.status(), 200);
    collector.wait_for("GET /api/v1/renders").await;

    let requests = collector.requests();
    let resource = format!("{:?}", requests[0].resource_spans[0].resource);
    for expected in ["invoices", "deployment.environment.name", env!("CARGO_PKG_VERSION")] {
        assert!(resource.contains(expected), "{expected} is missing in {resource}");
    }
    let everything = format!("{requests:?}");
    for secret in ["Confidential", "4711", &studio.account.key] {
        assert!(!everything.contains(secret), "{secret} is in a trace");
    }
}

#[tokio::test]
async fn failures_are_marked_and_the_last_spans_are_sent_before_the_end() {
    let collector = Collector::start().await;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        // Nothing is exported before shutdown.
        ("OTEL_BSP_SCHEDULE_DELAY", "3600000"),
    ];
    let mut studio = Studio::start_with(&settings).await;
    studio.service.execute("alter table jobs rename to lost").await;
    let answer = studio.service.queue(&studio.account, &json!({"parts": ["<p>"]})).await;
    assert_eq!(answer.status(), 500);
    assert!(collector.spans().is_empty());
    studio.service.process.signal(Signal::TERM);
    let (request, _) = collector.wait_for("POST /api/v1/renderers/pdf/async").await;
    assert_eq!(request.status.expect("a status").code, StatusCode::Error as i32);
    tokio::task::spawn_blocking(move || studio.service.process.ended())
        .await
        .expect("it ends");
}
