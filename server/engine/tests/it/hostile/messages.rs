//! Strings of any size that a page makes the browser report.

use std::time::Duration;

use platen_engine::{
    error::{RenderError, RenderProblem},
    job::{Part, RenderJob},
    render_log::RenderLog,
};
use uuid::Uuid;

use super::assert_serves;
use crate::support::{TestEngine, blamed, html_job, job, text};

/// Longer than a flood takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

fn evaluating(expression: &str) -> RenderJob {
    RenderJob {
        evaluate: Some(expression.to_owned()),
        ..html_job("<body><p>Printed")
    }
}

fn threw(message: &str) -> RenderError {
    let message = message.to_owned();
    blamed(RenderProblem::EvaluateThrew { message })
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_the_expression_stay_in_the_page() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    for expression in [
        "'\\u0001'.repeat(50_000_000)",
        "Promise.resolve('x'.repeat(2e8))",
        "const own = {}; own.own = own; own",
        "document.body",
        "({toString() { throw 1 }, toJSON() { throw 2 }})",
        "Array.from({length: 1e6}, () => ({}))",
        "console.log('x'.repeat(1e8)); for (let i = 0; i < 1e5; i++) console.log(i)",
    ] {
        let rendered = engine.render(account, evaluating(expression)).await;
        let rendered = rendered.unwrap_or_else(|error| panic!("{error}: {expression}"));
        assert_eq!(text(&rendered.pdf), "Printed", "{expression}");
    }
    // Declarations are visible to the expression and to functions that it leaves behind.
    let html = "document.body.prepend('A'); let count = 1; function more() { return ++count } var kept = more(); \
                document.querySelector('p').textContent = kept";
    assert_eq!(
        text(&engine.render(account, evaluating(html)).await.unwrap().pdf),
        "A 2"
    );
    assert_eq!(engine.engine.status().replacements.died, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_expression_throws_is_named_short() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let long = "x".repeat(500);
    let (error, quoted) = (format!("Error: {}", &long[7..]), format!("\"{}", &long[1..]));
    for (expression, message) in [
        ("throw new Error('a\\nb')", "Error: a"),
        ("throw undefined", "Uncaught"),
        ("Promise.reject()", "Uncaught (in promise)"),
        ("throw 'text'", "\"text\""),
        ("throw {a: 1}", "Object"),
        ("throw new (class Own extends Error {})('m')", "Own: m"),
        ("nothing.there", "ReferenceError: nothing is not defined"),
        ("({get then() { throw new Error('trap') }})", "Error: trap"),
        ("throw {get stack() { throw 1 }, get message() { throw 2 }}", "Object"),
        ("throw new Error('x'.repeat(1e8))", &error),
        ("Promise.reject(new Error('x'.repeat(1e8)))", &error),
        ("Promise.reject('x'.repeat(1e8))", &quoted),
        ("throw Symbol('x'.repeat(1e7))", &format!("Symbol({}", &long[7..])),
    ] {
        let thrown = engine.render(account, evaluating(expression)).await.unwrap_err();
        assert_eq!(thrown, threw(message), "{expression}");
    }
    // A page that tampers with the function that truncates messages.
    let tampered = "String.prototype.slice = () => 'x'.repeat(1e7); throw new Error('x'.repeat(1e5))";
    let error = engine.render(account, evaluating(tampered)).await.unwrap_err();
    assert_eq!(error, blamed(RenderProblem::EvaluateTooLarge { limit_mb: 4 }));
    assert_serves(&engine, account).await;
    assert_eq!(engine.engine.status().replacements.died, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_above_the_limit_cost_their_own_session() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    for script in [
        "const frame = document.createElement('iframe'); frame.name = 'x'.repeat(1e7); document.body.append(frame)",
        "String.prototype.slice = () => 'x'.repeat(1e7)",
        "onload = async () => { for (let i = 0; i < 9; i++) await fetch('http://x.invalid/', \
         {headers: {a: 'x'.repeat(3e7)}}).catch(() => {}) }",
    ] {
        let job = RenderJob {
            // Only the last script takes longer than loading the page.
            evaluate: script.contains("fetch").then(|| "new Promise(() => {})".to_owned()),
            ..html_job(&format!("<body><title>x</title><script>{script}</script>"))
        };
        // The browser writes hundreds of megabytes before the session is ended.
        let rendered = engine
            .render_within(PATIENCE, account, job, &RenderLog::default())
            .await;
        let error = rendered.unwrap_err();
        let RenderError::Problem { part: 0, problem } = error else {
            panic!("{error}: {script}");
        };
        let limit_mb = 4;
        let expected = [
            RenderProblem::MessageTooLarge { limit_mb },
            RenderProblem::EvaluateTooLarge { limit_mb },
        ];
        assert!(expected.contains(&problem), "{problem}: {script}");
        assert_serves(&engine, account).await;
    }
    assert_eq!(engine.engine.status().replacements.died, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_requests_and_addresses_do_no_harm() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    // 1600 × 1600 pixels of three bytes, not compressed: a bitmap of 7.7 MB, 10 MB in Base64.
    let picture = "const canvas = new Uint8Array(54 + 7680000).fill(90); const view = new DataView(canvas.buffer); \
                   canvas.fill(0, 0, 54); canvas.set([66, 77]); view.setUint32(2, canvas.length, true); view.setUint32(10, 54, true); \
                   view.setUint32(14, 40, true); view.setUint32(18, 1600, true); view.setUint32(22, 1600, true); \
                   view.setUint16(26, 1, true); view.setUint16(28, 24, true); \
                   new Promise(done => { const reader = new FileReader(); reader.onload = () => { \
                   const image = new Image(); image.src = reader.result; document.body.append(image); \
                   image.decode().then(done) }; reader.readAsDataURL(new Blob([canvas], {type: 'image/bmp'})) })";
    for expression in [
        picture,
        // Chromium itself truncates the text of dialogs.
        "alert('x'.repeat(1e7))",
        "fetch('http://x.invalid/', {method: 'POST', body: 'x'.repeat(1.2e8)}).catch(() => {})",
        "fetch('http://x.invalid/', {method: 'POST', body: new Uint8Array(5e7)}).catch(() => {})",
        "const request = new XMLHttpRequest(); request.open('POST', 'http://x.invalid/'); \
         request.send(new Blob([new Uint8Array(5e7)])); new Promise(done => request.onloadend = done)",
        "for (let i = 0; i < 1000; i++) navigator.sendBeacon('http://x.invalid/', 'x'.repeat(60000))",
        "fetch('http://x.invalid/', {headers: {a: 'x'.repeat(1e7)}}).catch(() => {})",
        "for (let i = 0; i < 10000; i++) fetch('data:text/plain,' + 'x'.repeat(1000)); 1",
    ] {
        let rendered = engine.render(account, evaluating(expression)).await;
        let rendered = rendered.unwrap_or_else(|error| panic!("{error}: {expression}"));
        assert_eq!(text(&rendered.pdf), "Printed", "{expression}");
    }
    let frames = "<iframe></iframe>".repeat(2_000);
    let error = engine
        .render(account, html_job(&format!("<title>x</title>{frames}")))
        .await;
    assert!(!matches!(error, Err(RenderError::Browser(_))), "{error:?}");
    let address = format!("http://x.invalid/{}", "x".repeat(3_000_000));
    let error = engine
        .render(account, job(Part::Url(address.parse().unwrap())))
        .await
        .unwrap_err();
    assert!(matches!(error, RenderError::Problem { .. }), "{error}");
    assert_serves(&engine, account).await;
    assert_eq!(engine.engine.status().replacements.died, 0);
}
