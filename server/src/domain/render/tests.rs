use serde_json::json;

use super::*;

/// A sound body with one more member, as text, so that a row may say what no `Value` can.
fn with(member: &str) -> String {
    format!(r#"{{"parts": ["<p>"], "output_encoding": "binary", {member}}}"#)
}

fn with_part(part: &str) -> String {
    format!(r#"{{"parts": [{part}], "output_encoding": "binary"}}"#)
}

fn faults(body: &str) -> Vec<Fault> {
    SynchronousRequest::parse(body.as_bytes()).map_or_else(|faults| faults, |_| Vec::new())
}

#[track_caller]
fn assert_faults(body: &str, expected: &[&str]) {
    let found = faults(body);
    let pointers: Vec<_> = found.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(pointers, expected, "{body}: {found:#?}");
    assert!(
        found
            .iter()
            .all(|fault| !fault.detail.is_empty() && !fault.title.is_empty())
    );
}

fn render(body: &str) -> RenderRequest {
    let request = SynchronousRequest::parse(body.as_bytes());
    request.unwrap_or_else(|faults| panic!("{body}: {faults:#?}")).render
}

fn request(member: &str) -> RenderRequest {
    let body = with(member);
    render(&body)
}

#[test]
fn whole_bodies() {
    for body in [
        "",
        "null",
        "[]",
        "\"<p>\"",
        "1",
        "{",
        "{\"parts\": [NaN]}",
        "{\"scale\": 1e999}",
    ] {
        assert_faults(body, &[""]);
    }
    assert_faults("{}", &["/parts", "/output_encoding"]);
    assert_faults(r#"{"parts": ["<p>"]}"#, &["/output_encoding"]);
    assert_faults(r#"{"output_encoding": "binary"}"#, &["/parts"]);
    for unknown in ["bogus", "callback", "destination", "Scale", ""] {
        assert_faults(&with(&format!("\"{unknown}\": {{}}")), &[&format!("/{unknown}")]);
    }
    assert_faults(&with(r#""a/b~c": 1"#), &["/a~1b~0c"]);
}

#[test]
fn simple_members() {
    let rows = [
        (
            "emulate_media_type",
            vec!["\"screen\"", "\"print\""],
            vec!["\"tv\"", "\"Print\"", "null", "1", "[]"],
        ),
        ("footer_template", vec!["\"\"", "\"<p>\""], vec!["null", "1", "{}"]),
        ("header_template", vec!["\"\"", "\"<p>\""], vec!["null", "false", "[]"]),
        (
            "include_backgrounds",
            vec!["true", "false"],
            vec!["null", "\"true\"", "1"],
        ),
        (
            "orientation",
            vec!["\"portrait\"", "\"landscape\""],
            vec!["\"Landscape\"", "null", "90"],
        ),
        (
            "output_format",
            vec!["\"pdf/a\"", "\"pdf\""],
            vec!["\"pdf/x\"", "\"\"", "null", "2"],
        ),
        (
            "prefer_css_page_size",
            vec!["true", "false"],
            vec!["null", "0", "\"no\""],
        ),
        (
            "render_header_footer",
            vec!["true", "false"],
            vec!["null", "\"\"", "{}"],
        ),
        (
            "scale",
            vec!["0.1", "1", "2", "2.0", "1e0"],
            vec!["0.09", "2.1", "-1", "0", "null", "\"1\"", "true", "1e300"],
        ),
    ];
    for (member, sound, wrong) in rows {
        for value in sound {
            assert_faults(&with(&format!("\"{member}\": {value}")), &[]);
        }
        for value in wrong {
            assert_faults(&with(&format!("\"{member}\": {value}")), &[&format!("/{member}")]);
        }
    }
    for wrong in ["\"hex\"", "\"Binary\"", "null", "64"] {
        assert_faults(
            &format!(r#"{{"parts": ["<p>"], "output_encoding": {wrong}}}"#),
            &["/output_encoding"],
        );
    }
}

#[test]
fn parts() {
    for wrong in ["null", "\"<p>\"", "{}", "[]"] {
        assert_faults(
            &format!(r#"{{"parts": {wrong}, "output_encoding": "binary"}}"#),
            &["/parts"],
        );
    }
    let many = |count: usize| with_part(&vec!["\"<p>\""; count].join(","));
    assert_faults(&many(51), &["/parts"]);
    assert_faults(&many(50), &[]);
    assert_faults(&with_part(r#""<p>", "nothing""#), &["/parts/1"]);
    assert_faults(
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
        assert_faults(&with_part(&format!("\"{sound}\"")), &[]);
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
        assert_faults(&with_part(&format!("\"{wrong}\"")), &["/parts/0"]);
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
        assert_faults(&with_part(sound), &[]);
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
        assert_faults(&with_part(part), pointers);
    }
}

#[test]
fn margins() {
    let all =
        |value: &str| format!(r#""margin": {{"top": {value}, "right": {value}, "bottom": {value}, "left": {value}}}"#);
    assert_faults(&with(&all("0")), &[]);
    assert_faults(&with(&all("10.5")), &[]);
    assert_faults(
        &with(&all("-0.1")),
        &["/margin/top", "/margin/right", "/margin/bottom", "/margin/left"],
    );
    assert_faults(
        &with(&all("null")),
        &["/margin/top", "/margin/right", "/margin/bottom", "/margin/left"],
    );
    assert_faults(&with(&all("105")), &["/margin"]);
    assert_faults(&with(&all("1e300")), &["/margin"]);
    let rows: [(&str, &[&str]); 10] = [
        ("null", &["/margin"]),
        ("10", &["/margin"]),
        (
            "{}",
            &["/margin/top", "/margin/right", "/margin/bottom", "/margin/left"],
        ),
        (r#"{"top": 1, "left": 1, "bottom": 1}"#, &["/margin/right"]),
        (
            r#"{"top": 1, "left": 1, "bottom": 1, "right": 1, "unit": "pt"}"#,
            &["/margin/unit"],
        ),
        (
            r#"{"top": 1, "left": 1, "bottom": 1, "right": 1, "unit": null}"#,
            &["/margin/unit"],
        ),
        (
            r#"{"top": "1", "left": 1, "bottom": 1, "right": 1, "x": 1}"#,
            &["/margin/top", "/margin/x"],
        ),
        (r#"{"top": 1, "left": 1, "bottom": 1, "right": 1, "unit": "cm"}"#, &[]),
        (
            r#"{"top": 6, "left": 0, "bottom": 6, "right": 0, "unit": "in"}"#,
            &["/margin"],
        ),
        (
            r#"{"top": 1, "top": 2, "left": 1, "bottom": 1, "right": 1}"#,
            &["/margin/top"],
        ),
    ];
    for (margin, pointers) in rows {
        assert_faults(&with(&format!("\"margin\": {margin}")), pointers);
    }
}

#[test]
fn sizes() {
    for name in [
        "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "letter", "legal", "tabloid", "ledger",
    ] {
        assert_faults(&with(&format!("\"size\": \"{name}\"")), &[]);
    }
    let rows: [(&str, &[&str]); 18] = [
        ("null", &["/size"]),
        ("\"A4\"", &["/size"]),
        ("\"a11\"", &["/size"]),
        ("\"\"", &["/size"]),
        ("4", &["/size"]),
        ("[]", &["/size"]),
        ("{}", &["/size/width", "/size/height"]),
        (r#"{"width": 100}"#, &["/size/height"]),
        (r#"{"width": 100, "height": "100"}"#, &["/size/height"]),
        (r#"{"width": 100, "height": 100, "depth": 1}"#, &["/size/depth"]),
        (r#"{"width": 100, "height": 100, "unit": "pt"}"#, &["/size/unit"]),
        (r#"{"width": 100, "height": 100}"#, &[]),
        (r#"{"width": 3, "height": 5080}"#, &[]),
        (r#"{"width": 2.99, "height": 5081}"#, &["/size/width", "/size/height"]),
        (r#"{"width": 200, "height": 200.1, "unit": "in"}"#, &["/size/height"]),
        (r#"{"width": 11, "height": 12, "unit": "px"}"#, &["/size/width"]),
        (r#"{"width": -5, "height": 0}"#, &["/size/width", "/size/height"]),
        (r#"{"width": 1e18, "height": 100}"#, &["/size/width"]),
    ];
    for (size, pointers) in rows {
        assert_faults(&with(&format!("\"size\": {size}")), pointers);
    }
    let margin = r#""margin": {"top": 0, "right": 60, "bottom": 0, "left": 60}"#;
    let small = r#""size": {"width": 100, "height": 200}"#;
    assert_faults(&with(&format!("{small}, {margin}")), &["/margin"]);
    assert_faults(
        &with(&format!("{small}, {margin}, \"orientation\": \"landscape\"")),
        &[],
    );
}

#[test]
fn page_lists() {
    assert_faults(&with(r#""pages": """#), &[]);
    for (sound, selected) in [
        ("1", "1"),
        ("1,2", "1-2"),
        ("1, 3-5", "1, 3-5"),
        ("1,\\t2", "1-2"),
        ("2-2", "2"),
        ("10,1", "1, 10"),
    ] {
        let request = request(&format!("\"pages\": \"{sound}\""));
        assert_eq!(
            request.selection.map(|selection| selection.to_string()),
            Some(selected.to_owned())
        );
    }
    for wrong in [
        "0",
        "1,0",
        "3-2",
        "0-4",
        "1-",
        "-1",
        "1--2",
        "a",
        "1 ",
        " 1",
        "1 ,2",
        ",1",
        "1,",
        "1,,2",
        "1;2",
        "1 - 2",
        " ",
        "1.5",
        "٣",
        "99999999999999999999",
    ] {
        assert_faults(&with(&format!("\"pages\": \"{wrong}\"")), &["/pages"]);
    }
    assert_faults(&with(r#""pages": null"#), &["/pages"]);
    assert_faults(&with(r#""pages": 1"#), &["/pages"]);
}

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
        assert_faults(&with(member), pointers);
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
        assert_faults(&cookie(name, value, domain), &[]);
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
        assert_faults(&cookie(name, "v", "example.com"), &["/set_cookie/name"]);
    }
    for value in ["a;b", "a\\nb", "a\\u0007", "\\t", "a\\u007f"] {
        assert_faults(&cookie("s", value, "example.com"), &["/set_cookie/value"]);
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
        assert_faults(&cookie("s", "v", domain), &["/set_cookie/domain"]);
    }
    assert_faults(
        &with(r#""set_cookie": {}"#),
        &["/set_cookie/name", "/set_cookie/value", "/set_cookie/domain"],
    );
    assert_faults(
        &with(r#""set_cookie": {"name": 1, "value": null, "domain": [], "path": "/"}"#),
        &[
            "/set_cookie/name",
            "/set_cookie/value",
            "/set_cookie/domain",
            "/set_cookie/path",
        ],
    );
    assert_faults(&with(r#""set_cookie": "a=b""#), &["/set_cookie"]);
}

#[test]
fn every_fault_comes_at_once_in_the_order_of_the_body() {
    let body = r#"{
        "bogus": 1,
        "scale": 3,
        "scale": 1,
        "margin": {"top": -1, "x": 1},
        "parts": ["<p>", "nothing", {"type": "url", "content": "https://x:0/"}],
        "size": {"width": 1, "height": 100},
        "output_format": "doc"
    }"#;
    assert_faults(
        body,
        &[
            "/bogus",
            "/scale",
            "/margin/top",
            "/margin/x",
            "/margin/right",
            "/margin/bottom",
            "/margin/left",
            "/parts/1",
            "/parts/2/content",
            "/size/width",
            "/output_format",
            "/output_encoding",
        ],
    );
}

#[test]
fn details_say_what_is_allowed_and_what_came() {
    let rows = [
        (with(r#""scale": 3"#), "Must be at most 2; got 3"),
        (with(r#""scale": "big""#), "Must be a number; got a string"),
        (
            with(r#""orientation": "up""#),
            r#"Must be one of "portrait", "landscape"; got "up""#,
        ),
        (
            with(r#""size": []"#),
            "Must be a paper name such as `a4` or `letter`, or an object with `width` and `height`; got an array",
        ),
        (
            with(r#""size": {"width": 1, "height": 100}"#),
            "Must be from 3 mm to 200 in; got 1 mm",
        ),
        (
            with(r#""wait_for": {"selector": "", "attribute": "a"}"#),
            "Must not be empty",
        ),
        (
            with(r#""pages": "4-2""#),
            "Must be pages such as 1, 3-5: “4-2” at character 1 runs backwards",
        ),
        (with_part(""), "Must not be empty"),
        (
            with(r#""margin": {"top": 0, "right": 0, "bottom": 0, "left": 0, "all": 0}"#),
            r#""all" is not allowed here; allowed: top, right, bottom, left, unit"#,
        ),
    ];
    for (body, detail) in rows {
        assert_eq!(faults(&body)[0].detail, detail);
    }
}

#[test]
fn cookie_values_are_not_echoed() {
    let found = faults(&with(
        r#""set_cookie": {"name": "s", "value": "hunter2;", "domain": "example.com"}"#,
    ));
    assert_eq!(found.len(), 1);
    assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
}

#[test]
fn defaults_are_those_of_the_contract() {
    let request = SynchronousRequest::parse(br#"{"parts": ["<p>"], "output_encoding": "base64"}"#).expect("sound");
    assert_eq!(request.encoding, OutputEncoding::Base64);
    let request = request.render;
    assert!(matches!(&request.parts[..], [PartSource::Given(Part::Html(html))] if html == "<p>"));
    assert_eq!(request.media, MediaType::Print);
    assert_eq!(request.format, OutputFormat::PdfA2b);
    assert!(request.cookie.is_none() && request.evaluate.is_none() && request.wait_for.is_none());
    let a4 = PrintSettings {
        paper_width: 210.0 / 25.4,
        paper_height: 297.0 / 25.4,
        margins: [0.0; 4],
        scale: 1.0,
        backgrounds: true,
        prefer_css_page_size: false,
        header_footer: None,
    };
    assert_eq!(request.print, a4);
}

#[test]
fn every_option_arrives() {
    let request = request(
        r##""emulate_media_type": "screen", "evaluate_js": {"expression": "1+1"}, "footer_template": "<b>f</b>",
        "header_template": "<b>h</b>", "include_backgrounds": false, "orientation": "landscape", "output_format": "pdf",
        "margin": {"top": 1, "right": 2, "bottom": 3, "left": 4, "unit": "in"}, "prefer_css_page_size": true,
        "render_header_footer": true, "scale": 0.5, "size": {"width": 960, "height": 1920, "unit": "px"},
        "set_cookie": {"name": "s", "value": "v", "domain": "example.com"},
        "wait_for": {"selector": "#a", "attribute": "done"}"##,
    );
    let print = PrintSettings {
        paper_width: 20.0,
        paper_height: 10.0,
        margins: [1.0, 2.0, 3.0, 4.0],
        scale: 0.5,
        backgrounds: false,
        prefer_css_page_size: true,
        header_footer: Some(HeaderFooter {
            header: "<b>h</b>".into(),
            footer: "<b>f</b>".into(),
        }),
    };
    assert_eq!(request.print, print);
    assert_eq!((request.media, request.format), (MediaType::Screen, OutputFormat::Pdf));
    assert_eq!(request.evaluate.as_deref(), Some("1+1"));
    let wait_for = WaitFor {
        selector: "#a".into(),
        attribute: "done".into(),
    };
    assert_eq!(request.wait_for, Some(wait_for));
    let cookie = Cookie {
        name: "s".into(),
        value: "v".into(),
        domain: "example.com".into(),
    };
    assert!(request.cookie == Some(cookie));
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
    assert_eq!(Value::from(template.context), json!({"a": 1}));
}

#[test]
fn of_a_template_its_identifier_and_version_are_kept() {
    let id = "0192f0c1-5a3e-7c44-9d8e-3b1f6a2c7d90";
    let template =
        format!(r#"{{"type": "template", "content": {{"template_id": "{id}", "context": {{"a": "hunter2"}}}}}}"#);
    let mut request = render(&with_part(&format!(r#""<p>", {template}"#)));
    let parts: Vec<_> = request
        .templates()
        .map(|(part, template)| (part, template.to_string()))
        .collect();
    assert_eq!(parts, [(1, id.to_owned())]);
    request.note_version(1, 7);
    assert_eq!(
        request.options["parts"],
        json!([{"type": "html", "bytes": 3}, {"type": "template", "template_id": id, "version": 7}])
    );
}

#[test]
fn no_content_is_kept_with_the_options() {
    let secret = |member: &str| request(member).options;
    let options = secret(
        r#""evaluate_js": {"expression": "fetch('hunter2')"}, "footer_template": "hunter2", "header_template": "hunter2",
        "set_cookie": {"name": "s", "value": "hunter2", "domain": "example.com"}, "scale": 2,
        "wait_for": {"selector": "p", "attribute": "a"}"#,
    );
    assert!(!options.to_string().contains("hunter2"));
    let expected = json!({
        "parts": [{"type": "html", "bytes": 3}],
        "output_encoding": "binary",
        "evaluate_js": {"bytes": 16},
        "footer_template": {"bytes": 7},
        "header_template": {"bytes": 7},
        "set_cookie": {"name": "s", "domain": "example.com"},
        "scale": 2,
        "wait_for": {"selector": "p", "attribute": "a"},
    });
    assert_eq!(options, expected);
    for part in [
        r#""https://user:hunter2@example.com:81/a?token=hunter2#hunter2""#,
        r#"{"type": "url", "content": "https://user:hunter2@example.com:81/a?token=hunter2#hunter2"}"#,
    ] {
        let options = render(&with_part(part)).options;
        assert_eq!(
            options["parts"],
            json!([{"type": "url", "url": "https://example.com:81/a"}])
        );
    }
}

#[test]
fn a_job_carries_the_terms_of_the_service() {
    let terms = RenderTerms {
        id: RenderId::generate(),
        lane: Lane::Preview,
        watermark: Some(Watermark::Preview),
        deadline: Duration::from_mins(1),
        pages: 2000,
    };
    let job = request(r#""scale": 2"#).into_job(Vec::new(), terms);
    assert_eq!(
        (job.id, job.lane, job.watermark, job.deadline, job.page_limit),
        (terms.id.0, terms.lane, terms.watermark, terms.deadline, terms.pages)
    );
}
