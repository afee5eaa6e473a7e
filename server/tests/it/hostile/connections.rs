//! Connections that are held open, and clients that keep the service waiting.

mod limits;
mod slow;

use crate::support::service::TestService;

const TOKEN: &str = "a-token-for-prometheus";
const METRICS: (&str, &str) = ("PLATEN_METRICS_TOKEN", TOKEN);

/// Returns the value of a series of `/metrics`.
async fn metric(service: &TestService, series: &str) -> f64 {
    let request = service.client.get(service.url("/metrics")).bearer_auth(TOKEN);
    let text = request.send().await.expect("an answer").text().await.expect("a text");
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    let value = line.unwrap_or_else(|| panic!("no {series}"));
    value.trim().parse().expect("a number")
}
