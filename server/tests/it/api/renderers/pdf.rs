//! `/api/v1/renderers/pdf`: statuses, headers and shapes. The content of the PDF is tested in `render`.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    pdf,
    studio::{Studio, body, header, problems},
};

#[tokio::test]
async fn binary_answers_are_the_file_with_its_facts_in_headers() {
    let studio = Studio::start().await;
    let html = "<!doctype html><title>Rechnung Nr. 7/8: Müller</title><h1>Hello</h1><p style='break-before:page'>2";
    let answer = studio.render(html, json!({})).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(header(&answer, "content-type"), "application/pdf");
    assert_eq!(header(&answer, "cache-control"), "no-store");
    assert_eq!(
        header(&answer, "content-disposition"),
        "inline; filename=\"Rechnung Nr. 7-8- M_ller.pdf\"; filename*=UTF-8''Rechnung%20Nr.%207-8-%20M%C3%BCller.pdf"
    );
    assert_eq!(header(&answer, "x-page-count"), "2");
    assert_eq!(header(&answer, "x-credits-used"), "1");
    assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a");
    let timing = header(&answer, "server-timing");
    let phases: Vec<_> = timing
        .split(", ")
        .map(|entry| entry.split_once(";dur=").unwrap())
        .collect();
    let names: Vec<_> = phases.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["queue", "load", "wait", "evaluate", "print", "post"]);
    let duration = |name: &str| {
        phases
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap()
            .1
            .parse::<f64>()
            .unwrap()
    };
    assert!(duration("load") > 0.0 && duration("print") > 0.0, "{timing}");
    let length: usize = header(&answer, "content-length").parse().unwrap();
    let render_id = header(&answer, "x-render-id").to_owned();
    let bytes = answer.bytes().await.unwrap();
    assert_eq!(bytes.len(), length);
    assert_eq!(pdf::page_count(&bytes), 2);

    let row = studio.recorded(&render_id).await;
    assert_eq!(row["status"], "succeeded");
    assert_eq!(row["account_id"], studio.account.id.as_str());
    assert_eq!(row["api_key_id"], studio.account.key_id.as_str());
    assert_eq!((&row["mode"], &row["livemode"]), (&json!("sync"), &json!(true)));
    assert_eq!((&row["page_count"], &row["bytes"]), (&json!(2), &json!(length)));
    assert_eq!(row["conformance"], "PDF/A-2a");
    assert_eq!(row["credits"], 1);
    assert_eq!(row["options"]["parts"], json!([{"type": "html", "bytes": html.len()}]));
    assert!(row["phase_times"]["print"].as_f64().unwrap() > 0.0);
    assert!(!row.to_string().contains("Hello"), "{row}");
}

#[tokio::test]
async fn plain_pdf_claims_no_conformance() {
    let studio = Studio::start().await;
    let answer = studio.render("<p>x", json!({"output_format": "pdf"})).await;
    assert!(answer.headers().get("x-pdf-conformance").is_none());
    let row = studio.recorded(header(&answer, "x-render-id")).await;
    assert_eq!(row["conformance"], Value::Null);
}

#[tokio::test]
async fn base64_answers_are_exactly_data_and_encoding() {
    let studio = Studio::start().await;
    let answer = studio
        .send(&json!({"parts": ["<p>x</p>"], "output_encoding": "base64"}))
        .await;
    assert_eq!(answer.status(), 200);
    assert_eq!(header(&answer, "content-type"), "application/json");
    assert_eq!(header(&answer, "x-page-count"), "1");
    assert!(answer.headers().get("content-disposition").is_none());
    let body: Value = answer.json().await.unwrap();
    assert_eq!(
        body.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["data", "encoding"]
    );
    let bytes = BASE64_STANDARD.decode(body["data"].as_str().unwrap()).unwrap();
    assert_eq!(pdf::page_count(&bytes), 1);
}

#[tokio::test]
async fn a_document_without_a_title_is_called_document() {
    let studio = Studio::start().await;
    let answer = studio.render("<p>x</p>", json!({})).await;
    assert_eq!(
        header(&answer, "content-disposition"),
        "inline; filename=\"document.pdf\"; filename*=UTF-8''document.pdf"
    );
}

#[tokio::test]
async fn every_fault_of_a_body_is_listed() {
    let studio = Studio::start().await;
    let answer = studio
        .send(&json!({
            "parts": ["nothing", {"type": "url", "content": "https://x:99999/"}],
            "scale": 3,
            "margin": {"top": 1, "bottom": 1, "left": 1},
            "bogus": 1,
        }))
        .await;
    assert_eq!(header(&answer, "content-type"), "application/json");
    let found = problems(answer).await;
    let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(
        pointers,
        [
            "/parts/0",
            "/parts/1/content",
            "/scale",
            "/margin/right",
            "/bogus",
            "/output_encoding"
        ]
    );
}

#[tokio::test]
async fn bodies_that_are_not_json_have_one_fault_at_the_root() {
    let studio = Studio::start().await;
    let bodies: [&[u8]; 5] = [
        b"",
        b"{\"parts\": [NaN]}",
        b"{\"a\": \"\\ud800\"}",
        b"\xff\xfe{\0}\0",
        b"{\"scale\": 1e999}",
    ];
    for body in bodies {
        let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
        let request = request
            .bearer_auth(&studio.account.key)
            .header("content-type", "application/json");
        let found = problems(request.body(body.to_vec()).send().await.unwrap()).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "");
    }
}

#[tokio::test]
async fn what_is_not_there_yet_is_refused_at_its_member() {
    let studio = Studio::start().await;
    let template = json!({"type": "template", "content": {"template_id": "0192"}});
    let (pointer, detail) = studio.problem(template, json!({})).await;
    assert_eq!(pointer, "/parts/0/content/template_id");
    assert!(detail.starts_with("No such template"), "{detail}");
}

#[tokio::test]
async fn large_and_compressed_bodies_and_other_types_are_refused() {
    let studio = Studio::start_with(&[("PLATEN_BODY_BYTES", "2048")]).await;
    let post = || {
        let request = studio.service.client.post(studio.service.url("/api/v1/renderers/pdf"));
        request.bearer_auth(&studio.account.key)
    };
    let large = body(format!("<p>{}", "x".repeat(2_000_000)), json!({}));
    let compressed = post().header("content-encoding", "gzip").json(&json!({}));
    let text = post().header("content-type", "text/plain").body("{}");
    let untyped = post().body("{}");
    for (request, status) in [
        (post().json(&large), 413),
        (compressed, 415),
        (text, 415),
        (untyped, 415),
    ] {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), status);
    }
}

#[tokio::test]
async fn parts_that_cannot_be_rendered_are_the_callers_fault_and_recorded() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    for (path, said) in [("/status/404", "404"), ("/status/503", "503"), ("/text", "text/plain")] {
        let (pointer, detail) = studio.problem(origin.url(path), json!({})).await;
        assert_eq!(pointer, "/parts/0", "{path}");
        assert!(detail.contains(said), "{path}: {detail}");
    }
    // The first has no listener, the second is not a public address, the third doesn't resolve.
    for url in [
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://name.invalid/",
    ] {
        let answer = studio.render(url, json!({})).await;
        let render_id = header(&answer, "x-render-id").to_owned();
        assert_eq!(problems(answer).await[0].0, "/parts/0", "{url}");
        let row = studio.recorded(&render_id).await;
        assert_eq!(
            (&row["status"], &row["error"]["pointer"]),
            (&json!("failed"), &json!("/parts/0")),
            "{row}"
        );
    }
    let (pointer, detail) = studio
        .problem("<p>", json!({"evaluate_js": {"expression": "nope()"}}))
        .await;
    assert_eq!(pointer, "/evaluate_js/expression");
    assert!(detail.contains("nope is not defined"), "{detail}");
    let wait_for = json!({"wait_for": {"selector": "p[", "attribute": "a"}});
    assert_eq!(studio.problem("<p>", wait_for).await.0, "/wait_for/selector");
}

#[tokio::test]
async fn every_page_for_a_test_key_is_stamped() {
    let mut studio = Studio::start().await;
    let blank = "<p>&nbsp;<p style='break-before:page'>&nbsp;";
    let is_blank = |pdf: &[u8], page| pdf::picture(pdf, page).pixels.iter().all(|&colour| colour == 255);
    let live = studio.pdf(blank, json!({})).await;
    assert!(is_blank(&live, 1) && is_blank(&live, 2));

    let create = ["keys", "create", "--email", "ann@example.org", "--name", "n", "--test"];
    studio.account.key = studio.service.command(&create, "").succeeded();
    let answer = studio.render(blank, json!({})).await;
    assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a");
    let row = studio.recorded(header(&answer, "x-render-id")).await;
    assert_eq!(row["livemode"], false);
    let stamped = answer.bytes().await.unwrap();
    assert_eq!(pdf::page_count(&stamped), 2);
    assert!(!is_blank(&stamped, 1) && !is_blank(&stamped, 2));
}
