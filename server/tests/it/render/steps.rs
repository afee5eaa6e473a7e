//! Cookies, scripts and waiting.

use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    pdf,
    studio::{Studio, header},
};

#[tokio::test]
async fn scripts_run_before_the_page_is_printed_and_promises_are_awaited() {
    let studio = Studio::start().await;
    let page = "<p id=p>before";
    let later = "new Promise(done => setTimeout(() => { p.textContent = 'after'; done() }, 200))";
    for expression in [
        "p.textContent = 'after'",
        "document.getElementById('p').replaceChildren('after')",
        later,
    ] {
        let text = pdf::text(
            &studio
                .pdf(page, json!({"evaluate_js": {"expression": expression}}))
                .await,
        );
        assert_eq!(text.trim(), "after", "{expression}");
    }
    let rejected = json!({"evaluate_js": {"expression": "Promise.reject(new Error('no data'))"}});
    let (pointer, detail) = studio.problem(page, rejected).await;
    assert_eq!(pointer, "/evaluate_js/expression");
    assert!(detail.contains("no data"), "{detail}");
}

#[tokio::test]
async fn printing_waits_for_the_attribute() {
    let studio = Studio::start().await;
    let page =
        "<p id=p>before<script>setTimeout(() => { p.textContent = 'after'; p.setAttribute('done', '') }, 300)</script>";
    let waited = json!({"wait_for": {"selector": "#p", "attribute": "done"}});
    assert_eq!(pdf::text(&studio.pdf(page, waited).await).trim(), "after");
    // Evaluated first, then awaited.
    let both = json!({
        "evaluate_js": {"expression": "document.body.innerHTML = '<i data-x=1>made</i>'"},
        "wait_for": {"selector": "i", "attribute": "data-x"},
    });
    assert_eq!(pdf::text(&studio.pdf("<p>", both).await).trim(), "made");
}

#[tokio::test]
async fn an_attribute_that_never_comes_is_the_callers_fault() {
    let studio = Studio::start().await;
    let options = json!({"wait_for": {"selector": "p", "attribute": "done"}});
    assert_eq!(studio.problem("<p>", options).await.0, "/wait_for");
}

#[tokio::test]
async fn a_cookie_reaches_only_the_host_that_it_is_for() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let cookie = |domain: &str| json!({"set_cookie": {"name": "session", "value": "hunter2", "domain": domain}});
    let text = async |options: Value| pdf::text(&studio.pdf(origin.url("/cookies"), options).await);
    assert_eq!(text(cookie("127.0.0.1")).await.trim(), "session=hunter2");
    assert_eq!(text(json!({})).await.trim(), "none", "cookies do not outlive a render");

    let answer = studio.render(origin.url("/cookies"), cookie("example.com")).await;
    let render_id = header(&answer, "x-render-id").to_owned();
    assert_eq!(pdf::text(&answer.bytes().await.unwrap()).trim(), "none");
    let row = studio.recorded(&render_id).await;
    assert_eq!(row["warnings"][0]["code"], "cookie_unused", "{row}");
    assert!(!row.to_string().contains("hunter2"), "{row}");
}
