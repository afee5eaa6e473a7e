//! `/docs` and `/openapi.json`: the public API reference.

use serde_json::{Value, json};

use crate::support::{
    description::operations,
    pdf,
    studio::{Studio, header},
};

/// Waits in the page until the operation is shown, and throws if the page requested anything from other hosts or
/// violated its own policy. Scalar tests whether it may use `eval`, and works without it.
const LOOK: &str = r#"(async () => {
  const broken = [];
  new ReportingObserver(reports => broken.push(...reports.filter(report => report.body.blockedURL !== "eval")), { types: ["csp-violation"], buffered: true }).observe();
  while (!document.body.innerText.includes("Render a PDF and return it")) {
    await new Promise(soon => setTimeout(soon, 50));
  }
  const asked = performance.getEntriesByType("resource").map(entry => entry.name);
  const elsewhere = asked.filter(address => new URL(address).origin !== location.origin);
  if (elsewhere.length || broken.length) throw new Error(JSON.stringify({ elsewhere, broken }));
  if (!asked.some(address => address.endsWith("/openapi.json"))) throw new Error("nothing was described");
})()"#;

#[tokio::test]
async fn a_browser_shows_the_reference_without_requests_to_other_hosts() {
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", "127.0.0.1")]).await;
    let options = json!({"evaluate_js": {"expression": LOOK}, "emulate_media_type": "screen"});
    let shown = studio.pdf(studio.service.url("/docs"), options).await;
    let text = pdf::text(&shown);
    for expected in ["Platen", "Authentication", "Render a PDF and return it"] {
        assert!(text.contains(expected), "{expected} is missing in:\n{text}");
    }
}

#[tokio::test]
async fn the_reference_needs_no_key_and_is_asked_for_once() {
    let studio = Studio::start().await;
    let get = |path: &str| studio.service.client.get(studio.service.url(path));
    for (path, media_type) in [
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/scalar.js", "text/javascript; charset=utf-8"),
        ("/docs/start.js", "text/javascript; charset=utf-8"),
        ("/openapi.json", "application/json"),
    ] {
        let plain = get(path).send().await.unwrap();
        assert_eq!(plain.status(), 200, "{path}");
        assert_eq!(header(&plain, "content-type"), media_type);
        assert!(
            header(&plain, "content-security-policy").contains("script-src 'self'"),
            "{path}"
        );
        let tag = header(&plain, "etag").to_owned();
        let content = plain.bytes().await.unwrap();

        let packed = get(path).header("accept-encoding", "gzip").send().await.unwrap();
        assert_eq!(header(&packed, "content-encoding"), "gzip", "{path}");
        assert!(packed.bytes().await.unwrap().len() < content.len(), "{path}");
        let again = get(path).header("if-none-match", tag).send().await.unwrap();
        assert_eq!(again.status(), 304, "{path}");
        assert!(again.bytes().await.unwrap().is_empty(), "{path}");
    }
}

#[tokio::test]
async fn the_description_is_served_as_it_is() {
    let studio = Studio::start().await;
    let answer = studio.service.client.get(studio.service.url("/openapi.json"));
    let document: Value = answer.send().await.unwrap().json().await.unwrap();
    assert_eq!(
        (&document["openapi"], &document["info"]["version"]),
        (&json!("3.1.0"), &json!("1.0"))
    );
    let described = document["paths"].as_object().unwrap();
    assert!(
        operations()
            .iter()
            .all(|operation| described.contains_key(operation.path))
    );
}
