//! Filter and format of the log.

use std::io::IsTerminal;

use crate::config::reader::{Reader, Setting};

const FILTER: Setting = Setting::new(
    "PLATEN_LOG",
    "error, warn, info, debug, trace, or a list of target=level",
)
.default("info,sqlx=warn,tower_sessions=error")
.purpose("Filter of logged events, for instance platen_core=debug,info.");
const FORMAT: Setting = Setting::new("PLATEN_LOG_FORMAT", "auto, text, json")
    .default("auto")
    .purpose("Format of the log on standard error; auto is text on a terminal, otherwise JSON.");

pub(super) const SETTINGS: &[&Setting] = &[&FILTER, &FORMAT];

#[derive(Debug)]
pub struct LogConfig {
    /// In the syntax of `tracing_subscriber::EnvFilter`.
    pub filter: String,
    pub format: LogFormat,
}

/// Format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For humans.
    Text,
    /// One JSON object per line.
    Json,
}

impl LogConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let filter = reader.parsed(&FILTER, |text| {
            tracing_subscriber::EnvFilter::try_new(text)
                .is_ok()
                .then(|| text.to_owned())
        });
        let format = reader.parsed(&FORMAT, |text| match text {
            "auto" if std::io::stderr().is_terminal() => Some(LogFormat::Text),
            "text" => Some(LogFormat::Text),
            "auto" | "json" => Some(LogFormat::Json),
            _ => None,
        });
        Self { filter, format }
    }
}
