//! Parts of documents.

use serde_json::json;

use super::*;

#[test]
fn parts() {
    for wrong in ["null", "\"<p>\"", "{}", "[]"] {
        assert_problems(
            &format!(r#"{{"parts": {wrong}, "output_encoding": "binary"}}"#),
            &["/parts"],
        );
    }
    let many = |count: usize| with_part(&vec!["\"<p>\""; count].join(","));
    assert_problems(&many(MOST_PARTS + 1), &["/parts"]);
    assert_problems(&many(MOST_PARTS), &[]);
    assert_problems(&with_part(r#""<p>", "nothing""#), &["/parts/1"]);
    assert_problems(
        &with_part(r#"1, null, [], true, "x""#),
        &["/parts/0", "/parts/1", "/parts/2", "/parts/3", "/parts/4"],
    );
}

#[test]
fn bare_parts() {
    for sound in [
        "<p>",
        " \\n\\t<p class='a>b'>x",
        "<!doctype html><p>",
        "<!DOCTYPE HTML>",
        "<!-- note --><p>",
        "\\ufeff<html>",
        "<my-tag/>",
        "http://example.com",
        "https://example.com:8443/a?b=c#d",
        "https://user:secret@example.com/",
        "http://127.0.0.1/",
        "http://[::1]:8080/",
        "https://bücher.example/ä",
        "http://example.com./",
    ] {
        assert_problems(&with_part(&format!("\"{sound}\"")), &[]);
    }
    let long_label = format!("http://{}.example/", "a".repeat(64));
    let long_name = format!("http://{}/", vec!["a"; 200].join("."));
    for wrong in [
        "",
        "  ",
        "hello",
        "<",
        "<p",
        "< p>",
        "<3",
        "</p>",
        "<?xml version='1.0'?><html>",
        "ftp://example.com/",
        "file:///etc/passwd",
        "HTTPS://example.com/",
        " https://example.com/",
        "https://",
        "https:// example.com/",
        "https://example.com/a b",
        "http://example.com:99999/",
        "http://example.com:0/",
        "http://example.com:port/",
        "http://exa mple.com/",
        "http://[::1/",
        "http://[zz]/",
        "http://1.2.3.400/",
        "http://a..b/",
        "http:///",
        "http://?q",
        "https://exa%00mple.com/",
        &long_label,
        &long_name,
    ] {
        assert_problems(&with_part(&format!("\"{wrong}\"")), &["/parts/0"]);
    }
}

#[test]
fn structured_parts() {
    for sound in [
        r#"{"type": "url", "content": "https://example.com/"}"#,
        r#"{"type": "html", "content": ""}"#,
        r#"{"type": "html", "content": "no tag at all"}"#,
        r#"{"content": "https://example.com/", "type": "html"}"#,
    ] {
        assert_problems(&with_part(sound), &[]);
    }
    let rows: [(&str, &[&str]); 23] = [
        ("{}", &["/parts/0/type", "/parts/0/content"]),
        (r#"{"type": "html"}"#, &["/parts/0/content"]),
        (r#"{"content": "<p>"}"#, &["/parts/0/type"]),
        (r#"{"content": 7}"#, &["/parts/0/content", "/parts/0/type"]),
        (r#"{"type": "pdf", "content": "x"}"#, &["/parts/0/type"]),
        (
            r#"{"type": null, "content": []}"#,
            &["/parts/0/type", "/parts/0/content"],
        ),
        (r#"{"type": "html", "content": null}"#, &["/parts/0/content"]),
        (r#"{"type": "html", "content": {}}"#, &["/parts/0/content"]),
        (r#"{"type": "html", "content": "", "x": 1}"#, &["/parts/0/x"]),
        (r#"{"type": "url", "content": 1}"#, &["/parts/0/content"]),
        (r#"{"type": "url", "content": {}}"#, &["/parts/0/content"]),
        (r#"{"type": "url", "content": ""}"#, &["/parts/0/content"]),
        (r#"{"type": "url", "content": "<p>"}"#, &["/parts/0/content"]),
        (
            r#"{"type": "url", "content": "https://example.com:0/"}"#,
            &["/parts/0/content"],
        ),
        (
            r#"{"type": "url", "content": "https://example.com/", "url": ""}"#,
            &["/parts/0/url"],
        ),
        (r#"{"type": "template", "content": "t"}"#, &["/parts/0/content"]),
        (
            r#"{"type": "template", "content": {}}"#,
            &["/parts/0/content/template_id"],
        ),
        (
            r#"{"type": "template", "content": {"template_id": 1}}"#,
            &["/parts/0/content/template_id"],
        ),
        (
            r#"{"type": "template", "content": {"template_id": "t"}}"#,
            &["/parts/0/content/template_id"],
        ),
        (
            r#"{"type": "template", "content": {"template_id": "t", "context": []}}"#,
            &["/parts/0/content/template_id", "/parts/0/content/context"],
        ),
        (
            r#"{"type": "template", "content": {"template_id": "0192f0c15a3e7c449d8e3b1f6a2c7d90"}}"#,
            &["/parts/0/content/template_id"],
        ),
        (
            r#"{"type": "template", "content": {"template_id": "0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90", "context": {"a": {}}}}"#,
            &[],
        ),
        (
            r#"{"type": "template", "content": {"context": null, "x": 1}}"#,
            &[
                "/parts/0/content/context",
                "/parts/0/content/x",
                "/parts/0/content/template_id",
            ],
        ),
    ];
    for (part, pointers) in rows {
        assert_problems(&with_part(part), pointers);
    }
}

#[test]
fn templates_without_their_switch_have_no_effect() {
    assert_eq!(request(r#""header_template": "<b>h</b>""#).print.header_footer, None);
    assert_eq!(request(r#""render_header_footer": true"#).print.header_footer, None);
}

#[test]
fn parts_are_told_apart() {
    let source = |part: &str| render(&with_part(part)).parts.remove(0);
    let part = |part: &str| match source(part) {
        PartSource::Given(part) => part,
        template @ PartSource::Template(_) => panic!("{template:?}"),
    };
    assert!(
        matches!(part(r#""https://example.com/a?b""#), Part::Url(url) if url.as_str() == "https://example.com/a?b")
    );
    assert!(matches!(
        part(r#"{"type": "url", "content": "http://example.com"}"#),
        Part::Url(_)
    ));
    assert!(matches!(
        part(r#"{"type": "html", "content": "http://example.com"}"#),
        Part::Html(_)
    ));
    let id = "0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90";
    let template = source(&format!(
        r#"{{"type": "template", "content": {{"template_id": "{id}", "context": {{"a": 1}}}}}}"#
    ));
    let PartSource::Template(template) = template else {
        panic!("{template:?}");
    };
    assert_eq!(template.template.to_string(), id);
    assert_eq!(template.context.get(), r#"{"a":1}"#);
}

#[test]
fn of_a_template_its_identifier_and_version_are_kept() {
    let id = "0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90";
    let template =
        format!(r#"{{"type": "template", "content": {{"template_id": "{id}", "context": {{"a": "hunter2"}}}}}}"#);
    let mut request = render(&with_part(&format!(r#""<p>", {template}"#)));
    let parts: Vec<_> = request
        .templates()
        .map(|(part, template)| (part, template.template.to_string()))
        .collect();
    assert_eq!(parts, [(1, id.to_owned())]);
    request.note_version(1, 7);
    assert_eq!(
        request.options["parts"],
        json!([{"type": "html", "bytes": 3}, {"type": "template", "template_id": id, "version": 7}])
    );
}
