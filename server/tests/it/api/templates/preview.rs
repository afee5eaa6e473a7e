//! `/api/v1/templates/{id}/preview`

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::{
    pdf,
    studio::{Studio, problems},
};

async fn preview(studio: &Studio, path: &str, body: Value) -> Response {
    let request = studio.request(Method::POST, &format!("{path}/preview")).json(&body);
    request.send().await.expect("an answer")
}

async fn seen(studio: &Studio, path: &str, body: Value) -> Value {
    let answer = preview(studio, path, body).await;
    assert_eq!(answer.status(), 200);
    answer.json::<Value>().await.expect("JSON")["data"].clone()
}

fn decoded(text: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(text.as_str().expect("text")).expect("Base64")
}

#[tokio::test]
async fn pages_are_pictures_of_the_template_filled_with_its_preview_context() {
    let studio = Studio::start().await;
    let content = "<p>{{ name }}{{ missing }}{% for n in range(11) %}<p style='break-before: page'>{{ n }}{% endfor %}";
    let path = studio.template("Letter", content).await;
    let change = json!({"template": {"preview_context": {"name": "Ada"}}});
    studio.request(Method::PATCH, &path).json(&change).send().await.unwrap();
    let body = json!({"options": {"size": "a6", "orientation": "landscape"}, "dots_per_inch": 50});
    let shown = seen(&studio, &path, body).await;
    assert_eq!(shown["page_count"], 12);
    let pages = shown["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 10);
    // 148 × 105 mm; Chromium rounds up.
    assert_eq!((&pages[0]["width"], &pages[0]["height"]), (&json!(292), &json!(207)));
    assert!(decoded(&pages[0]["png"]).starts_with(b"\x89PNG"));
    let warnings = shown["warnings"].as_array().unwrap();
    assert!(
        warnings[0]["message"]
            .as_str()
            .unwrap()
            .starts_with("/content: line 1, column ")
    );
    let credits = studio.request(Method::GET, "/api/v1/credits").send().await.unwrap();
    assert_eq!(credits.json::<Value>().await.unwrap()["data"]["credits_used"], 0);
}

#[tokio::test]
async fn partials_that_are_not_saved_yet_are_used() {
    let studio = Studio::start().await;
    studio.partial("footer", "<p>Published</p>").await;
    let path = studio.template("Letter", "Dear Ada {% include 'footer' %}").await;
    let partials = json!({"footer": "<p>Unsaved</p>{% include 'logo' %}", "logo": "Logo"});
    let shown = seen(&studio, &path, json!({"partials": partials, "format": "pdf"})).await;
    let text = pdf::text(&decoded(&shown["pdf"]));
    assert!(
        ["Dear Ada", "Unsaved", "Logo"].iter().all(|word| text.contains(word)) && !text.contains("Published"),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_not_saved_yet_can_be_seen_as_a_stamped_pdf() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "saved").await;
    let body = json!({"content": "<h1>Dear {{ name }}", "context": {"name": "Bob"}, "format": "pdf"});
    let shown = seen(&studio, &path, body).await;
    assert!(shown["pages"].is_null());
    let stamped = decoded(&shown["pdf"]);
    assert!(pdf::text(&stamped).contains("Dear Bob"));
    let plain = studio.pdf("<h1>Dear Bob", json!({})).await;
    let (stamped, plain) = (pdf::picture(&stamped, 1), pdf::picture(&plain, 1));
    let differing = stamped
        .pixels
        .iter()
        .zip(&plain.pixels)
        .filter(|(one, other)| one != other);
    assert!(differing.count() > 1000, "a word lies across the page");
}

#[tokio::test]
async fn every_fault_is_told_at_its_member() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", "x").await;
    let pointers = async |body: Value| {
        let found = problems(preview(&studio, &path, body).await).await;
        found.into_iter().map(|(pointer, _)| pointer).collect::<Vec<_>>()
    };
    assert_eq!(pointers(json!({"content": "a\n{{ 1 + [] }}"})).await, ["/content"]);
    assert_eq!(
        pointers(json!({"format": "gif", "options": {"scale": 9, "parts": []}, "x": 1})).await,
        ["/format", "/options/scale", "/options/parts", "/x"]
    );
    assert_eq!(pointers(json!({"options": {"pages": "2"}})).await, ["/options/pages"]);
    let unknown = "/api/v1/templates/01939f2e-0000-7000-8000-000000000000";
    assert_eq!(preview(&studio, unknown, json!({})).await.status(), 404);
}

#[tokio::test]
async fn an_account_has_sixty_previews_a_minute() {
    let studio = Studio::start().await;
    let unknown = "/api/v1/templates/01939f2e-0000-7000-8000-000000000000";
    let asked = futures::future::join_all((0..70).map(|_| preview(&studio, unknown, json!({})))).await;
    let served = asked.iter().filter(|answer| answer.status() == 404).count();
    let refused = asked.iter().filter(|answer| answer.status() == 429).count();
    // Two per cent more are tolerated.
    assert_eq!((served, refused), (61, 9));
}

/// Twenty thousand layers, which would take gigabytes to rasterize.
#[tokio::test]
async fn pages_that_take_too_much_to_draw_are_given_up() {
    let studio = Studio::start().await;
    let style = "<style>div { position: fixed; inset: 0; background: rgba(0, 0, 255, .01) }</style>";
    let path = studio
        .template("Heavy", &format!("{style}{}", "<div></div>".repeat(20_000)))
        .await;
    let found = problems(preview(&studio, &path, json!({"dots_per_inch": 192})).await).await;
    assert_eq!(
        found,
        [(
            "/dots_per_inch".to_owned(),
            "Rasterizing the pages takes too much memory.".to_owned()
        )]
    );
    let path = studio.template("Light", "<p>light").await;
    assert_eq!(seen(&studio, &path, json!({})).await["page_count"], 1);
}
