//! All resources that markup and CSS can load.

use uuid::Uuid;

use super::{Names, start_with_names, was_refused};
use crate::{
    servers::{Canary, Origin, Reply},
    support::{TestEngine, html_job, job},
};
use platen_engine::job::{Part, RenderJob};

/// Names of cases with their markup, which loads `URL`.
const MARKUP: [(&str, &str); 34] = [
    ("img", "<img src=URL>"),
    ("srcset", "<img srcset='URL 1x'>"),
    ("lazy", "<img loading=lazy src=URL>"),
    ("picture", "<picture><source srcset=URL><img alt></picture>"),
    ("input", "<input type=image src=URL>"),
    ("video", "<video preload=auto src=URL></video>"),
    ("source", "<video preload=auto><source src=URL></video>"),
    ("poster", "<video poster=URL></video>"),
    ("audio", "<audio preload=auto src=URL></audio>"),
    ("iframe", "<iframe src=URL></iframe>"),
    ("srcdoc", "<iframe srcdoc='<img src=URL>'></iframe>"),
    ("srcdoc-frame", "<iframe srcdoc='<iframe src=URL></iframe>'></iframe>"),
    (
        "frame-refresh",
        "<iframe srcdoc='<meta http-equiv=refresh content=\"0;url=URL\">'></iframe>",
    ),
    (
        "frame-script",
        "<iframe srcdoc='<script>location=\"URL\"</script>'></iframe>",
    ),
    ("object", "<object data=URL></object>"),
    ("object-picture", "<object type=image/png data=URL></object>"),
    ("embed", "<embed src=URL>"),
    ("embed-picture", "<embed type=image/png src=URL>"),
    ("stylesheet", "<link rel=stylesheet href=URL>"),
    ("preload", "<link rel=preload as=image href=URL>"),
    ("preload-font", "<link rel=preload as=font crossorigin href=URL>"),
    ("modulepreload", "<link rel=modulepreload href=URL>"),
    ("prefetch", "<link rel=prefetch href=URL>"),
    ("script", "<script src=URL></script>"),
    ("module", "<script type=module>import 'URL'</script>"),
    ("import", "<style>@import 'URL';</style>"),
    ("import-url", "<style>@import url(URL) screen, print;</style>"),
    (
        "font",
        "<style>@font-face { font-family: f; src: url(URL) }</style><p style='font-family: f'>font",
    ),
    ("background", "<div style='background: url(URL)'>x</div>"),
    ("list", "<ul style='list-style-image: url(URL)'><li>x</ul>"),
    ("content", "<style>#c::before { content: url(URL) }</style><p id=c>"),
    ("mask", "<div style='mask-image: url(URL)'>x</div>"),
    ("svg-image", "<svg><image href=URL width=9 height=9 /></svg>"),
    ("svg-xlink", "<svg><image xlink:href=URL width=9 height=9 /></svg>"),
];

/// Only a page with its own origin may load these; others don't even try.
const SAME_ORIGIN_MARKUP: [(&str, &str); 2] = [
    ("svg-use", "<svg><use href='URL#x' /></svg>"),
    ("svg-filter", "<div style='filter: url(URL#x)'>x</div>"),
];

/// Hints that leave no trace of a request if it is refused.
const HINTS: &str = "<link rel=dns-prefetch href=URL><link rel=preconnect href=URL>";

/// Returns an expression that resolves once the page has tried to load all of `names`, or after five seconds.
fn tried(names: &[&str], base: &str) -> String {
    let names = serde_json::to_string(names).unwrap();
    format!(
        "(async () => {{ const end = performance.now() + 5000; \
           const missing = () => {names}.some(name => !performance.getEntriesByName('{base}' + name).length); \
           while (missing() && performance.now() < end) await new Promise(go => setTimeout(go, 20)); }})()"
    )
}

fn page(cases: &[(&str, &str)], base: &str) -> String {
    let body: String = cases
        .iter()
        .map(|(name, markup)| markup.replace("URL", &format!("{base}{name}")))
        .collect();
    let secure_base = base.replacen("http:", "https:", 1);
    let hints = HINTS.replace("URL", base) + &HINTS.replace("URL", &secure_base);
    format!("<!doctype html><meta charset=utf-8><title>x</title>{hints}{body}")
}

/// Returns the cases that appear in the page's resource timing. Frames and their resources don't.
fn listed_by_the_page(cases: &[(&'static str, &str)]) -> Vec<&'static str> {
    let names = cases.iter().map(|(name, _)| *name);
    names
        .filter(|name| !name.starts_with("srcdoc") && !name.starts_with("frame-"))
        .collect()
}

async fn assert_refused(engine: &TestEngine, cases: &[(&'static str, &str)], base: &str, job: RenderJob) {
    let mut job = job;
    job.evaluate = Some(tried(&listed_by_the_page(cases), base));
    let document = engine.render(Uuid::now_v7(), job).await.unwrap();
    for (name, markup) in cases {
        let url = format!("{base}{name}");
        assert!(
            was_refused(&document, &url),
            "{markup}: {url} in {:#?}",
            document.requests
        );
    }
    let warning = document
        .warnings
        .iter()
        .find(|warning| warning.code == "request_refused");
    assert!(warning.is_some(), "{:?}", document.warnings);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_markup_loads_reaches_the_canary() {
    let canary = Canary::start().await;
    let names = Names(&[
        ("public.example", &["127.0.0.1"]),
        ("both.example", &["::1", "127.0.0.1"]),
    ]);
    let engine = start_with_names("", names).await;
    for host in ["127.0.0.1", "localhost", "public.example", "both.example"] {
        let base = canary.at(host, "/");
        assert_refused(&engine, &MARKUP, &base, html_job(&page(&MARKUP, &base))).await;
    }
    canary.assert_untouched();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_the_markup_of_a_url_part_loads_reaches_the_canary() {
    let canary = Canary::start().await;
    let base = canary.at("127.0.0.1", "/");
    let content = page(&MARKUP, &base);
    let origin = Origin::start(move |_| Some(Reply::html(content.clone()))).await;
    let engine = TestEngine::start(&origin.entry()).await;
    assert_refused(&engine, &MARKUP, &base, job(Part::Url(origin.url("/")))).await;
    canary.assert_untouched();
}

/// The guard checks each hop of a redirect, not only the first.
#[tokio::test(flavor = "multi_thread")]
async fn no_redirect_of_a_sub_resource_reaches_the_canary() {
    let canary = Canary::start().await;
    let target = canary.at("127.0.0.1", "");
    let origin = Origin::start(move |request| {
        let (_, name) = request.path.rsplit_once('/')?;
        Some(Reply::redirect(302, &format!("{target}/{name}")).header("Access-Control-Allow-Origin", "*"))
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let base = origin.url("/").to_string();
    let mut job = html_job(&page(&MARKUP, &base));
    job.evaluate = Some(tried(&listed_by_the_page(&MARKUP), &base));
    let document = engine.render(Uuid::now_v7(), job).await.unwrap();
    for (name, markup) in MARKUP {
        let url = canary.at("127.0.0.1", &format!("/{name}"));
        assert!(
            was_refused(&document, &url),
            "{markup}: {url} in {:#?}",
            document.requests
        );
    }
    canary.assert_untouched();
}

/// Documents that SVG and CSS refer to are loaded from the page's own origin only, which may redirect elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn no_document_that_svg_refers_to_comes_from_the_canary() {
    let canary = Canary::start().await;
    let target = canary.at("127.0.0.1", "");
    let content = page(&SAME_ORIGIN_MARKUP, "/go/") + &page(&SAME_ORIGIN_MARKUP, &canary.at("127.0.0.1", "/"));
    let origin = Origin::start(move |request| match request.path.strip_prefix("/go/") {
        Some(name) => Some(Reply::redirect(302, &format!("{target}/{name}"))),
        None => Some(Reply::html(content.clone())),
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    engine
        .render(Uuid::now_v7(), job(Part::Url(origin.url("/"))))
        .await
        .unwrap();
    for (name, _) in SAME_ORIGIN_MARKUP {
        assert_eq!(origin.count(&format!("/go/{name}")), 1, "{name}");
    }
    canary.assert_untouched();
}
