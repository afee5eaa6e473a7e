mod assets;
mod page;
mod paper;
mod parts;

use serde_json::json;

use super::*;

/// A valid body with one more member, as text, so that it can contain what a `Value` can't.
fn with(member: &str) -> String {
    format!(r#"{{"parts": ["<p>"], "output_encoding": "binary", {member}}}"#)
}

fn with_part(part: &str) -> String {
    format!(r#"{{"parts": [{part}], "output_encoding": "binary"}}"#)
}

fn problems(body: &str) -> Vec<Problem> {
    SynchronousRequest::parse(&Bytes::copy_from_slice(body.as_bytes())).map_or_else(|problems| problems, |_| Vec::new())
}

#[track_caller]
fn assert_problems(body: &str, expected: &[&str]) {
    let found = problems(body);
    let pointers: Vec<_> = found.iter().map(|problem| problem.pointer.as_str()).collect();
    assert_eq!(pointers, expected, "{body}: {found:#?}");
    assert!(
        found
            .iter()
            .all(|problem| !problem.detail.is_empty() && !problem.title.is_empty())
    );
}

fn render(body: &str) -> RenderRequest {
    let request = SynchronousRequest::parse(&Bytes::copy_from_slice(body.as_bytes()));
    request
        .unwrap_or_else(|problems| panic!("{body}: {problems:#?}"))
        .render
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
        assert_problems(body, &[""]);
    }
    assert_problems("{}", &["/parts", "/output_encoding"]);
    assert_problems(r#"{"parts": ["<p>"]}"#, &["/output_encoding"]);
    assert_problems(r#"{"output_encoding": "binary"}"#, &["/parts"]);
    for unknown in ["bogus", "callback", "destination", "Scale", ""] {
        assert_problems(&with(&format!("\"{unknown}\": {{}}")), &[&format!("/{unknown}")]);
    }
    assert_problems(&with(r#""a/b~c": 1"#), &["/a~1b~0c"]);
}

#[test]
fn demanded_levels() {
    for sound in [r#"["pdf/a-2b"]"#, r#"["pdf/ua-1", "pdf/a-2a", "pdf/a-2u", "pdf/a-2b"]"#] {
        assert_problems(&with(&format!(r#""conformance": {sound}"#)), &[]);
    }
    for wrong in [
        "[]",
        "null",
        "\"pdf/ua-1\"",
        "[\"PDF/UA-1\"]",
        "[\"pdf\", 1]",
        r#"["pdf/ua-1", "pdf/ua-1"]"#,
    ] {
        assert_problems(&with(&format!(r#""conformance": {wrong}"#)), &["/conformance"]);
    }
    let of_plain = r#""conformance": ["pdf/a-2b"], "output_format": "pdf""#;
    assert_problems(&with(of_plain), &["/conformance"]);
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
            assert_problems(&with(&format!("\"{member}\": {value}")), &[]);
        }
        for value in wrong {
            assert_problems(&with(&format!("\"{member}\": {value}")), &[&format!("/{member}")]);
        }
    }
    for wrong in ["\"hex\"", "\"Binary\"", "null", "64"] {
        assert_problems(
            &format!(r#"{{"parts": ["<p>"], "output_encoding": {wrong}}}"#),
            &["/output_encoding"],
        );
    }
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
    assert_problems(
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
        assert_eq!(problems(&body)[0].detail, detail);
    }
}

#[test]
fn defaults_are_those_of_the_contract() {
    let request = SynchronousRequest::parse(&Bytes::from_static(
        br#"{"parts": ["<p>"], "output_encoding": "base64"}"#,
    ))
    .expect("sound");
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
    let long = format!(r#""https://example.com/{}""#, "a".repeat(60_000));
    let options = render(&with_part(&long)).options;
    assert!(options.to_string().len() < 1000, "a row of the database is small");
}

#[test]
fn a_job_carries_the_terms_of_the_service() {
    let terms = RenderTerms {
        id: RenderId::generate(),
        lane: Lane::Preview,
        watermark: Some(Watermark::Preview),
        deadline: Duration::from_mins(1),
        pages: 2000,
        document_bytes: 1000,
    };
    let job = request(r#""scale": 2"#).into_job(Vec::new(), &terms);
    assert_eq!(
        (job.id, job.watermark, job.page_limit),
        (terms.id.0, terms.watermark, terms.pages)
    );
}
