//! `/api/v1/templates/{id}/compare`

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::studio::{Studio, problems};

async fn ask(studio: &Studio, path: &str, body: &Value) -> Response {
    let request = studio.request(Method::POST, &format!("{path}/compare")).json(body);
    request.send().await.expect("an answer")
}

async fn compared(studio: &Studio, path: &str, body: &Value) -> Value {
    let answer = ask(studio, path, body).await;
    let status = answer.status();
    let body: Value = answer.json().await.expect("JSON");
    assert_eq!(status, 200, "{body}");
    body["data"].clone()
}

async fn refused(studio: &Studio, path: &str, body: &Value) -> Vec<(String, String)> {
    problems(ask(studio, path, body).await).await
}

/// Returns the kind of change of each page.
fn changes(compared: &Value) -> Vec<&str> {
    let pages = compared["pages"].as_array().expect("a list").iter();
    pages.map(|page| page["change"].as_str().expect("text")).collect()
}

const TWO_PAGES: &str = "<p>One</p><p style='break-before: page'>{{ total }}</p>";

#[tokio::test]
async fn versions_are_compared_page_by_page() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", TWO_PAGES).await;
    studio
        .change_template(&path, json!({"preview_context": {"total": 7}}))
        .await;
    let third = format!("{TWO_PAGES}<p style='break-before: page'>Three</p>");
    studio
        .change_template(&path, json!({"content": third, "preview_context": {"total": 8}}))
        .await;

    // Both are rendered with the newer data, so that only the third page differs.
    let shown = compared(&studio, &path, &json!({"older": 1, "newer": 3, "pictures": true})).await;
    assert_eq!((&shown["older_pages"], &shown["newer_pages"]), (&json!(2), &json!(3)));
    assert_eq!(changes(&shown), ["unchanged", "unchanged", "added"]);
    let added = &shown["pages"][2];
    assert!(added["before"].is_null() && added["after"]["png"].as_str().expect("Base64").starts_with("iVBOR"));

    let back = compared(&studio, &path, &json!({"newer": 2, "context": {"total": 9}})).await;
    assert_eq!(changes(&back), ["unchanged", "unchanged", "removed"]);
    assert!(back["pages"][2]["before"].is_null(), "pictures are not requested");
    let same = compared(&studio, &path, &json!({})).await;
    assert_eq!(changes(&same), ["unchanged"; 3]);
    let credits = studio
        .request(Method::GET, "/api/v1/credits")
        .send()
        .await
        .expect("an answer");
    assert_eq!(credits.json::<Value>().await.expect("JSON")["data"]["credits_used"], 0);
}

#[tokio::test]
async fn what_would_be_published_is_compared_before_it_is_saved() {
    let studio = Studio::start().await;
    let letterhead = studio
        .partial("letterhead", "<h1>Harbour</h1>{% block body %}{% endblock %}")
        .await;
    let content = "{% extends 'letterhead' %}{% block body %}<p>Dear Ada</p>{% endblock %}";
    let path = studio.template("Letter", content).await;

    let partials = json!({"letterhead": "{% include 'logo' %}{% block body %}{% endblock %}", "logo": "<b>Finch</b>"});
    for (body, expected) in [
        (json!({"content": content}), "unchanged"),
        (json!({"content": content.replace("Ada", "Bob")}), "changed"),
        (json!({ "partials": partials }), "changed"),
    ] {
        let shown = compared(&studio, &path, &body).await;
        assert_eq!(changes(&shown), [expected], "{body}");
        let pixels = shown["pages"][0]["changed_pixels"].as_u64().unwrap_or_default();
        assert_eq!(pixels > 100, expected == "changed", "{pixels} pixels, {body}");
    }
    // A partial that has been published since alters the template only when that is published again.
    studio
        .change_template(
            &letterhead,
            json!({"content": "<h1>Finch</h1>{% block body %}{% endblock %}"}),
        )
        .await;
    assert_eq!(changes(&compared(&studio, &path, &json!({})).await), ["changed"]);
    assert_eq!(
        changes(&compared(&studio, &path, &json!({"newer": 1})).await),
        ["unchanged"]
    );
}

#[tokio::test]
async fn refusals_name_the_side_and_the_place() {
    let studio = Studio::start().await;
    let path = studio.template("Invoice", "{{ total }}").await;
    for (body, pointer, detail) in [
        (json!({"newer": 2}), "/newer", "The template has no version 2"),
        (json!({"older": 2}), "/older", "The template has no version 2"),
        (
            json!({"content": "<p>\n{{ total|nope }}"}),
            "/content",
            "Line 2, column",
        ),
        (
            json!({"content": "{% include 'a' %}", "partials": {"a": "{{ total|nope }}"}}),
            "/partials/a",
            "Partial a, line 1",
        ),
        (
            json!({"content": "{% include 'a' %}"}),
            "/content",
            "there is no partial with this handle",
        ),
        (
            json!({"sample_set": "Long"}),
            "/sample_set",
            "The template has no such set",
        ),
        (
            json!({"partials": {"A b": "x"}}),
            "/partials/A b",
            "handles of 1 to 64 of the letters a to z",
        ),
        (
            json!({"newer": 1, "content": "x"}),
            "/content",
            "Can't be combined with newer",
        ),
    ] {
        let problems = refused(&studio, &path, &body).await;
        assert!(
            problems.len() == 1 && problems[0].0 == pointer && problems[0].1.contains(detail),
            "{body}: {problems:?}"
        );
    }
}
