//! Conditional requests (RFC 9110, 13). An entity tag is the number of a template's published version.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use platen_domain::template::ExpectedVersion;

/// Returns the header `ETAG: "7"` for a version.
pub(super) fn entity_tag(version: i32) -> (HeaderName, HeaderValue) {
    let quoted = HeaderValue::try_from(format!("\"{version}\""));
    (
        header::ETAG,
        quoted.unwrap_or_else(|_| unreachable!("digits are a valid header value")),
    )
}

/// Parses `If-Match`. Weak tags match nothing (RFC 9110, 13.1.1).
pub(super) fn if_match(headers: &HeaderMap) -> ExpectedVersion {
    if !headers.contains_key(header::IF_MATCH) {
        return ExpectedVersion::Any;
    }
    listed(headers, &header::IF_MATCH, |tag| tag)
}

/// Returns whether `If-None-Match` contains this version (RFC 9110, 13.1.2).
pub(super) fn has_version(headers: &HeaderMap, version: i32) -> bool {
    listed(headers, &header::IF_NONE_MATCH, |tag| {
        tag.strip_prefix("W/").unwrap_or(tag)
    })
    .includes(version)
}

fn listed(headers: &HeaderMap, name: &HeaderName, comparable: impl Fn(&str) -> &str) -> ExpectedVersion {
    let values = headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    let tags: Vec<_> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    if tags.contains(&"*") {
        return ExpectedVersion::Any;
    }
    let version = |tag: &&str| comparable(tag).strip_prefix('"')?.strip_suffix('"')?.parse().ok();
    ExpectedVersion::OneOf(tags.iter().filter_map(version).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        values
            .iter()
            .map(|value| (name.clone(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn preconditions() {
        let expected = |values: &[&'static str]| if_match(&with(&header::IF_MATCH, values));
        assert_eq!(expected(&[]), ExpectedVersion::Any);
        assert_eq!(expected(&["*"]), ExpectedVersion::Any);
        assert_eq!(expected(&["\"7\""]), ExpectedVersion::OneOf(vec![7]));
        assert_eq!(
            expected(&["\"7\", \"x\",\"9\"", "\"1\""]),
            ExpectedVersion::OneOf(vec![7, 9, 1])
        );
        assert_eq!(expected(&["W/\"7\", 8, \"\", \""]), ExpectedVersion::OneOf(Vec::new()));
    }

    #[test]
    fn copies_that_clients_have() {
        let has = |values: &[&'static str]| has_version(&with(&header::IF_NONE_MATCH, values), 7);
        assert!(has(&["\"7\""]) && has(&["\"1\", W/\"7\""]) && has(&["*"]));
        assert!(!has(&[]) && !has(&["\"8\""]) && !has(&["7"]) && !has(&["W/7"]));
    }
}
