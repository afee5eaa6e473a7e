//! Logs, on standard error. Events carry ids and figures; never content, keys or query strings.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::log::{LogConfig, LogFormat};

/// Sets the process's log up. Called once, before anything logs.
pub fn start(config: &LogConfig) {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&config.filter))
        .with_writer(std::io::stderr);
    match config.format {
        LogFormat::Text => builder
            .with_target(false)
            .with_ansi(std::io::stderr().is_terminal())
            .init(),
        LogFormat::Json => builder.json().flatten_event(true).with_span_list(false).init(),
    }
}
