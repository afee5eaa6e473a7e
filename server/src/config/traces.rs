//! Traces. The exporter has variables of its own, which are the same for every program; it reads them itself, once, at
//! start. Here is what `--help` says of them, and whether there is anything to send.

use url::Url;

use crate::config::reader::{Reader, Setting};

const ENDPOINT: Setting = Setting {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    purpose: "Collector of OpenTelemetry that gets a trace of each request and job, by OTLP as http/protobuf. The other \
              variables of OpenTelemetry for its exporter, its sampler and its resource hold as well.",
    allowed: "http:// or https:// address",
    default: "no traces",
};
const SERVICE_NAME: Setting = Setting {
    name: "OTEL_SERVICE_NAME",
    purpose: "What traces call the service.",
    allowed: "any text",
    default: "platen",
};

pub(super) const SETTINGS: &[&Setting] = &[&ENDPOINT, &SERVICE_NAME];

/// See the module.
#[derive(Debug)]
pub struct TracesConfig {
    /// Whether there is a collector.
    pub wanted: bool,
    /// What traces call the service.
    pub service_name: String,
}

impl TracesConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Option<Self> {
        let endpoint = reader.parsed_or(&ENDPOINT, Some(None), |text| {
            let url = Url::parse(text).ok();
            url.filter(|url| matches!(url.scheme(), "http" | "https")).map(Some)
        });
        let service_name = reader.parsed(&SERVICE_NAME, |text| Some(text.to_owned()));
        Some(Self {
            wanted: endpoint?.is_some(),
            service_name: service_name?,
        })
    }
}
