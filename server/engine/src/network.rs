//! The network log of a render: requests as DevTools reports them, and refusals of the guard.

use std::collections::BTreeSet;

use platen_egress::log::{ConnectionLog, ConnectionRecord, Kind, Outcome};
use url::{Host, Url};

use crate::{
    asset_addresses::{as_written, written},
    asset_embedding::name_in_data_url,
    job::Warning,
    network_error::{self, ABORTED, TUNNEL_FAILED},
    render_log::{NetworkRequest, REQUEST_LIMIT},
};

/// Maximum number of URLs in a warning.
const NAMED_IN_WARNING: usize = 5;

/// Adds the guard's reasons to requests that it refused, or that failed. DevTools reports these as responses with status
/// 403, 502 or 504, or as failed tunnels.
pub(crate) fn with_reasons(mut requests: Vec<NetworkRequest>, part: usize, log: &ConnectionLog) -> Vec<NetworkRequest> {
    for record in &log.records {
        let Outcome::Refused(rule) = &record.outcome else {
            if let Some(reason) = why_unreachable(&record.outcome) {
                explain_failure(&mut requests, record, reason);
            }
            continue;
        };
        let room = requests.len() < REQUEST_LIMIT;
        let known = requests
            .iter_mut()
            .find(|request| request.refused.is_none() && is_for(&request.url, record));
        match known {
            Some(request) => {
                request.status = None;
                request.error = None;
                request.refused = Some(rule.clone());
            }
            // The page's DevTools session doesn't report workers, preconnects and frames of other processes.
            None if room => requests.push(NetworkRequest {
                refused: Some(rule.clone()),
                ..NetworkRequest::new(part, format!("{}:{}", record.host, record.port))
            }),
            None => {}
        }
    }
    requests
}

/// Returns why the guard could not connect, or could not complete the response.
pub(crate) fn why_unreachable(outcome: &Outcome) -> Option<&str> {
    Some(match outcome {
        Outcome::Pending | Outcome::Connected | Outcome::Refused(_) => return None,
        Outcome::ResolveFailed => "the host has no address",
        Outcome::ConnectFailed(reason) => reason,
        Outcome::TimedOut => "no response in time",
        Outcome::OverLimit => "the byte limit of one render was exceeded",
    })
}

/// Adds the reason to the request that failed because of this connection.
fn explain_failure(requests: &mut [NetworkRequest], record: &ConnectionRecord, reason: &str) {
    let has_failed = |request: &NetworkRequest| match record.kind {
        Kind::Tunnel => request.error.as_deref() == Some(TUNNEL_FAILED),
        Kind::Http => matches!(request.status, Some(502 | 504)),
    };
    let failed = requests
        .iter_mut()
        .find(|request| request.refused.is_none() && has_failed(request) && is_for(&request.url, record));
    if let Some(request) = failed {
        request.status = None;
        request.error = Some(reason.to_owned());
    }
}

/// Returns warnings for the author of the page: one for refused requests, one for failed ones.
pub(crate) fn warnings(requests: &[NetworkRequest]) -> impl Iterator<Item = Warning> {
    let refused = requests
        .iter()
        .filter_map(|request| Some((request, request.refused.clone()?)));
    let failed = requests
        .iter()
        .filter_map(|request| Some((request, why_failed(request)?)));
    let refused = warning("request_refused", "refused", &refused.collect::<Vec<_>>());
    let failed = warning("resource_failed", "failed", &failed.collect::<Vec<_>>());
    refused.into_iter().chain(failed)
}

/// Returns a warning for images that can't be displayed, other than those whose requests failed, which have a warning of
/// their own. `images` are addresses or, if an address is unknown, the value of `src`.
pub(crate) fn broken_images<'r>(
    images: &[String],
    requests: impl Iterator<Item = &'r NetworkRequest>,
) -> Option<Warning> {
    let failed = requests.filter(|request| why_failed(request).is_some());
    let failed: BTreeSet<_> = failed.map(|request| request.url.as_str()).collect();
    let names = images.iter().map(|image| match name_in_data_url(image) {
        Some(asset) => written(&asset),
        None => as_written(without_content(image).to_owned()),
    });
    let broken: BTreeSet<_> = names.filter(|image| !failed.contains(image.as_str())).collect();
    let listed: Vec<_> = broken.iter().take(NAMED_IN_WARNING).map(String::as_str).collect();
    let count = match broken.len() {
        0 => return None,
        1 => "1 image".to_owned(),
        several => format!("{several} images"),
    };
    Some(Warning {
        code: "image_broken",
        message: format!(
            "{count} can't be displayed: {}. Use an absolute address or an asset, and an image format that browsers support.",
            listed.join(", ")
        ),
    })
}

/// Returns the address without query string and fragment, or the type of a `data:` address.
fn without_content(address: &str) -> &str {
    let ends: &[char] = if address.starts_with("data:") {
        &[',']
    } else {
        &['?', '#']
    };
    address.split(ends).next().unwrap_or_default()
}

fn why_failed(request: &NetworkRequest) -> Option<String> {
    if request.refused.is_some() {
        return None;
    }
    // Requests that the page itself aborted are not missing.
    let error = request.error.as_deref().filter(|error| *error != ABORTED);
    let error = error.map(|error| network_error::explain(error).to_owned());
    let status = request.status.filter(|status| *status >= 400);
    error.or_else(|| {
        status.map(|status| match request.missing_asset() {
            Some(_) => "there is no asset of this name".to_owned(),
            None => format!("status {status}"),
        })
    })
}

fn warning(code: &'static str, what: &str, requests: &[(&NetworkRequest, String)]) -> Option<Warning> {
    let named: Vec<String> = requests
        .iter()
        .take(NAMED_IN_WARNING)
        .map(|(request, reason)| format!("{} ({reason})", request.url))
        .collect();
    let count = match requests.len() {
        0 => return None,
        1 => "1 request".to_owned(),
        several => format!("{several} requests"),
    };
    Some(Warning {
        code,
        message: format!("{count} {what}: {}", named.join(", ")),
    })
}

/// Returns whether `record` may belong to a request for `url`: host and port are equal. Compares parsed addresses,
/// because browser and guard spell some IPv6 addresses differently.
pub(crate) fn is_for(url: &str, record: &ConnectionRecord) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let same_host = match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case(&record.host),
        Some(Host::Ipv4(address)) => record.host.parse() == Ok(address),
        Some(Host::Ipv6(address)) => record.host.parse() == Ok(address),
        None => false,
    };
    same_host && url.port_or_known_default() == Some(record.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(host: &str, port: u16) -> ConnectionRecord {
        ConnectionRecord {
            kind: Kind::Http,
            host: host.to_owned(),
            port,
            outcome: Outcome::Refused("a loopback address".to_owned()),
            bytes_received: 0,
        }
    }

    #[test]
    fn an_address_is_known_in_every_spelling() {
        let record = refused("::ffff:127.0.0.1", 80);
        assert!(is_for("http://[::ffff:7f00:1]/x", &record));
        assert!(!is_for("http://[::ffff:7f00:1]:81/x", &record));
        assert!(!is_for("http://127.0.0.1/x", &record));
    }

    #[test]
    fn refusals_replace_what_the_page_saw() {
        let seen = NetworkRequest {
            status: Some(403),
            ..NetworkRequest::new(1, "http://127.0.0.1/x.png".to_owned())
        };
        let log = ConnectionLog {
            records: vec![refused("127.0.0.1", 80), refused("10.0.0.1", 81)],
            ..Default::default()
        };
        let requests = with_reasons(vec![seen], 1, &log);
        assert_eq!(requests[0].status, None);
        assert_eq!(requests[0].refused.as_deref(), Some("a loopback address"));
        assert_eq!((requests[1].part, requests[1].url.as_str()), (1, "10.0.0.1:81"));
        let warning = warnings(&requests).next().unwrap();
        assert!(
            warning
                .message
                .starts_with("2 requests refused: http://127.0.0.1/x.png"),
            "{}",
            warning.message
        );
    }

    #[test]
    fn failures_have_the_reasons_of_the_guard() {
        let record = |kind, host: &str, outcome| ConnectionRecord {
            kind,
            outcome,
            ..refused(host, 443)
        };
        let request = |url: &str, status, error: Option<&str>| NetworkRequest {
            status,
            error: error.map(ToOwned::to_owned),
            ..NetworkRequest::new(0, url.to_owned())
        };
        let log = ConnectionLog {
            records: vec![
                record(Kind::Tunnel, "a.example", Outcome::ResolveFailed),
                record(Kind::Http, "b.example", Outcome::TimedOut),
                record(Kind::Tunnel, "c.example", Outcome::Connected),
            ],
            ..Default::default()
        };
        let requests = vec![
            request("https://a.example/fine", Some(200), None),
            request("https://a.example/x", None, Some(TUNNEL_FAILED)),
            request("http://b.example:443/x", Some(504), None),
            request("https://c.example/x", Some(502), None),
        ];
        let requests = with_reasons(requests, 0, &log);
        let found: Vec<_> = requests
            .iter()
            .map(|request| (request.status, request.error.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                (Some(200), None),
                (None, Some("the host has no address")),
                (None, Some("no response in time")),
                (Some(502), None),
            ]
        );
    }

    #[test]
    fn failures_are_told_and_what_the_page_broke_off_is_not() {
        let request = |path: &str, status, error: Option<&str>| NetworkRequest {
            status,
            error: error.map(ToOwned::to_owned),
            ..NetworkRequest::new(0, format!("http://example.com/{path}"))
        };
        let requests = [
            request("fine", Some(200), None),
            request("missing", Some(404), None),
            request("cut", Some(200), Some("net::ERR_CONTENT_LENGTH_MISMATCH")),
            request("left", None, Some("net::ERR_ABORTED")),
        ];
        let said: Vec<Warning> = warnings(&requests).collect();
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].code, "resource_failed");
        assert!(
            said[0].message.ends_with(
                ": http://example.com/missing (status 404), http://example.com/cut (the response was incomplete)"
            ),
            "{}",
            said[0].message
        );
    }
}
