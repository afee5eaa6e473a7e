//! Assets that a request brings along.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    pdf,
    studio::{Studio, header},
};

fn assets() -> Value {
    let css = BASE64_STANDARD.encode("h1::before { content: 'Sheet ' } @import url(asset:none.css);");
    let logo = BASE64_STANDARD.encode("<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>Logo</text></svg>");
    json!({"brand/letter.css": css, "logo.svg": logo})
}

const PAGE: &str = "<link rel=stylesheet href=asset:brand/letter.css><h1>Title</h1><img alt=Logo src=asset:logo.svg>";

#[tokio::test]
async fn html_templates_and_headers_name_assets() {
    let studio = Studio::start().await;
    let path = studio.template("Letter", PAGE).await;
    let template = json!({"type": "template", "content": {"template_id": path.rsplit_once('/').unwrap().1}});
    for part in [Value::from(PAGE), template] {
        let answer = studio.render(part, json!({"assets": assets()})).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(header(&answer, "x-pdf-conformance"), "PDF/A-2a");
        let text = pdf::text(&answer.bytes().await.unwrap());
        assert!(text.contains("Sheet Title") && text.contains("Logo"), "{text}");
    }
    let preview = json!({"format": "pdf", "options": {"assets": assets()}});
    let request = studio.request(Method::POST, &format!("{path}/preview")).json(&preview);
    let preview: Value = request.send().await.unwrap().json().await.unwrap();
    let file = preview["data"]["pdf"].as_str().expect("a document");
    let text = pdf::text(&BASE64_STANDARD.decode(file).unwrap());
    assert!(text.contains("Sheet Title"), "{text}");
    let decorated = json!({
        "assets": assets(),
        "header_template": "<img src=asset:logo.svg>",
        "render_header_footer": true,
        "margin": {"top": 20, "right": 20, "bottom": 20, "left": 20, "unit": "mm"},
    });
    let text = pdf::text(&studio.pdf("<p>x", decorated).await);
    assert!(text.contains("Logo"), "{text}");
}

#[tokio::test]
async fn a_queued_request_keeps_its_assets() {
    let studio = Studio::start().await;
    let body = json!({"parts": [PAGE], "assets": assets()});
    let id = studio.queued(&body).await;
    let ended = studio.ended(&id).await;
    let name = ended["result"]["name"].as_str().unwrap();
    let document = studio.service.client.get(studio.service.url(&format!("/files/{name}")));
    let document = document.send().await.unwrap().bytes().await.unwrap();
    let text = pdf::text(&document);
    assert!(text.contains("Sheet Title") && text.contains("Logo"), "{text}");
    assert_eq!(ended["options"]["assets"]["count"], 2);
}

#[tokio::test]
async fn faults_of_assets_are_at_their_names() {
    let studio = Studio::start().await;
    let (pointer, detail) = studio.problem("<p>", json!({"assets": {"brand/x.html": "PHA+"}})).await;
    assert_eq!(pointer, "/assets/brand~1x.html");
    assert!(detail.contains("PNG") && detail.contains(".css"), "{detail}");
}
