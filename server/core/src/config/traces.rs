//! OpenTelemetry traces. The exporter reads its own standard variables once, at start. This module only describes them
//! in `--help` and checks whether there is a collector.

use url::Url;

use crate::config::reader::{Reader, Setting};

const ENDPOINT: Setting = Setting::new("OTEL_EXPORTER_OTLP_ENDPOINT", "http:// or https:// address")
    .default("no traces")
    .purpose(
        "OpenTelemetry collector that receives a trace of each request and job, by OTLP as http/protobuf. The \
         other standard variables of OpenTelemetry for exporter, sampler and resource apply as well.",
    );
const SERVICE_NAME: Setting = Setting::new("OTEL_SERVICE_NAME", "any text")
    .default("platen")
    .purpose("Name of the service in traces.");

pub(super) const SETTINGS: &[&Setting] = &[&ENDPOINT, &SERVICE_NAME];

#[derive(Debug)]
pub struct TracesConfig {
    /// Whether a collector is set.
    pub wanted: bool,
    /// The name of the service in traces.
    pub service_name: String,
}

impl TracesConfig {
    pub(super) fn from_env(reader: &mut Reader) -> Self {
        let endpoint = reader.parsed_if_set(&ENDPOINT, |text| {
            let url = Url::parse(text).ok();
            url.filter(|url| matches!(url.scheme(), "http" | "https"))
        });
        Self {
            wanted: endpoint.is_some(),
            service_name: reader.parsed(&SERVICE_NAME, |text| Some(text.to_owned())),
        }
    }
}
