use super::*;
use crate::render_request::AsynchronousRequest;

/// The body, as stored by releases before version 1. It has every member.
const VERSION_0: &[u8] = include_bytes!("tests/version_0.json");
/// The same request in version 1. Databases contain data in both formats, so these files never change and are never
/// removed.
const VERSION_1: &[u8] = include_bytes!("tests/version_1.json");

fn read(version: i16, bytes: &[u8]) -> StoredRequest {
    StoredRequest::from_bytes(version, bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn written(request: StoredRequest) -> Value {
    let bytes = request.into_bytes().expect("JSON");
    serde_json::from_slice(&bytes).expect("JSON")
}

#[test]
fn requests_of_earlier_releases_are_read() {
    let expected: Value = serde_json::from_slice(VERSION_1).expect("JSON");
    for (version, bytes) in [(0, VERSION_0), (1, VERSION_1)] {
        assert_eq!(written(read(version, bytes)), expected);
    }
}

#[test]
fn compressed_bodies_are_read() {
    let stored = compressed(VERSION_0).expect("compressed");
    assert_eq!(size(2, &stored), VERSION_0.len() as u64);
    let expected: Value = serde_json::from_slice(VERSION_1).expect("JSON");
    assert_eq!(written(read(2, &stored)), expected);
}

#[test]
fn the_body_of_a_stored_request_is_the_one_that_was_sent_without_secrets() {
    let AsynchronousRequest {
        render, destination, ..
    } = AsynchronousRequest::parse(VERSION_0).unwrap_or_else(|problems| panic!("{problems:?}"));
    let options = render.options.as_object().cloned().expect("an object");
    let body = StoredRequest { render, destination }.into_body(options).expect("JSON");
    assert!(
        body.contains(r#"{"name":"Ada \"A\" Lovelace","lines":[1,2.50]}"#),
        "{body}"
    );
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let mut expected: Value = serde_json::from_slice(VERSION_0).expect("JSON");
    expected["parts"][0] = json!({"type": "html", "content": "<h1>Hello</h1>"});
    expected["parts"][4]["content"]["context"] = json!({});
    expected["callback"] = json!({"url": "https://example.com/rendered"});
    expected["set_cookie"] = json!({"name": "session", "domain": "example.com"});
    expected["pages"] = body["pages"].clone();
    assert_eq!(body, expected);
}

#[test]
fn what_is_stored_is_what_was_accepted() {
    let AsynchronousRequest {
        render, destination, ..
    } = AsynchronousRequest::parse(VERSION_0).unwrap_or_else(|problems| panic!("{problems:?}"));
    let PartSource::Template(template) = &render.parts[2] else {
        panic!("{:?}", render.parts[2]);
    };
    assert_eq!(
        template.context.get(),
        r#"{"name":"Ada \"A\" Lovelace","lines":[1,2.50]}"#
    );
    let expected: Value = serde_json::from_slice(VERSION_1).expect("JSON");
    assert_eq!(written(StoredRequest { render, destination }), expected);
}

#[test]
fn defaults_are_those_of_the_day_when_it_was_accepted() {
    let AsynchronousRequest { render, .. } = AsynchronousRequest::parse(br#"{"parts": ["<p>"]}"#).expect("sound");
    let stored = written(StoredRequest {
        render,
        destination: None,
    });
    for member in ["paper_width", "margins", "scale", "backgrounds", "media", "format"] {
        assert!(!stored[member].is_null(), "{member}: {stored}");
    }
    read(StoredRequest::VERSION, stored.to_string().as_bytes());
}

#[test]
fn a_demand_waits_with_its_request() {
    let body = br#"{"parts": ["<p>"], "conformance": ["pdf/a-2a", "pdf/ua-1"]}"#;
    let AsynchronousRequest { render, .. } = AsynchronousRequest::parse(body).expect("sound");
    let demanded = render.conformance.clone();
    assert_eq!(demanded.len(), 2);
    let stored = StoredRequest {
        render,
        destination: None,
    };
    // An earlier release must not render it without the demand.
    let version = stored.version();
    assert_eq!(version, 3);
    let read = read(version, written(stored).to_string().as_bytes());
    assert_eq!(read.render.conformance, demanded);
}

#[test]
fn a_body_that_the_schema_would_refuse_by_now_is_read() {
    let body = br#"{"parts": ["no HTML"], "scale": 7, "gone": {"by": "now"}, "header_template": "h"}"#;
    let request = read(0, body);
    assert!((request.render.print.scale - 7.0).abs() < f64::EPSILON);
    assert_eq!(request.render.parts.len(), 1);
}

#[test]
fn unreadable_content_has_a_reason() {
    for (version, bytes, reason) in [
        (0, &b"{"[..], "EOF"),
        (0, br#"{"parts": ["https://"]}"#, "/parts/0"),
        (1, br#"{"parts": []}"#, "missing field"),
        (2, b"{}", "end of file"),
        (3, br#"{"parts": []}"#, "missing field"),
        (4, br#"{"parts": []}"#, "missing field"),
        (5, br#"{"parts": []}"#, "later release"),
    ] {
        let error = StoredRequest::from_bytes(version, bytes)
            .expect_err("unreadable")
            .to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn assets_are_stored_and_returned() {
    let body = br#"{"parts": ["<p>"], "assets": {"a/b.css": "cHt9"}}"#;
    let AsynchronousRequest { render, .. } = AsynchronousRequest::parse(body).expect("sound");
    let options = render.options.as_object().cloned().expect("an object");
    let request = StoredRequest {
        render,
        destination: None,
    };
    assert_eq!(request.version(), StoredRequest::DEMANDING_VERSION);
    let bytes = request.into_bytes().expect("JSON");
    let request = StoredRequest::from_bytes(StoredRequest::DEMANDING_VERSION, &bytes).expect("readable");
    let body: Value = serde_json::from_str(&request.into_body(options).expect("JSON")).expect("JSON");
    assert_eq!(body["assets"], json!({"a/b.css": "cHt9"}));
}
