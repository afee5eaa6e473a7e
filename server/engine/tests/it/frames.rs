//! Frames are composited only for pages whose scripts may wait for one, without any effect on the printed output.

use std::path::Path;

use futures::{StreamExt, stream};
use platen_engine::job::{Part, RenderJob, WaitFor};
use uuid::Uuid;

use crate::{
    corpus,
    servers::{Origin, Reply},
    support::{TestEngine, colour_at, html_job, text},
};

/// Pages that can't be compared: one has thousands of pages; with frames, an indeterminate progress bar and `<marquee>`
/// are printed at a random position.
const EXCEPT: [&str; 3] = ["numbers-extreme.html", "form-widgets.html", "quirks.html"];
/// Concurrent renders: the number of slots.
const AT_ONCE: usize = 2;

/// Returns the job with a script that does nothing.
fn with_script(job: &RenderJob) -> RenderJob {
    let mut job = job.clone();
    for part in &mut job.parts {
        if let Part::Html(html) = part {
            html.push_str("<script>0</script>");
        }
    }
    job
}

/// Returns the job with an expression that does nothing; since it might wait for frames, they are composited.
fn with_frames(job: &RenderJob) -> RenderJob {
    RenderJob {
        evaluate: Some("0".to_owned()),
        ..job.clone()
    }
}

/// Returns the objects of a PDF without dates, identifiers and node numbers, which differ in each print.
fn without_chance(pdf: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a.pdf"), folder.path().join("b.pdf"));
    std::fs::write(&from, pdf).unwrap();
    let unpacked = std::process::Command::new("qpdf")
        .args([
            "--qdf",
            "--object-streams=disable",
            "--static-id",
            "--no-original-object-ids",
        ])
        .args([&from, &to])
        .status();
    assert!(unpacked.unwrap().success());
    let unpacked = std::fs::read(to).unwrap();
    // The cross-reference table depends on the lengths of these numbers.
    let table = unpacked.windows(6).rposition(|bytes| bytes == b"\nxref\n").unwrap();
    let of_chance = [
        "<xmp:CreateDate>",
        "<xmp:ModifyDate>",
        "<xmp:MetadataDate>",
        "<xmpMM:DocumentID>",
    ]
    .map(str::as_bytes);
    let mut kept = Vec::with_capacity(table);
    for line in unpacked[..table].split_inclusive(|&byte| byte == b'\n') {
        if of_chance.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let mut rest = line;
        while let Some((&byte, behind)) = rest.split_first() {
            kept.push(byte);
            rest = behind;
            if kept.ends_with(b"(node") || kept.ends_with(b"(D:") {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                rest = &rest[digits..];
            }
        }
    }
    kept
}

fn are_same(printed: &[Vec<u8>]) -> bool {
    let kept: Vec<_> = printed.iter().map(|pdf| without_chance(pdf)).collect();
    kept.windows(2).all(|two| two[0] == two[1])
}

/// Prints a document without scripts with each page kind: without scripts, without frames, with both.
async fn in_each(engine: &TestEngine, job: &RenderJob) -> Vec<Vec<u8>> {
    let account = Uuid::now_v7();
    let mut printed = Vec::new();
    for job in [job.clone(), with_script(job), with_frames(job)] {
        printed.push(engine.render(account, job).await.unwrap().document.pdf);
    }
    printed
}

#[tokio::test(flavor = "multi_thread")]
async fn the_corpus_prints_the_same_without_frames() {
    let engine = TestEngine::start("").await;
    let pages = corpus::print::pages().into_iter().filter(|page| {
        let html = std::fs::read_to_string(page).unwrap();
        let is_scripted = ["<script", "onload=", "<iframe", "<noscript", "<video"]
            .iter()
            .any(|word| html.contains(word));
        !is_scripted && !EXCEPT.iter().any(|except| page.ends_with(except))
    });
    let compared = stream::iter(pages)
        .map(|page| {
            let engine = &engine;
            async move {
                let printed = in_each(engine, &corpus::print::job(&page)).await;
                (!tokio::task::block_in_place(|| are_same(&printed))).then(|| name(&page))
            }
        })
        .buffered(AT_ONCE);
    let compared: Vec<Option<String>> = compared.collect().await;
    assert!(compared.len() >= 80, "only {} pages", compared.len());
    let different: Vec<String> = compared.into_iter().flatten().collect();
    assert!(different.is_empty(), "{different:?}");
}

fn name(page: &Path) -> String {
    page.file_name().unwrap().to_string_lossy().into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_from_outside_is_printed_without_frames() {
    const PICTURE: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='10'><rect width='10' height='10' fill='lime'/></svg>";
    let origin = Origin::start(|_| Some(Reply::new(200, "image/svg+xml", PICTURE))).await;
    let engine = TestEngine::start(&origin.entry()).await;
    let html = format!(
        "<style>* {{ margin: 0 }} div, img {{ display: block; width: 100px; height: 100px }} \
         div {{ background: url({}) }} .far {{ margin-top: 5000px }}</style>\
         <div></div><img src={}><img loading=lazy src={}><p style='content-visibility: auto'>unseen\
         <img class=far loading=lazy src={}>",
        origin.url("/background"),
        origin.url("/image"),
        origin.url("/lazy"),
        origin.url("/far")
    );
    let printed = in_each(&engine, &html_job(&html)).await;
    assert!(are_same(&printed));
    assert_eq!(text(&printed[0]), "unseen");
    // CSS pixels are three quarters of a point.
    for top in [10, 85, 160] {
        assert_eq!(colour_at(&printed[0], 10, top), [0, 255, 0], "at {top}");
    }
    assert_eq!(origin.received().len(), 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn animations_are_printed_at_rest() {
    const RED: [u8; 3] = [255, 0, 0];
    const BLUE: [u8; 3] = [0, 0, 255];
    const LIME: [u8; 3] = [0, 255, 0];
    let engine = TestEngine::start("").await;
    let html = |animation: &str| {
        html_job(&format!(
            "<style>* {{ margin: 0 }} html {{ background: #00ff00; animation: {animation} }} \
             @keyframes colour {{ from {{ background: #ff0000 }} to {{ background: #0000ff }} }}</style>x"
        ))
    };
    for (animation, expected) in [
        ("colour 100s linear forwards", BLUE),
        ("colour 100s linear 50s 3 both", BLUE),
        ("colour 100s linear", LIME),
        ("colour 100s linear infinite", RED),
        ("colour 100s steps(2, jump-none) -150s infinite", BLUE),
        ("colour 100s step-end -1s paused", RED),
    ] {
        for (kind, pdf) in in_each(&engine, &html(animation)).await.iter().enumerate() {
            assert_eq!(colour_at(pdf, 300, 400), expected, "{animation}, {kind}");
        }
    }
}

/// A page that waits for each event that occurs only with frames, one per line.
const WAITS: &str = "<!doctype html><style>@keyframes fade { from { opacity: 0 } } canvas { display: block }</style>\
    <main></main><p id=moved>moved</p><canvas width=20 height=20></canvas><script>\
    const awaited = {\
        requestAnimationFrame: done => requestAnimationFrame(() => requestAnimationFrame(done)),\
        requestIdleCallback: done => requestIdleCallback(done),\
        IntersectionObserver: done => new IntersectionObserver(done).observe(moved),\
        ResizeObserver: done => new ResizeObserver(done).observe(moved),\
        MutationObserver: done => { new MutationObserver(done).observe(moved, {attributes: true}); moved.lang = 'en' },\
        animationend: done => { moved.onanimationend = done; moved.style.animation = 'fade .05s' },\
        finished: done => moved.animate({opacity: [0, 1]}, 50).finished.then(done),\
        transitionend: done => {\
            const text = document.querySelector('canvas');\
            text.ontransitionend = done; text.style.opacity = 1; text.style.transition = 'opacity .05s';\
            getComputedStyle(text).opacity; text.style.opacity = 0.5;\
        },\
        scroll: done => { addEventListener('scroll', done); document.body.style.height = '5000px'; scrollTo(0, 100) },\
        toBlob: done => document.querySelector('canvas').toBlob(done),\
        decode: done => { const image = new Image(1, 1); image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='; image.decode().then(done) },\
        setTimeout: done => setTimeout(done),\
    };\
    Promise.all(Object.entries(awaited).map(async ([name, wait]) => {\
        await new Promise(wait);\
        document.querySelector('main').append(name + ' ');\
    })).then(() => document.body.dataset.ready = '');\
    </script>";

#[tokio::test(flavor = "multi_thread")]
async fn what_scripts_wait_for_comes() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    // The second render uses the session of the first.
    for _ in 0..2 {
        let job = RenderJob {
            wait_for: Some(WaitFor {
                selector: "body".to_owned(),
                attribute: "data-ready".to_owned(),
            }),
            ..html_job(WAITS)
        };
        let shown = text(&engine.render(account, job).await.unwrap().pdf);
        for name in WAITS
            .split('{')
            .nth(2)
            .unwrap()
            .split(": done =>")
            .map(|before| before.rsplit([' ', ',']).next())
        {
            let name = name.unwrap();
            assert!(shown.contains(name), "{name} is not in {shown}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_with_frames_is_started_when_a_page_may_wait_for_one() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    engine.text_of(account, "<p>without").await;
    let at_once = "<script>document.write('at once')</script>";
    assert_eq!(engine.text_of(account, at_once).await, "at once");
    assert_eq!(engine.engine.status().browsers, 1);
    let [one, two] =
        ["one", "two"].map(|word| format!("<script>requestAnimationFrame(() => 0); document.write('{word}')</script>"));
    let both = tokio::join!(engine.text_of(account, &one), engine.text_of(Uuid::now_v7(), &two));
    assert_eq!(both, ("one".to_owned(), "two".to_owned()));
    assert_eq!(engine.engine.status().browsers, 2);
    assert_eq!(engine.engine.snapshot().browsers_wanted, 2);
}

/// Each page is rendered a second time, with frames; its console messages are recorded once.
#[tokio::test(flavor = "multi_thread")]
async fn frames_come_where_only_the_running_page_asks_for_them() {
    for script in [
        "window['request' + 'Anim' + 'ationFrame'](() => 0)",
        "window['request' + 'Idle' + 'Callback'](() => 0)",
        "new window['Re' + 'sizeObserver'](() => 0)",
        "new (class extends window['Intersection' + 'Observer'] {})(() => 0)",
        "document.body['anim' + 'ate']({opacity: [0, 1]}, 1000)",
        "getComputedStyle(document.body).opacity; document.body.style.opacity = 0.5",
    ] {
        let engine = TestEngine::start("").await;
        let html = format!(
            "<style>body {{ transition: opacity 1s }}</style>text<script>console.log('once');</script><script>{script}</script>"
        );
        let rendered = engine.render(Uuid::now_v7(), html_job(&html)).await.unwrap();
        assert_eq!(text(&rendered.document.pdf), "text", "{script}");
        assert_eq!(engine.engine.status().browsers, 2, "{script}");
        assert_eq!(rendered.console.len(), 1, "{script}");
    }
}

/// The page claims to wait for frames even after it got them.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_claims_to_wait_is_rendered_all_the_same() {
    let engine = TestEngine::start("").await;
    let html = "<script>globalThis.__platenAwaitsFrames = () => true; requestAnimationFrame(() => 0)</script>text";
    assert_eq!(engine.text_of(Uuid::now_v7(), html).await, "text");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_scripts_draw_is_printed_without_frames() {
    let engine = TestEngine::start("").await;
    let html = "<style>* { margin: 0 } canvas { display: block }</style><canvas width=100 height=100></canvas>\
        <main></main><script>\
        const canvas = document.querySelector('canvas').getContext('2d');\
        canvas.fillStyle = '#0000ff'; canvas.fillRect(0, 0, 100, 100);\
        const image = new Image(100, 100); image.src = canvas.canvas.toDataURL();\
        document.querySelector('main').append(image);\
        </script>";
    let account = Uuid::now_v7();
    let still = engine.render(account, html_job(html)).await.unwrap().document.pdf;
    assert_eq!(engine.engine.status().browsers, 1);
    // CSS pixels are three quarters of a point.
    for top in [10, 85] {
        assert_eq!(colour_at(&still, 10, top), [0, 0, 255], "at {top}");
    }
    let composited = engine.render(account, with_frames(&html_job(html))).await.unwrap();
    assert!(are_same(&[still, composited.document.pdf]));
}

/// Prints a chart with a single bar: once with an animation of 0.2 s, once without.
#[tokio::test(flavor = "multi_thread")]
async fn charts_are_printed() {
    let library = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../frontend/node_modules/chart.js/dist/chart.umd.js"
    );
    let library = std::fs::read_to_string(library)
        .unwrap()
        .replace("</script", "<\\/script");
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    for (animation, is_awaited) in [
        (
            "{duration: 200, onComplete: () => document.body.dataset.ready = ''}",
            true,
        ),
        ("false", false),
    ] {
        let html = format!(
            "<!doctype html><style>* {{ margin: 0 }} canvas {{ display: block }}</style>\
             <canvas width=200 height=200></canvas><script>{library}</script><script>\
             new Chart(document.querySelector('canvas'), {{ \
                type: 'bar', \
                data: {{ labels: ['a'], datasets: [{{ data: [10], backgroundColor: '#0000ff', barPercentage: 1, \
                    categoryPercentage: 1 }}] }}, \
                options: {{ animation: {animation}, responsive: false, plugins: {{ legend: {{ display: false }} }}, \
                    scales: {{ x: {{ display: false }}, y: {{ display: false, min: 0, max: 10 }} }} }}, \
             }})</script>"
        );
        let job = RenderJob {
            wait_for: is_awaited.then(|| WaitFor {
                selector: "body".to_owned(),
                attribute: "data-ready".to_owned(),
            }),
            ..html_job(&html)
        };
        let pdf = engine.render(account, job).await.unwrap().document.pdf;
        // CSS pixels are three quarters of a point.
        for top in [10, 140] {
            assert_eq!(colour_at(&pdf, 75, top), [0, 0, 255], "{animation} at {top}");
        }
        assert_eq!(colour_at(&pdf, 75, 160), [255, 255, 255], "{animation} below");
    }
}
