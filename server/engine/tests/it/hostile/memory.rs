//! Memory that a page uses in processes other than its renderer process.

use platen_engine::{
    error::RenderProblem,
    job::{Part, RenderJob},
};
use uuid::Uuid;

use crate::{
    processes,
    servers::{Origin, Reply},
    support::{TestEngine, blamed, html_job, job},
};
const LIMIT_MB: u64 = 200;

/// Renders a page that uses too much memory while another account renders, and asserts that only the former fails.
async fn assert_only_the_page_is_ended(engine: &TestEngine, hostile: RenderJob) {
    let attack = engine.render(Uuid::now_v7(), hostile);
    tokio::pin!(attack);
    let neighbour = Uuid::now_v7();
    let ended = loop {
        tokio::select! {
            ended = &mut attack => break ended,
            text = engine.text_of(neighbour, "<p id=x>Neighbour<script>x.append('s')</script>") => {
                assert_eq!(text, "Neighbours");
            }
        }
    };
    let expected = blamed(RenderProblem::MemoryExceeded { limit_mb: LIMIT_MB });
    assert_eq!(ended.unwrap_err(), expected);
    assert_eq!(engine.text_of(neighbour, "<p>After").await, "After");
    assert_eq!(engine.engine.status().replacements.died, 0);
}

async fn start(allow: &str) -> TestEngine {
    TestEngine::start_with(allow, |config| config.page_memory_limit = LIMIT_MB << 20).await
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_of_other_sites_and_workers_count_as_the_page() {
    const TAKE: &str = "<script>window.taken = new Uint8Array(40 << 20).fill(1)</script>";
    let origin = Origin::start(|request| match request.path.as_str() {
        "/isolated" => Some(Reply::html(TAKE).header("Origin-Agent-Cluster", "?1")),
        _ => Some(Reply::html(TAKE)),
    })
    .await;
    let port = origin.port;
    let engine = start(&format!("127.0.0.1:{port},localhost:{port}")).await;
    let page = format!(
        "<iframe src='http://127.0.0.1:{port}/'></iframe><iframe src='http://localhost:{port}/'></iframe>\
         <iframe src='http://localhost:{port}/isolated'></iframe>\
         <iframe sandbox='allow-scripts' srcdoc='{TAKE}'></iframe><iframe src='data:text/html,{TAKE}'></iframe>\
         <iframe sandbox='allow-scripts' src='http://localhost:{port}/'></iframe>\
         <script>new Worker(URL.createObjectURL(new Blob(['const taken = new Uint8Array(40 << 20).fill(1); \
         onmessage = () => {{}}'])))</script>"
    );
    let waiting = RenderJob {
        evaluate: Some("new Promise(() => {})".to_owned()),
        ..html_job(&page)
    };
    assert_only_the_page_is_ended(&engine, waiting).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_frame_of_a_page_is_in_one_process() {
    let origin = Origin::start(|request| match request.path.strip_prefix("/page") {
        Some(_) => {
            let port = request.head.split("127.0.0.1:").nth(1)?.split(['\r', '/']).next()?;
            let page = format!(
                "<iframe src='http://localhost:{port}/'></iframe><iframe sandbox src='http://localhost:{port}/'></iframe>\
                 <iframe srcdoc='<p>x' sandbox></iframe><iframe src='data:text/html,x'></iframe>"
            );
            Some(Reply::html(page).header("Cross-Origin-Opener-Policy", "same-origin"))
        }
        None => Some(Reply::html("<p>Frame")),
    })
    .await;
    let port = origin.port;
    let engine = TestEngine::start(&format!("127.0.0.1:{port},localhost:{port}")).await;
    engine.text_of(Uuid::now_v7(), "<script>1</script>x").await;
    let before = processes::renderers(engine.profiles()).len();
    let waiting = RenderJob {
        evaluate: Some("for (;;);".to_owned()),
        ..job(Part::Url(origin.url("/page")))
    };
    tokio::select! {
        ended = engine.render(Uuid::now_v7(), waiting) => panic!("{ended:?}"),
        _ = processes::busy_renderer(engine.profiles()) => {}
    }
    assert!(origin.count("/") >= 2);
    // The page's process, and that of the session created in advance.
    assert!(processes::renderers(engine.profiles()).len() <= before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_browser_holds_for_a_page_counts_as_the_page() {
    let engine = start("").await;
    for grow in [
        // Blobs are stored in the browser process.
        "const bytes = new Uint8Array(4 << 20).fill(1); const all = []; const next = () => { all.push(new Blob([bytes])); \
         setTimeout(next, 5) }; next()",
        // Textures are stored in the GPU process.
        "const gl = document.createElement('canvas').getContext('webgl'); const bytes = new Uint8Array(16 << 20).fill(1); \
         const next = () => { gl.bindTexture(gl.TEXTURE_2D, gl.createTexture()); gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, \
         2048, 2048, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes); gl.finish(); setTimeout(next, 5) }; next()",
    ] {
        let growing = RenderJob {
            evaluate: Some(format!("{grow}; new Promise(() => {{}})")),
            ..html_job("<body>")
        };
        assert_only_the_page_is_ended(&engine, growing).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_leave_nothing_on_disk() {
    let origin = Origin::start(|_| Some(Reply::html("<p>Stored").header("Cache-Control", "max-age=3600"))).await;
    let engine = TestEngine::start(&origin.entry()).await;
    let store = "(async () => { \
        const database = await new Promise((done, failed) => { const opening = indexedDB.open('x'); \
            opening.onupgradeneeded = () => opening.result.createObjectStore('s'); \
            opening.onsuccess = () => done(opening.result); opening.onerror = failed }); \
        const put = key => new Promise((done, failed) => { const writing = database.transaction('s', 'readwrite'); \
            writing.objectStore('s').put(new Uint8Array(4 << 20).fill(key), key); \
            writing.oncomplete = done; writing.onerror = writing.onabort = failed }); \
        for (let key = 0; key < 16; key++) await put(key); \
        const cache = await caches.open('x'); \
        for (let key = 0; key < 8; key++) await cache.put('/' + key, new Response(new Uint8Array(4 << 20).fill(key))); \
        })().catch(() => {})";
    let storing = RenderJob {
        evaluate: Some(store.to_owned()),
        ..job(Part::Url(origin.url("/")))
    };
    engine.render(Uuid::now_v7(), storing).await.unwrap();
    let used = std::process::Command::new("du")
        .arg("-sm")
        .arg(engine.profiles())
        .output()
        .unwrap();
    let used = String::from_utf8(used.stdout).unwrap();
    let megabytes: u64 = used.split_whitespace().next().unwrap().parse().unwrap();
    assert!(megabytes < 20, "{megabytes} MB");
}
