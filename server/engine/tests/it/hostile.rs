//! Pages that loop, flood, crash or navigate away fail their own render with a named error, and affect no other render.

mod memory;
mod messages;
mod printing;

use std::time::{Duration, Instant};

use platen_engine::error::{RenderError, RenderProblem};
use platen_engine::job::{Part, Phase, RenderJob, WaitFor};
use platen_engine::render_log::RenderLog;
use uuid::Uuid;

use crate::{
    processes,
    servers::{Origin, Reply},
    support::{TestEngine, blamed, html_job, job, text},
};

const SHORT: Duration = Duration::from_secs(3);
/// Tolerance for deadlines on a busy machine.
const LATE: Duration = Duration::from_secs(3);

/// Asserts that renders of the same account and of another one succeed as usual.
async fn assert_serves(engine: &TestEngine, account: Uuid) {
    for account in [account, Uuid::now_v7()] {
        let scripted = "<p id=x></p><script>document.querySelector('#x').append('Next')</script>";
        assert_eq!(engine.text_of(account, "<p>Plain").await, "Plain");
        assert_eq!(engine.text_of(account, scripted).await, "Next");
    }
}

/// Returns the error of a render with a short deadline.
async fn hurried(engine: &TestEngine, account: Uuid, job: RenderJob) -> RenderError {
    let rendered = engine.render_within(SHORT, account, job, &RenderLog::default()).await;
    rendered.unwrap_err()
}

/// Asserts that the deadline ends the render in `phase`.
async fn assert_times_out(engine: &TestEngine, job: RenderJob, phase: Phase) {
    let account = Uuid::now_v7();
    let start = Instant::now();
    let error = hurried(engine, account, job).await;
    assert_eq!(error, RenderError::Deadline { phase, after: SHORT });
    assert!(start.elapsed() < SHORT + LATE, "{:?}", start.elapsed());
    assert_serves(engine, account).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loops_end_at_the_deadline_which_names_the_phase() {
    let engine = TestEngine::start("").await;
    let while_set = html_job("<p>x<script>while (true) {}</script>");
    let after_load = html_job("<p>x<script>onload = () => { while (true) {} }</script>");
    tokio::join!(
        assert_times_out(&engine, while_set, Phase::Load),
        assert_times_out(&engine, after_load, Phase::Load),
    );
    let while_evaluated = RenderJob {
        evaluate: Some("while (true) {}".to_owned()),
        ..html_job("<p>x")
    };
    let never_settled = RenderJob {
        evaluate: Some("new Promise(() => {})".to_owned()),
        ..html_job("<p>x")
    };
    tokio::join!(
        assert_times_out(&engine, while_evaluated, Phase::Evaluate),
        assert_times_out(&engine, never_settled, Phase::Evaluate),
    );
    let never_there = RenderJob {
        wait_for: Some(WaitFor {
            selector: "#never".to_owned(),
            attribute: "id".to_owned(),
        }),
        ..html_job("<p>x")
    };
    let while_printed = html_job("<p>x<script>onbeforeprint = () => { while (true) {} }</script>");
    tokio::join!(
        assert_times_out(&engine, never_there, Phase::Wait),
        assert_times_out(&engine, while_printed, Phase::Print),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn others_are_served_while_a_page_loops() {
    let engine = TestEngine::start("").await;
    let looping = engine.render(Uuid::now_v7(), html_job("<script>while (true) {}</script>"));
    let others = async {
        processes::busy_renderer(engine.profiles()).await;
        for _ in 0..5 {
            assert_serves(&engine, Uuid::now_v7()).await;
        }
    };
    tokio::select! {
        ended = looping => panic!("a loop ended: {ended:?}"),
        () = others => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_loops_after_it_is_printed_delays_no_other() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let html = "<p>Printed<script>onafterprint = () => setTimeout(() => { while (true) {} })</script>";
    for _ in 0..4 {
        assert_eq!(engine.text_of(account, html).await, "Printed");
    }
    // Every possible session was used, and none becomes available by itself.
    let start = Instant::now();
    assert_serves(&engine, Uuid::now_v7()).await;
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exhausted_heap_crashes_the_page_alone() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let flood = "const all = []; for (;;) all.push(new Array(1e6).fill(0.5))";
    for html in [
        format!("<script>{flood}</script>"),
        format!("<script>onbeforeprint = () => {{ {flood} }}</script>"),
    ] {
        let error = engine.render(account, html_job(&html)).await.unwrap_err();
        let RenderError::Problem { problem, .. } = &error else {
            panic!("{error}")
        };
        assert!(
            matches!(problem, RenderProblem::Crashed | RenderProblem::PrintFailed { .. }),
            "{error}"
        );
        assert_serves(&engine, account).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_outside_the_heap_is_bounded() {
    let engine = TestEngine::start_with("", |config| config.page_memory_limit = 300 << 20).await;
    let account = Uuid::now_v7();
    for html in [
        "<script>const all = []; for (;;) all.push(new Uint8Array(16 << 20).fill(1))</script>",
        "<body><script>for (;;) document.body.append(document.createElement('p'))</script>",
        "<body><script>for (;;) { const canvas = document.createElement('canvas'); canvas.width = canvas.height = 2000; \
         canvas.getContext('2d').fillRect(0, 0, 2000, 2000); document.body.append(canvas) }</script>",
        "<script>const url = URL.createObjectURL(new Blob(['const all = []; for (;;) all.push(new Uint8Array(16 << \
         20).fill(1))'])); new Worker(url)</script>",
    ] {
        let flood = RenderJob {
            // The worker needs an idle page, and time.
            evaluate: Some("new Promise(() => {})".to_owned()),
            ..html_job(html)
        };
        let error = engine.render(account, flood).await.unwrap_err();
        let expected = RenderProblem::MemoryExceeded { limit_mb: 300 };
        assert_eq!(error, blamed(expected), "{html}");
        assert_serves(&engine, account).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_of_one_render_is_not_booked_on_the_next() {
    let engine = TestEngine::start_with("", |config| config.page_memory_limit = 400 << 20).await;
    let account = Uuid::now_v7();
    for _ in 0..6 {
        let html = "<p>Large<script>window.kept = new Uint8Array(150 << 20).fill(1)</script>";
        assert_eq!(engine.text_of(account, html).await, "Large");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_are_dismissed_and_reported() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let html = "<p id=x></p><script>alert('1'); const said = [confirm('2'), prompt('3')]; \
                document.querySelector('#x').append(String(said[0]), ' ', String(said[1])); \
                onbeforeunload = event => event.preventDefault()</script>";
    let document = engine.render(account, html_job(html)).await.unwrap();
    assert_eq!(text(&document.pdf), "false null");
    let warning = document
        .warnings
        .iter()
        .find(|warning| warning.code == "dialog_dismissed");
    assert_eq!(warning.unwrap().message, "3 dialogs were dismissed");
    assert_serves(&engine, account).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_may_not_do_does_nothing() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    for script in [
        "print()",
        "close()",
        "stop()",
        "history.back(); history.go(-2)",
        "for (let i = 0; i < 5; i++) open('http://example.com/' + i)",
        "for (let i = 0; i < 5; i++) open('about:blank', 'window' + i)",
        "const a = document.createElement('a'); a.href = 'data:application/octet-stream,x'; a.download = 'dropped.txt'; \
         document.body.append(a); a.click(); a.remove()",
        "const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'])); \
         a.download = 'dropped.txt'; document.body.append(a); a.click(); a.remove()",
        "location = 'file:///etc/passwd'",
        "location = 'chrome://crash'",
        "location = 'chrome://kill'",
        "location = 'chrome://inducebrowsercrashforrealz'",
        "location = 'view-source:file:///etc/passwd'",
        "location = 'data:text/html,gone'",
        "location = 'devtools://devtools/bundled/inspector.html'",
        "const source = URL.createObjectURL(new Blob(['for (;;) {}'])); for (let i = 0; i < 3; i++) new Worker(source)",
        "navigator.serviceWorker?.register('x.js'); window.caches?.open('x')",
        "document.documentElement.requestFullscreen(); document.body.requestPointerLock()",
    ] {
        let html = format!("<body><p>Still here</p><script>try {{ {script} }} catch {{}}</script>");
        assert_eq!(engine.text_of(account, &html).await, "Still here", "{script}");
        assert_serves(&engine, account).await;
    }
    let dropped = std::process::Command::new("find")
        .arg(engine.profiles())
        .args(["-name", "*dropped*"])
        .output();
    assert_eq!(String::from_utf8_lossy(&dropped.unwrap().stdout), "");
    assert!(processes::renderers(engine.profiles()).len() <= 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_leaves_is_not_printed() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    for (html, evaluate, to) in [
        (
            "<script>location = 'http://example.invalid/a?token=1'</script>",
            None,
            "http://example.invalid/a",
        ),
        // A port that browsers refuse.
        (
            "<script>location = 'http://example.invalid:25/'</script>",
            None,
            "http://example.invalid:25/",
        ),
        (
            "<p>x",
            Some("location = 'about:blank?x'; new Promise(() => {})"),
            "about:blank",
        ),
    ] {
        let job = RenderJob {
            evaluate: evaluate.map(ToOwned::to_owned),
            ..html_job(html)
        };
        let error = engine.render(account, job).await.unwrap_err();
        let expected = RenderProblem::NavigatedAway { url: to.to_owned() };
        assert_eq!(error, blamed(expected), "{html}");
        assert_serves(&engine, account).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renderer_that_is_killed_is_named() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let looping = html_job("<script>while (true) {}</script>");
    let (ended, ()) = tokio::join!(engine.render(account, looping), async {
        processes::kill(processes::busy_renderer(engine.profiles()).await);
    });
    assert_eq!(ended.unwrap_err(), blamed(RenderProblem::Crashed));
    assert_serves(&engine, account).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renderer_that_ends_while_idle_fails_no_render() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    assert_serves(&engine, account).await;
    let idle = processes::renderers(engine.profiles());
    assert!(!idle.is_empty());
    for renderer in idle {
        processes::kill(renderer);
        processes::gone(&[renderer]).await;
        assert_serves(&engine, account).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_every_kind_cost_their_own_render() {
    let engine = TestEngine::start_with("", |config| config.page_memory_limit = 300 << 20).await;
    let account = Uuid::now_v7();
    for script in [
        // Blobs are stored in the browser process.
        "const all = []; for (;;) all.push(new Blob([new Uint8Array(16 << 20)]))",
        "for (;;) document.body.append(document.createElement('iframe'))",
        "const url = URL.createObjectURL(new Blob(['for (;;);'])); \
         const grow = () => { new Worker(url); setTimeout(grow) }; grow()",
        "const grow = () => { for (let i = 0; i < 1000; i++) fetch('http://x' + Math.random() + '.invalid/' + \
         'x'.repeat(10000)).catch(() => {}); setTimeout(grow) }; grow()",
        "for (;;) alert('x'.repeat(1e6))",
        "for (;;) history.pushState('x'.repeat(1e6), '')",
        "for (;;) postMessage(new ArrayBuffer(1e6))",
    ] {
        let job = RenderJob {
            evaluate: Some("new Promise(() => {})".to_owned()),
            ..html_job(&format!("<body><script>{script}</script>"))
        };
        let start = Instant::now();
        let error = hurried(&engine, account, job).await;
        let in_memory = blamed(RenderProblem::MemoryExceeded { limit_mb: 300 });
        let in_time = matches!(error, RenderError::Deadline { .. });
        assert!(in_time || error == in_memory, "{error}: {script}");
        assert!(start.elapsed() < SHORT + LATE, "{:?}: {script}", start.elapsed());
        assert_serves(&engine, account).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_that_browsers_refuse_are_named() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let part = Part::Url("http://example.invalid:25/".parse().unwrap());
    let error = engine.render(account, job(part)).await.unwrap_err();
    let expected = RenderProblem::Unreachable {
        reason: "net::ERR_UNSAFE_PORT".to_owned(),
    };
    assert_eq!(error, blamed(expected));
    assert_serves(&engine, account).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_leave_the_web_nowhere() {
    const ANSWERS: [(u16, &str); 5] = [
        (301, "chrome://version"),
        (302, "file:///etc/passwd"),
        (303, "javascript:alert(1)"),
        (307, "view-source:file:///etc/passwd"),
        (308, "data:text/html,<p>gone"),
    ];
    let origin = Origin::start(|request| {
        let (status, to) = ANSWERS
            .iter()
            .find(|(status, _)| request.path == format!("/{status}"))?;
        Some(Reply::redirect(*status, to))
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let account = Uuid::now_v7();
    for (status, to) in ANSWERS {
        let page = Part::Url(origin.url(&format!("/{status}")));
        let error = engine.render(account, job(page)).await.unwrap_err();
        let RenderError::Problem {
            problem: RenderProblem::Unreachable { reason },
            ..
        } = &error
        else {
            panic!("{error}: {to}");
        };
        assert!(reason.starts_with("net::ERR_"), "{reason}: {to}");
        assert_serves(&engine, account).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_are_no_documents() {
    let origin = Origin::start(|_| {
        let attachment = "attachment; filename=dropped.html";
        Some(Reply::html("<p>Dropped").header("Content-Disposition", attachment))
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let account = Uuid::now_v7();
    let error = engine
        .render(account, job(Part::Url(origin.url("/"))))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            RenderError::Problem {
                problem: RenderProblem::NotHtml { .. },
                ..
            }
        ),
        "{error}"
    );
    assert_serves(&engine, account).await;
}
