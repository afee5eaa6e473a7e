//! Pages and expressions that make the browser report, print or hold too much.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    attack::{Answer, Plan, Stage},
    noise,
};

/// Renders a body, asserts that the attack was harmless, and returns the response.
async fn attack(stage: &Stage, plan: Plan, body: &Value) -> Answer {
    let report = stage.attack(plan, async |attacker| attacker.render(body).await).await;
    report.was_harmless(plan);
    report.outcome
}

fn page(html: &str) -> Value {
    json!({"parts": [format!("<!doctype html><title>x</title><body><p>x{html}")], "output_encoding": "binary"})
}

fn with(mut body: Value, member: &str, value: Value) -> Value {
    body[member] = value;
    body
}

fn evaluating(expression: &str) -> Value {
    with(page(""), "evaluate_js", json!({"expression": expression}))
}

fn script(script: &str) -> Value {
    page(&format!("<script>{script}</script>"))
}

#[tokio::test]
async fn texts_of_any_size_stay_in_the_page() {
    let stage = Stage::start(&[]).await;
    for body in [
        evaluating("'\\u0001'.repeat(50_000_000)"),
        evaluating("const own = {}; own.own = own; own"),
        script("fetch('http://nowhere.invalid/', {method: 'POST', body: 'x'.repeat(1.2e8)}).catch(() => {})"),
        script("alert('x'.repeat(1e8))"),
        script("for (let i = 0; i < 1e6; i++) console.log('x'.repeat(1e3))"),
        script("console.error('x'.repeat(1e8)); setTimeout(() => { throw new Error('x'.repeat(1e8)) })"),
    ] {
        let answer = attack(&stage, Plan::Free, &body).await;
        assert_eq!(answer.status, 200, "{}: {body}", answer.body);
    }
    for (body, pointer) in [
        (
            evaluating("throw new Error('x'.repeat(1e8))"),
            "/evaluate_js/expression",
        ),
        (evaluating("Promise.reject('x'.repeat(1e8))"), "/evaluate_js/expression"),
        (
            evaluating("String.prototype.slice = () => 'x'.repeat(1e7); throw new Error('x'.repeat(1e5))"),
            "/evaluate_js/expression",
        ),
        (
            script("const f = document.createElement('iframe'); f.name = 'x'.repeat(1e8); document.body.append(f)"),
            "/parts/0",
        ),
    ] {
        let answer = attack(&stage, Plan::Free, &body).await;
        let detail = answer.refused_at(pointer);
        assert!(detail.len() < 1000, "{detail}");
        assert!(answer.took < Duration::from_secs(20), "{:?}: {body}", answer.took);
    }
    let titled = attack(&stage, Plan::Free, &script("document.title = 'x'.repeat(1e8)")).await;
    assert!(!titled.status.is_server_error(), "{}", titled.body);
}

#[tokio::test]
async fn pages_that_never_end_hold_up_no_other_account() {
    const DEADLINE: Duration = Duration::from_secs(8);
    let stage = Stage::start(&[("PLATEN_SYNC_DEADLINE", "8"), ("PLATEN_SLOTS", "2")]).await;
    for (endless, at_once) in [("new Promise(() => {})", 8), ("for (;;);", 2)] {
        let body = evaluating(endless);
        let report = stage
            .attack(Plan::Scale, async |attacker| {
                attacker.render_at_once(at_once, &body).await
            })
            .await;
        for answer in &report.outcome {
            assert_eq!(answer.status, 504, "{}", answer.body);
        }
        report.was_harmless(Plan::Scale);
        assert!(
            report.neighbour_slowest < DEADLINE / 2,
            "{:?}",
            report.neighbour_slowest
        );
    }
}

#[tokio::test]
async fn a_large_picture_in_an_address_is_drawn() {
    let stage = Stage::start(&[]).await;
    let answer = attack(&stage, Plan::Scale, &page(&noise::picture())).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn headers_that_grow_are_refused() {
    let stage = Stage::start(&[]).await;
    let part = format!("<!doctype html><title>{}</title><p>Body", "t".repeat(50_000));
    for (parts, titles) in [(1, 10_000), (1, 50_000), (50, 10_000)] {
        let body = json!({
            "parts": vec![part.as_str(); parts],
            "header_template": "<b class=title></b>".repeat(titles),
            "render_header_footer": true,
            "output_encoding": "binary",
        });
        let answer = attack(&stage, Plan::Free, &body).await;
        let detail = answer.refused_at("/header_template");
        assert!(detail.contains("bytes"), "{detail}");
    }
    let footer = with(page(""), "footer_template", json!("x".repeat(1_100_000)));
    let answer = attack(&stage, Plan::Free, &with(footer, "render_header_footer", json!(true))).await;
    assert!(
        answer.refused_at("/footer_template").contains("1048576"),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn parts_that_print_too_much_are_refused() {
    let stage = Stage::start(&[]).await;
    let noise = "<!doctype html><canvas id=c width=3500 height=3500></canvas><script>\
                 const context = c.getContext('2d'), image = context.createImageData(3500, 3500); \
                 for (let at = 0; at < image.data.length; at += 65536) \
                 crypto.getRandomValues(image.data.subarray(at, at + 65536)); \
                 for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255; \
                 context.putImageData(image, 0, 0)</script>";
    for (plan, parts) in [(Plan::Free, 50), (Plan::Scale, 1)] {
        let body = json!({"parts": vec![noise; parts], "output_encoding": "binary"});
        let answer = attack(&stage, plan, &body).await;
        assert_eq!(answer.status, 422, "{}", answer.body);
        let pointer = answer.body["errors"][0]["source"]["pointer"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(pointer.starts_with("/parts/"), "{pointer}");
        let detail = answer.refused_at(&pointer);
        assert!(detail.contains("MB, the limit of one render"), "{detail}");
    }
}

#[tokio::test]
async fn what_the_browser_holds_for_a_page_is_bounded() {
    let stage = Stage::start(&[("PLATEN_PAGE_MEMORY_MB", "256")]).await;
    for grow in [
        "const bytes = new Uint8Array(4 << 20); const all = []; const next = () => { all.push(new Blob([bytes])); \
         setTimeout(next, 5) }; next()",
        "const all = []; for (;;) all.push(new Uint8Array(16 << 20).fill(1))",
    ] {
        let answer = attack(
            &stage,
            Plan::Free,
            &evaluating(&format!("{grow}; new Promise(() => {{}})")),
        )
        .await;
        let detail = answer.refused_at("/parts/0");
        assert!(detail.contains("256 MB of memory"), "{detail}: {grow}");
    }
}
