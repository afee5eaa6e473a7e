//! Levels of conformance that requests demand, and accessibility reports.

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    pdf,
    studio::{Studio, body, header, problems},
};

/// Earns the highest levels.
const LETTER: &str = "<!doctype html><html lang=en><title>Letter</title><h1>Letter</h1><p>Dear Ann, regards, Bob";
/// Skips a level of headings, which only PDF/UA-1 forbids.
const PLAN: &str = "<!doctype html><html lang=en><title>Plan</title><h1>Plan</h1><h3>Costs</h3>";

fn demanding(parts: &[&str], levels: &[&str]) -> Value {
    json!({"parts": parts, "conformance": levels})
}

/// Waits until the report of a render is stored.
async fn stored(studio: &Studio, id: &str) {
    let query = format!("select count(*) from accessibility_reports where render_id = '{id}'");
    studio.service.number_is(1, &query).await;
}

async fn requested(studio: &Studio, id: &str) -> (StatusCode, Value) {
    let request = studio.request(Method::GET, &format!("/api/v1/renders/{id}/accessibility"));
    let answer = request.send().await.expect("an answer");
    (answer.status(), answer.json().await.expect("JSON"))
}

/// Returns the report of a render, which must have one.
async fn report(studio: &Studio, id: &str) -> Value {
    let (status, mut body) = requested(studio, id).await;
    assert_eq!(status, 200, "{body}");
    body["accessibility"].take()
}

/// Returns why a render has no report.
async fn missing(studio: &Studio, id: &str) -> String {
    let (status, body) = requested(studio, id).await;
    assert_eq!(status, 404, "{body}");
    body["error"]["message"].as_str().expect("a reason").to_owned()
}

async fn synchronous(studio: &Studio, mut body: Value) -> Response {
    body["output_encoding"] = "binary".into();
    studio.send(&body).await
}

#[tokio::test]
async fn a_document_below_the_demand_is_refused_with_what_to_change() {
    let studio = Studio::start().await;
    let third = PLAN.replace("<h3", "<h3 id=costs");
    let body = demanding(&[LETTER, PLAN, &third], &["pdf/a-2a", "pdf/ua-1"]);
    // Parts that load slowly, as while browsers start, are not loaded again for their selectors.
    let mut tries = 1..=10;
    let (id, [(pointer, detail), (other_pointer, other)]) = loop {
        let answer = synchronous(&studio, body.clone()).await;
        let id = header(&answer, "x-render-id").to_owned();
        let problems: [_; 2] = problems(answer).await.try_into().expect("two");
        if tries.next().is_none()
            || problems
                .iter()
                .all(|(_, detail)| detail.contains("h3)") || detail.contains("(#costs)"))
        {
            break (id, problems);
        }
    };
    assert_eq!([pointer, other_pointer], ["/conformance"; 2]);
    assert!(other.starts_with("Part 3, page 3, H3 “Costs” (#costs)"), "{other}");
    for expected in [
        "Part 2, page 2",
        "H3",
        "“Costs”",
        "(body > h3)",
        "Don't skip levels of headings",
        "ISO 14289-1, 7.4.2-1",
        "Matterhorn 14-003",
    ] {
        assert!(detail.contains(expected), "{expected}: {detail}");
    }
    stored(&studio, &id).await;
    let report = report(&studio, &id).await;
    let place = |finding: &Value| ["part", "page", "selector"].map(|member| finding[member].clone());
    let places: Vec<_> = report["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .map(place)
        .collect();
    assert_eq!(json!(places), json!([[1, 2, "body > h3"], [2, 3, "#costs"]]));
    let error = &studio.recorded(&id).await["error"];
    assert_eq!(
        (&error["pointer"], &error["code"]),
        (&json!("/conformance"), &json!("document"))
    );
    assert!(!error.to_string().contains("Costs"), "{error}");
    let charged = "select coalesce(sum(used), 0)::bigint from credit_periods";
    assert_eq!(studio.service.number(charged).await, 0);
}

#[tokio::test]
async fn a_demand_that_is_met_changes_nothing() {
    let studio = Studio::start().await;
    for levels in [&["pdf/a-2b"][..], &["pdf/a-2u", "pdf/ua-1"]] {
        let answer = synchronous(&studio, demanding(&[LETTER], levels)).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a, PDF/UA-1");
    }
    let answer = synchronous(&studio, demanding(&[PLAN], &["pdf/a-2a"])).await;
    assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a");
}

/// Returns whether anything is visible in the middle third of a page.
fn has_mark_across(document: &[u8], page: usize) -> bool {
    let picture = pdf::picture(document, page);
    let row = 3 * picture.width;
    let middle = &picture.pixels[row * (picture.height / 3)..row * (2 * picture.height / 3)];
    middle.iter().any(|byte| *byte != 255)
}

#[tokio::test]
async fn headers_footers_and_watermarks_are_no_content_that_lowers_the_level() {
    let mut studio = Studio::start().await;
    let test_key = studio.service.create_key("ann@example.org", "test", &["--test"]);
    let keys = [studio.account.key.clone(), test_key.succeeded()];
    let padded = format!("{LETTER}<style>body {{ margin: 30mm }}</style>");
    for (key, has_watermark) in keys.into_iter().zip([false, true]) {
        studio.account.key = key;
        // The header of one part is printed with it, unless its style may hide text, and that of several is drawn over their pages.
        for (parts, attribute, margin) in [
            (&[LETTER][..], "", 30),
            (&[&padded], "style='overflow:hidden'", 0),
            (&[LETTER], "class=text", 30),
            (&[LETTER, LETTER], "", 30),
        ] {
            let mut body = demanding(parts, &["pdf/a-2a", "pdf/ua-1"]);
            let decoration = json!({
                "margin": {"top": margin, "right": 20, "bottom": margin, "left": 20},
                "render_header_footer": true,
                "header_template": format!("<p {attribute}>Example & Sons, <span class=title></span></p>"),
                "footer_template": "<p>Page <span class=pageNumber></span> of <span class=totalPages></span></p>",
            });
            let decoration = decoration.as_object().expect("members").clone();
            body.as_object_mut().expect("members").extend(decoration);
            let answer = synchronous(&studio, body).await;
            assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap_or_default());
            assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a, PDF/UA-1");
            let document = answer.bytes().await.expect("a document");
            let text = pdf::text(&document);
            let pages: Vec<_> = text.split_terminator('\u{c}').collect();
            assert_eq!(pages.len(), parts.len());
            for (number, page) in (1..).zip(pages) {
                assert!(page.contains("Example & Sons, Letter"), "{page}");
                assert!(page.contains(&format!("Page {number} of {}", parts.len())), "{page}");
                assert_eq!(has_mark_across(&document, number), has_watermark);
            }
        }
    }
}

/// Chromium hides elements of the class `text` beside the margins.
#[tokio::test]
async fn headers_are_printed_in_margins_that_the_page_sets() {
    let studio = Studio::start().await;
    let page = format!("{LETTER}<style>@PAGE {{ margin: 30mm }}</style>");
    for output_format in ["pdf", "pdf/a"] {
        let body = json!({
            "parts": [page],
            "output_format": output_format,
            "render_header_footer": true,
            "header_template": "<p class=text>Example & Sons",
        });
        let answer = synchronous(&studio, body).await;
        let document = answer.bytes().await.expect("a document");
        assert!(pdf::text(&document).contains("Example & Sons"), "{output_format}");
    }
}

#[tokio::test]
async fn demands_that_make_no_sense_are_refused_at_their_member() {
    let studio = Studio::start().await;
    for options in [
        json!({"conformance": []}),
        json!({"conformance": ["pdf/a-3b"]}),
        json!({"conformance": ["pdf/ua-1", "pdf/ua-1"]}),
        json!({"conformance": "pdf/ua-1"}),
        json!({"conformance": ["pdf/a-2b"], "output_format": "pdf"}),
    ] {
        let (pointer, detail) = studio.problem("<p>", options.clone()).await;
        assert_eq!(pointer, "/conformance", "{options}: {detail}");
        let mut queued = options;
        queued["parts"] = json!(["<p>"]);
        let request = studio
            .request(Method::POST, "/api/v1/renderers/pdf/async")
            .json(&queued);
        let [(pointer, _)] = problems(request.send().await.expect("an answer"))
            .await
            .try_into()
            .expect("one");
        assert_eq!(pointer, "/conformance", "{queued}");
    }
}

#[tokio::test]
async fn a_repeated_request_is_refused_alike() {
    let studio = Studio::start().await;
    let mut body = demanding(&[PLAN], &["pdf/ua-1"]);
    body["output_encoding"] = "binary".into();
    let send = async || {
        let request = studio.request(Method::POST, "/api/v1/renderers/pdf").json(&body);
        request
            .header("idempotency-key", "plan")
            .send()
            .await
            .expect("an answer")
    };
    let first = problems(send().await).await;
    let second = send().await;
    assert_eq!(header(&second, "idempotent-replayed"), "true");
    assert_eq!(problems(second).await, first);
}

#[tokio::test]
async fn a_preview_is_held_to_its_demand() {
    let studio = Studio::start().await;
    let path = studio.template("Plan", PLAN).await;
    let preview = async |levels: &[&str]| {
        let request = studio.request(Method::POST, &format!("{path}/preview"));
        let request = request.json(&json!({"options": {"conformance": levels}}));
        request.send().await.expect("an answer")
    };
    assert_eq!(preview(&["pdf/a-2a"]).await.status(), 200);
    let [(pointer, detail)] = problems(preview(&["pdf/ua-1"]).await).await.try_into().expect("one");
    assert!(
        pointer == "/options/conformance" && detail.contains("7.4.2-1") && detail.contains("“Costs” (body > h3)"),
        "{pointer}: {detail}"
    );
    let [(pointer, _)] = problems(preview(&[]).await).await.try_into().expect("one");
    assert_eq!(pointer, "/options/conformance");
}

#[tokio::test]
async fn a_queued_render_below_the_demand_fails_and_its_report_says_why() {
    let studio = Studio::start().await;
    let id = studio.queued(&demanding(&[PLAN], &["pdf/ua-1"])).await;
    let render = studio.ended(&id).await;
    assert_eq!(
        (&render["state"], &render["credits_used"]),
        (&json!("failed"), &Value::Null)
    );
    let error = &render["error"];
    assert_eq!(
        (&error["pointer"], &error["code"]),
        (&json!("/conformance"), &json!("document"))
    );
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.contains("PDF/UA-1: 1 violation, of ISO 14289-1, 7.4.2-1"),
        "{message}"
    );
    assert!(!message.contains("Costs") && !message.contains("body"), "{message}");

    stored(&studio, &id).await;
    let report = report(&studio, &id).await;
    assert_eq!(report["conformance_levels"], json!(["PDF/A-2a"]));
    assert_eq!(report["findings"][0]["text"], "Costs");
}

#[tokio::test]
async fn both_executions_store_what_was_found_and_nothing_if_all_checks_pass() {
    let studio = Studio::start().await;
    for queued in [false, true] {
        let render = async |part: &str| {
            if !queued {
                let answer = studio.render(part, json!({})).await;
                return header(&answer, "x-render-id").to_owned();
            }
            let id = studio.queued(&json!({"parts": [part]})).await;
            studio.ended(&id).await;
            id
        };
        let id = render(PLAN).await;
        stored(&studio, &id).await;
        let found = report(&studio, &id).await;
        assert_eq!(found["conformance_levels"], json!(["PDF/A-2a"]));
        assert_eq!(
            (&found["passes_machine_checks"], &found["findings_cut"]),
            (&json!(false), &json!(false))
        );
        let [finding] = &found["findings"].as_array().expect("a list")[..] else {
            panic!("{found}")
        };
        assert_eq!(finding["clauses"], json!([{"level": "PDF/UA-1", "clause": "7.4.2-1"}]));
        assert_eq!(finding["rule"], "ISO 14289-1, 7.4.2-1; Matterhorn 14-003");
        for (member, expected) in [
            ("part", json!(0)),
            ("page", json!(1)),
            ("element", json!("H3")),
            ("selector", json!("body > h3")),
            ("text", json!("Costs")),
        ] {
            assert_eq!(finding[member], expected, "{finding}");
        }
        assert!(
            finding["remedy"].as_str().expect("a remedy").contains("headings"),
            "{finding}"
        );

        // Low contrast prevents no level, and is stored all the same.
        let id = render(&LETTER.replace("<p>", "<p style='color: #888'>")).await;
        studio
            .service
            .number_is(
                1,
                &format!("select count(*) from accessibility_reports where render_id = '{id}'"),
            )
            .await;
        let found = report(&studio, &id).await;
        assert_eq!(
            (&found["passes_machine_checks"], &found["findings"]),
            (&json!(true), &json!([]))
        );
        let [faint] = &found["low_contrast"].as_array().expect("a list")[..] else {
            panic!("{found}")
        };
        assert_eq!(
            (&faint["rule"], &faint["clauses"], &faint["element"]),
            (&json!("WCAG 2.2, 1.4.3"), &json!([]), &json!("P"))
        );
        assert_eq!(
            faint["message"],
            "The contrast of #888888 on #ffffff is 3.54 to 1; text of this size needs 4.5 to 1."
        );

        let id = render(LETTER).await;
        let found = report(&studio, &id).await;
        assert_eq!(found["conformance_levels"], json!(["PDF/A-2a", "PDF/UA-1"]));
        assert_eq!(
            (&found["passes_machine_checks"], &found["findings"]),
            (&json!(true), &json!([]))
        );
        assert_eq!(found["low_contrast"], json!([]));
    }
    assert_eq!(
        studio
            .service
            .number("select count(*) from accessibility_reports")
            .await,
        4
    );
    studio.service.storage_is_counted().await;
}

#[tokio::test]
async fn a_render_without_report_says_why() {
    let studio = Studio::start().await;
    let plain = studio.render(PLAN, json!({"output_format": "pdf"})).await;
    let reason = missing(&studio, header(&plain, "x-render-id")).await;
    assert!(reason.contains("plain PDF"), "{reason}");

    let failed = studio.render("http://127.0.0.1:1/", json!({})).await;
    let reason = missing(&studio, header(&failed, "x-render-id")).await;
    assert_eq!(reason, "The render has no document.");

    let render = studio.send(&body(PLAN, json!({}))).await;
    let id = header(&render, "x-render-id");
    stored(&studio, id).await;
    studio.service.execute("update accounts set keep_content = false").await;
    studio.service.execute("delete from accessibility_reports").await;
    let reason = missing(&studio, id).await;
    assert!(reason.contains("doesn't store content"), "{reason}");
    let unwanted = studio.send(&body(PLAN, json!({}))).await;
    let reason = missing(&studio, header(&unwanted, "x-render-id")).await;
    assert!(reason.contains("doesn't store content"), "{reason}");
    studio.service.storage_is_counted().await;
}
