//! Pages without scripts are in a browser that composes no frames for a screen, those with scripts in one that does: neither
//! shows in what is printed.

use std::path::Path;

use futures::{StreamExt, stream};
use platen_engine::job::{RenderJob, WaitFor};
use uuid::Uuid;

use crate::{
    corpus,
    servers::{Origin, Reply},
    support::{TestEngine, colour_at, html_job, text},
};

/// Thousands of pages; and with frames a progress bar without a value and `<marquee>` are printed where they happen to be.
const EXCEPT: [&str; 3] = ["numbers-extreme.html", "form-widgets.html", "quirks.html"];
/// As many as there are slots.
const AT_ONCE: usize = 2;

/// The job, with a script that does nothing.
fn with_script(job: &RenderJob) -> RenderJob {
    RenderJob {
        evaluate: Some("0".to_owned()),
        ..job.clone()
    }
}

/// The objects of a PDF without dates, identifiers and the numbers of nodes, which are others in each print.
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
    // Where objects lie follows from how long the numbers are.
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

/// Prints a page in both browsers.
async fn in_both(engine: &TestEngine, job: &RenderJob) -> [Vec<u8>; 2] {
    let account = Uuid::now_v7();
    let still = engine.render(account, job.clone()).await.unwrap();
    let moving = engine.render(account, with_script(job)).await.unwrap();
    [still.document.pdf, moving.document.pdf]
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
                let [still, moving] = in_both(engine, &corpus::print::job(&page)).await;
                let same = tokio::task::block_in_place(|| without_chance(&still) == without_chance(&moving));
                (!same).then(|| name(&page))
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
    let [still, moving] = in_both(&engine, &html_job(&html)).await;
    assert!(without_chance(&still) == without_chance(&moving));
    assert_eq!(text(&still), "unseen");
    // CSS pixels are three quarters of a point.
    for top in [10, 85, 160] {
        assert_eq!(colour_at(&still, 10, top), [0, 255, 0], "at {top}");
    }
    assert_eq!(origin.received().len(), 8);
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
        for (browser, pdf) in ["still", "moving"]
            .into_iter()
            .zip(in_both(&engine, &html(animation)).await)
        {
            assert_eq!(colour_at(&pdf, 300, 400), expected, "{animation}, {browser}");
        }
    }
}

/// Each line stands for something that scripts wait for, and that only a browser with frames brings.
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
    // The second is in the session of the first.
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
async fn a_browser_for_scripts_is_started_when_one_comes() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    engine.text_of(account, "<p>without").await;
    assert_eq!(engine.engine.status().browsers, 1);
    let both = tokio::join!(
        engine.text_of(account, "<script>document.write('one')</script>"),
        engine.text_of(Uuid::now_v7(), "<script>document.write('two')</script>")
    );
    assert_eq!(both, ("one".to_owned(), "two".to_owned()));
    assert_eq!(engine.engine.status().browsers, 2);
    assert_eq!(engine.engine.snapshot().browsers_wanted, 2);
}
