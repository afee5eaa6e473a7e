//! Logs, on standard error, and traces. Both carry ids and figures; never content, keys or query strings.

pub mod traces;

use std::io::IsTerminal;

use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::{
    log::{LogConfig, LogFormat},
    traces::TracesConfig,
};

/// What is to be ended last.
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
}

/// Sets the process's log up, and its traces if they have anywhere to go. Called once, before anything logs, and outside
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
    /// Sends what was not sent yet. Called outside of a runtime.
    pub fn end(self) {
        if let Some(Err(error)) = self.traces.map(|traces| traces.shutdown()) {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}
