//! The network log of a render: DevTools tells what the page asked for, the guard what it refused.

use platen_egress::log::{ConnectionLog, ConnectionRecord, Outcome};
use url::{Host, Url};

use crate::job::{NetworkRequest, REQUEST_LOG_LIMIT, Warning};

/// Addresses named in the warning.
const NAMED_IN_WARNING: usize = 5;

/// Marks what the guard refused. To the page a refusal looks like an answer with status 403, or like a broken tunnel.
pub(crate) fn with_refusals(mut requests: Vec<NetworkRequest>, log: &ConnectionLog) -> Vec<NetworkRequest> {
    for record in &log.records {
        let Outcome::Refused(rule) = &record.outcome else {
            continue;
        };
        let room = requests.len() < REQUEST_LOG_LIMIT;
        let known = requests
            .iter_mut()
            .find(|request| request.refused.is_none() && is_for(&request.url, record));
        match known {
            Some(request) => {
                request.status = None;
                request.error = None;
                request.refused = Some(rule.clone());
            }
            // Workers, preconnects and frames of other processes are not told by the page's own session.
            None if room => requests.push(NetworkRequest {
                url: format!("{}:{}", record.host, record.port),
                status: None,
                error: None,
                refused: Some(rule.clone()),
            }),
            None => {}
        }
    }
    requests
}

/// Tells the author of the page what was refused.
pub(crate) fn refusal_warning(requests: &[NetworkRequest]) -> Option<Warning> {
    let refused: Vec<&NetworkRequest> = requests.iter().filter(|request| request.refused.is_some()).collect();
    let named: Vec<String> = refused
        .iter()
        .take(NAMED_IN_WARNING)
        .map(|request| format!("{} ({})", request.url, request.refused.as_deref().unwrap_or_default()))
        .collect();
    (!refused.is_empty()).then(|| Warning {
        code: "request_refused",
        message: format!("{} requests were refused: {}", refused.len(), named.join(", ")),
    })
}

/// Whether the guard's record may be of a request for this address. The browser and the guard spell some IPv6 addresses
/// differently.
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
    use platen_egress::log::Kind;

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
            url: "http://127.0.0.1/x.png".to_owned(),
            status: Some(403),
            error: None,
            refused: None,
        };
        let log = ConnectionLog {
            records: vec![refused("127.0.0.1", 80), refused("10.0.0.1", 81)],
            ..Default::default()
        };
        let requests = with_refusals(vec![seen], &log);
        assert_eq!(requests[0].status, None);
        assert_eq!(requests[0].refused.as_deref(), Some("a loopback address"));
        assert_eq!(requests[1].url, "10.0.0.1:81");
        let warning = refusal_warning(&requests).unwrap();
        assert!(
            warning
                .message
                .starts_with("2 requests were refused: http://127.0.0.1/x.png"),
            "{}",
            warning.message
        );
    }
}
