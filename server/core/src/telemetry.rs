//! Logs on standard error, and traces. Both contain ids and figures, but never content, keys or query strings.

pub mod traces;

use std::io::IsTerminal;

use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::{
    log::{LogConfig, LogFormat},
    traces::TracesConfig,
};

/// Telemetry to shut down when the process ends.
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

/// Initializes the log, and traces if a collector is set. Must be called once, before anything is logged, and outside
/// of a runtime.
pub fn start(log: &LogConfig, traces: Option<&TracesConfig>) -> Result<Telemetry, ExporterBuildError> {
    let traces = traces
        .filter(|traces| traces.wanted)
        .map(traces::provider)
        .transpose()?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match log.format {
        LogFormat::Text => lines
            .with_target(false)
            .with_ansi(std::io::stderr().is_terminal())
            .boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_span_list(false).boxed(),
    };
    tracing_subscriber::registry()
        .with(EnvFilter::new(&log.filter))
        .with(lines)
        .with(traces.as_ref().map(traces::layer))
        .init();
    Ok(Telemetry { traces })
}

impl Telemetry {
    /// Exports pending spans. Must be called outside of a runtime.
    pub fn end(self) {
        if let Some(Err(error)) = self.traces.map(|traces| traces.shutdown()) {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}
