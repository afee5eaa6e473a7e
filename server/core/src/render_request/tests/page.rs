//! Scripts, waits and cookies.

use super::*;

#[test]
fn scripts_and_waits() {
    let rows: [(&str, &[&str]); 12] = [
        (r#""evaluate_js": {"expression": "1"}"#, &[]),
        (r#""evaluate_js": {"expression": ""}"#, &[]),
        (r#""evaluate_js": {}"#, &["/evaluate_js/expression"]),
        (r#""evaluate_js": {"expression": null}"#, &["/evaluate_js/expression"]),
        (
            r#""evaluate_js": {"expression": "1", "await": true}"#,
            &["/evaluate_js/await"],
        ),
        (r#""evaluate_js": "1""#, &["/evaluate_js"]),
        (r##""wait_for": {"selector": "#a", "attribute": "done"}"##, &[]),
        (
            r#""wait_for": {"selector": "", "attribute": ""}"#,
            &["/wait_for/selector", "/wait_for/attribute"],
        ),
        (r#""wait_for": {"selector": "p"}"#, &["/wait_for/attribute"]),
        (
            r#""wait_for": {"attribute": 1}"#,
            &["/wait_for/attribute", "/wait_for/selector"],
        ),
        (
            r#""wait_for": {"selector": "p", "attribute": "a", "timeout": 1}"#,
            &["/wait_for/timeout"],
        ),
        (r#""wait_for": null"#, &["/wait_for"]),
    ];
    for (member, pointers) in rows {
        assert_problems(&with(member), pointers);
    }
}

#[test]
fn cookies() {
    let cookie = |name: &str, value: &str, domain: &str| {
        with(&format!(
            r#""set_cookie": {{"name": "{name}", "value": "{value}", "domain": "{domain}"}}"#
        ))
    };
    for (name, value, domain) in [
        ("session", "", "example.com"),
        ("a.b-c", "x y=z,\\\"q\\\"", ".example.com"),
        ("s", "ä", "127.0.0.1"),
        ("s", "v", "[::1]"),
        ("s", "v", "bücher.example"),
        ("s", "v", "localhost"),
    ] {
        assert_problems(&cookie(name, value, domain), &[]);
    }
    for name in [
        "",
        " ",
        "a b",
        "a=b",
        "a;b",
        "a\\u0000",
        "a\\r\\nSet-Cookie: x",
        "a\\u0085",
    ] {
        assert_problems(&cookie(name, "v", "example.com"), &["/set_cookie/name"]);
    }
    for value in ["a;b", "a\\nb", "a\\u0007", "\\t", "a\\u007f"] {
        assert_problems(&cookie("s", value, "example.com"), &["/set_cookie/value"]);
    }
    for domain in [
        "",
        ".",
        "example.com/",
        "https://example.com",
        "example.com:80",
        "a b",
        "a\\nb",
        "a..b",
        "@",
    ] {
        assert_problems(&cookie("s", "v", domain), &["/set_cookie/domain"]);
    }
    assert_problems(
        &with(r#""set_cookie": {}"#),
        &["/set_cookie/name", "/set_cookie/value", "/set_cookie/domain"],
    );
    assert_problems(
        &with(r#""set_cookie": {"name": 1, "value": null, "domain": [], "path": "/"}"#),
        &[
            "/set_cookie/name",
            "/set_cookie/value",
            "/set_cookie/domain",
            "/set_cookie/path",
        ],
    );
    assert_problems(&with(r#""set_cookie": "a=b""#), &["/set_cookie"]);
}

#[test]
fn cookie_values_are_not_echoed() {
    let found = problems(&with(
        r#""set_cookie": {"name": "s", "value": "hunter2;", "domain": "example.com"}"#,
    ));
    assert_eq!(found.len(), 1);
    assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
}
