//! Spans of requests and jobs, exported to an OpenTelemetry collector. They contain ids, routes and outcomes, and never
//! what logs must not contain. Log events are not exported.

use std::time::{Duration, SystemTime};

use opentelemetry::{
    global,
    trace::{Span as _, TraceContextExt, Tracer, TracerProvider},
};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use platen_engine::job::PhaseTimes;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{Layer, filter::dynamic_filter_fn, registry::LookupSpan};

use crate::config::traces::TracesConfig;

/// The instrumentation scope of the spans.
const SCOPE: &str = "platen";

/// Creates a provider that exports spans from its own thread, configured by the standard variables of OpenTelemetry.
pub(super) fn provider(config: &TracesConfig) -> Result<SdkTracerProvider, ExporterBuildError> {
    let resource = Resource::builder()
        .with_service_name(config.service_name.clone())
        .with_attribute(opentelemetry::KeyValue::new(
            "service.version",
            env!("CARGO_PKG_VERSION"),
        ))
        .build();
    let provider = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_batch_exporter(SpanExporter::builder().with_http().build()?)
        .build();
    global::set_tracer_provider(provider.clone());
    Ok(provider)
}

/// Returns a layer that passes spans of Platen's packages to the provider.
pub(super) fn layer<S>(provider: &SdkTracerProvider) -> impl Layer<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    tracing_opentelemetry::layer()
        .with_tracer(provider.tracer(SCOPE))
        .with_location(false)
        .with_level(false)
        .with_target(false)
        .with_threads(false)
        .with_tracked_inactivity(false)
        // A filter whose decisions are not cached: sqlx checks whether logging is enabled without logging, and a cached
        // refusal would apply to the next span of the same thread.
        .with_filter(dynamic_filter_fn(|metadata, _| {
            metadata.is_span() && metadata.target().starts_with("platen_")
        }))
}

/// Records one span for each phase of a document that was just rendered, as children of the current span.
pub fn phases(times: &PhaseTimes) {
    let parent = Span::current().context();
    if !parent.span().span_context().is_sampled() {
        return;
    }
    let tracer = global::tracer(SCOPE);
    let mut phases = times.by_phase();
    phases.sort_unstable_by_key(|(phase, _)| *phase);
    let whole: Duration = phases.iter().map(|(_, duration)| *duration).sum();
    let mut from = SystemTime::now() - whole;
    for (phase, duration) in phases.into_iter().filter(|(_, duration)| !duration.is_zero()) {
        let until = from + duration;
        tracer
            .span_builder(phase.to_string())
            .with_start_time(from)
            .start_with_context(&tracer, &parent)
            .end_with_timestamp(until);
        from = until;
    }
}
