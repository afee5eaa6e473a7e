//! Parts with placeholders, which the data of rows fills.

use serde_json::json;

use super::{counts, faults, numbers, with_rows};
use crate::support::{origin::Origin, pdf, studio::Studio};

#[tokio::test]
async fn placeholders_of_parts_are_filled_with_the_data_of_rows() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let parts = json!([
        "<h1>Invoice {{ number }} for {{ customer.name }}</h1><p title='{{ customer.name }}'>",
        {"type": "url", "content": origin.url("/page/Order-{{order}}?token={{token}}")},
    ]);
    let render = json!({
        "parts": parts, "render_header_footer": true, "margin": {"top": 10, "right": 10, "bottom": 40, "left": 10},
        "footer_template": "<p style='font-size: 12px'>Footer {{ number }}</p>",
    });
    let row = |order: &str| json!({"number": 17, "customer": {"name": "<i>Ann</i> & Bob"}, "order": order, "token": "hunter2"});
    let rows = [
        row("a/b"),
        row(" "),
        json!({"number": [1], "customer": {}}),
        json!({"number": 4, "customer": {"name": "x".repeat(150_000)}, "order": 4, "token": "t"}),
    ];
    let path = studio
        .created(&with_rows(json!({"batch": {"render": render}}), rows))
        .await;
    assert_eq!(counts(&studio.batch_ended(&path).await), [4, 4, 1, 3]);
    let outcomes = studio.outcomes(&path).await;
    let id = outcomes[0]["render_id"].as_str().expect("an id");
    let text = pdf::text(&studio.document(id).await);
    for expected in ["Invoice 17 for <i>Ann</i> & Bob", "Order-a/b", "Footer 17"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for (outcome, reason) in outcomes[1..].iter().zip([
        "{{ order }} is empty in the row",
        "{{ number }} must be a text or a number",
        "The parts are too long with the data of the row",
    ]) {
        let error = &outcome["error"];
        assert_eq!(error["code"], "row_invalid");
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| message.contains(reason)),
            "{error}"
        );
    }
    let options = format!("select options #>> '{{parts,1,url}}' from renders where id = '{id}'");
    assert_eq!(studio.service.text(&options).await, origin.url("/page/Order-a%2Fb"));
}

/// A row with a name that the JSON parser reserves.
const RESERVED: &str = r#"{"number": 4, "raw": {"$serde_json::private::RawValue": "x"}}"#;

#[tokio::test]
async fn rows_fail_whose_data_makes_a_request_too_large_or_too_deep() {
    let studio = Studio::start().await;
    let mut body = studio.batch("{{ number }}").await;
    let parts = body["batch"]["render"]["parts"].as_array_mut().expect("parts");
    let part = parts[0].clone();
    parts.resize(8, part);
    body["batch"]["file_names"] = "{{ number }}".into();
    let path = studio.created(&body).await;
    studio
        .service
        .execute(r#"update batches set columns = '{"list": "a.b.c"}'"#)
        .await;
    let (text, list) = ("x".repeat(200_000), "[".repeat(126) + &"]".repeat(126));
    let rows = format!(
        "{{\"number\": 1}}\n{{\"number\": 2, \"text\": \"{text}\"}}\n{{\"number\": 3, \"list\": {list}}}\n{RESERVED}"
    );
    assert_eq!(studio.upload(&path, super::NDJSON, &rows).await.status(), 200);
    assert_eq!(counts(&studio.batch_ended(&path).await), [4, 4, 1, 3]);
    let outcomes = studio.outcomes(&path).await;
    for (outcome, reason) in outcomes[1..].iter().zip([
        "they may have 1024 KiB",
        "recursion limit exceeded",
        "The row can't be read",
    ]) {
        let error = &outcome["error"];
        assert_eq!(error["code"], "row_invalid");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(reason), "{error}");
    }
}

#[tokio::test]
async fn braces_of_batches_of_earlier_releases_are_text() {
    let studio = Studio::start().await;
    let mut body = studio.batch("{{ number }}").await;
    let parts = body["batch"]["render"]["parts"].as_array_mut().expect("parts");
    parts.push("<p>Literal {{ number }}".into());
    let path = studio.created(&body).await;
    studio.service.execute("update batches set version = 1").await;
    let rows = studio.upload(&path, super::NDJSON, "{\"number\": 17}").await;
    assert_eq!(rows.status(), 200);
    studio.batch_ended(&path).await;
    let outcomes = studio.outcomes(&path).await;
    let document = studio.document(outcomes[0]["render_id"].as_str().expect("an id")).await;
    assert!(pdf::text(&document).contains("Literal {{ number }}"));
}

#[tokio::test]
async fn malformed_placeholders_are_refused_at_their_parts() {
    let studio = Studio::start().await;
    for (render, pointer, reason) in [
        (
            json!({"parts": ["<p>"]}),
            "/parts",
            "or HTML or a URL with a placeholder",
        ),
        (
            json!({"parts": ["<p>{{ number }}", "<p>{{ a | upper }}"]}),
            "/parts/1",
            "need a template",
        ),
        (
            json!({"parts": [{"type": "html", "content": "{{ a"}]}),
            "/parts/0/content",
            "must end with }}",
        ),
        (json!({"parts": ["<p>{{ a\u{0}b }}"]}), "/parts/0", "name of a member"),
        (
            json!({"parts": ["https://{{name}}@example.com/"]}),
            "/parts/0",
            "the path, the query or the fragment",
        ),
        (
            json!({"parts": ["<p>{{ a }}"], "render_header_footer": true, "footer_template": "<p>{{}}"}),
            "/footer_template",
            "name of a member",
        ),
    ] {
        let body = with_rows(json!({"batch": {"render": render}}), numbers(1));
        let found = faults(studio.create_batch(&body).await).await;
        let start = format!("/batch/render{pointer}: ");
        assert!(
            found.len() == 1 && found[0].starts_with(&start) && found[0].contains(reason),
            "{found:?}"
        );
    }
}
