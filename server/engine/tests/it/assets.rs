//! Assets that a render brings along, and those of a library.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use platen_egress::assets::{Asset, AssetLibrary, Assets};
use platen_engine::job::{HeaderFooter, Part, RenderJob};
use uuid::Uuid;

use crate::{
    processes,
    servers::{Origin, Reply},
    support::{TestEngine, html_job, parts_job, text, tool},
};

const FONT: &[u8] = include_bytes!("../../../../public/fonts/ibm-plex-mono-latin-400-normal.woff2");
const PICTURE: &[u8] =
    b"<svg xmlns='http://www.w3.org/2000/svg' width='300' height='40'><text y='20'>Drawing</text></svg>";

fn assets(files: &[(&str, &'static str, &'static [u8])]) -> Assets {
    let asset = |&(name, content_type, content): &(&str, &'static str, &'static [u8])| {
        let bytes = content.into();
        (name.to_owned(), Asset { content_type, bytes })
    };
    files.iter().map(asset).collect()
}

fn with_assets(html: &str, assets: Assets) -> RenderJob {
    RenderJob {
        assets,
        ..html_job(html)
    }
}

fn style_sheet(css: &'static str) -> Assets {
    assets(&[("a.css", "text/css", css.as_bytes())])
}

#[tokio::test(flavor = "multi_thread")]
async fn style_sheets_fonts_and_pictures_are_loaded_by_name() {
    let engine = TestEngine::start("").await;
    let files = assets(&[
        (
            "css/letter head.css",
            "text/css",
            b"@font-face { font-family: Own; src: url(../fonts/own.woff2) } h1 { font-family: Own }
              h1::before { content: 'Sheet ' }",
        ),
        ("fonts/own.woff2", "font/woff2", FONT),
        ("drawing.svg", "image/svg+xml", PICTURE),
    ]);
    let page = "<link rel=stylesheet href='asset:css/letter head.css'><h1>Title</h1>
                <img alt='' src=asset:drawing.svg><p style='background: url(asset:drawing.svg)'>";
    let scripted = format!("{page}<script>document.title = 'x'</script>");
    let relative = page.replace("asset:css", "css").replace("asset:drawing", "drawing");
    let relative = format!("<base href=asset:>{relative}");
    for html in [page, &scripted, &relative] {
        let job = with_assets(html, files.clone());
        let rendered = engine.render(Uuid::now_v7(), job).await.unwrap();
        let printed = text(&rendered.pdf);
        assert!(
            printed.starts_with("Sheet Title") && printed.contains("Drawing"),
            "{printed}"
        );
        let fonts = tool("pdffonts", &[], &rendered.pdf, &[]);
        assert!(fonts.contains("IBMPlexMono"), "{fonts}");
        assert_eq!(rendered.warnings, []);
        let urls: Vec<_> = rendered.requests.iter().map(|request| request.url.as_str()).collect();
        assert!(urls.contains(&"asset:drawing.svg"), "{urls:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_render_has_its_own_assets_in_the_same_session() {
    let engine = TestEngine::start_with("", |config| config.sessions = 1).await;
    let account = Uuid::now_v7();
    let kinds = ["", "<script>document.title = 'x'</script>"];
    for kind in kinds {
        let html = format!("<link rel=stylesheet href=asset:a.css><p>x{kind}");
        for (css, expected) in [
            ("p::before { content: 'first ' }", "first x"),
            ("p::before { content: 'second ' }", "second x"),
        ] {
            let job = with_assets(&html, style_sheet(css));
            assert_eq!(text(&engine.render(account, job).await.unwrap().pdf), expected);
        }
        for account in [account, Uuid::now_v7()] {
            let rendered = engine.render(account, html_job(&html)).await.unwrap();
            assert_eq!(text(&rendered.pdf), "x");
            let warning = &rendered.warnings[0];
            assert_eq!(warning.code, "resource_failed");
            assert!(
                warning.message.contains("asset:a.css (there is no asset of this name)"),
                "{}",
                warning.message
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn assets_alone_do_not_end_a_session() {
    let engine = TestEngine::start_with("", |config| {
        config.slots = 1;
        config.sessions = 1;
    })
    .await;
    let account = Uuid::now_v7();
    let html = "<link rel=stylesheet href=asset:a.css><p>x<script>1</script>";
    let run = async || {
        let job = with_assets(html, style_sheet("p { color: red }"));
        engine.render(account, job).await.unwrap();
    };
    run().await;
    let renderers = processes::renderers(engine.profiles());
    assert!(!renderers.is_empty());
    // The second waits until the session is idle or gone.
    run().await;
    run().await;
    assert!(renderers.iter().all(|renderer| processes::lives(*renderer)));
}

#[tokio::test(flavor = "multi_thread")]
async fn fonts_of_a_style_sheet_within_the_body_are_awaited() {
    let engine = TestEngine::start("").await;
    let files = assets(&[
        (
            "a.css",
            "text/css",
            b"@font-face { font-family: Own; src: url(own.woff2) } h1 { font: 400 20px Own }",
        ),
        ("own.woff2", "font/woff2", FONT),
    ]);
    for html in [
        "<p>x<link rel=stylesheet href=asset:a.css><h1>Title</h1>",
        "<p>x<style>@import url(asset:a.css)</style><h1>Title</h1>",
        "<p>x<link rel=stylesheet href=asset:a.css><h1>Title</h1><script>1</script>",
    ] {
        let rendered = engine
            .render(Uuid::now_v7(), with_assets(html, files.clone()))
            .await
            .unwrap();
        assert!(rendered.warnings.is_empty(), "{html}: {:?}", rendered.warnings);
        let fonts = tool("pdffonts", &[], &rendered.pdf, &[]);
        assert!(fonts.contains("IBMPlexMono"), "{html}: {fonts}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_origins_read_no_assets() {
    let assets = style_sheet("p::before { content: 'read ' }");
    let page = format!("<link rel=stylesheet href='http://{}/a.css'><p>x", assets.host());
    let served = page.clone();
    let origin = Origin::start(move |_| Some(Reply::html(served.as_str()))).await;
    let engine = TestEngine::start(&origin.entry()).await;
    let job = RenderJob {
        assets,
        ..parts_job(vec![Part::Html(page), Part::Url(origin.url("/"))])
    };
    let rendered = engine.render(Uuid::now_v7(), job).await.unwrap();
    assert_eq!(text(&rendered.pdf), "read x x");
}

/// Records the names that it is asked for, and has a style sheet.
#[derive(Default)]
struct Library(Mutex<Vec<String>>);

impl AssetLibrary for Library {
    fn find<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Asset>> {
        self.0.lock().unwrap().push(name.to_owned());
        let found = (name == "library.css").then(|| Asset {
            content_type: "text/css",
            bytes: "p::before { content: 'library ' }".into(),
        });
        Box::pin(async { found })
    }

    fn find_smallest<'a>(
        &'a self,
        names: &'a BTreeSet<String>,
        _limit: usize,
    ) -> BoxFuture<'a, BTreeMap<String, Asset>> {
        self.0
            .lock()
            .unwrap()
            .extend(names.iter().map(|name| format!("small {name}")));
        Box::pin(async { BTreeMap::new() })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_is_asked_for_names_that_a_page_requests_and_a_render_does_not_bring() {
    let engine = TestEngine::start("").await;
    let library = Arc::new(Library::default());
    let mut job = with_assets(
        "<link rel=stylesheet href=asset:library.css><link rel=stylesheet href=asset:a.css><img alt='' src=asset:none.png><p>x",
        style_sheet("p::after { content: ' own' }").with_library(Arc::clone(&library) as Arc<dyn AssetLibrary>),
    );
    job.print.margins = [1.0; 4];
    job.print.header_footer = Some(HeaderFooter {
        header: "<img src=asset:header.png>".to_owned(),
        footer: String::new(),
    });
    let rendered = engine.render(Uuid::now_v7(), job).await.unwrap();
    assert!(text(&rendered.pdf).contains("library x own"));
    let mut asked = library.0.lock().unwrap().clone();
    asked.sort();
    assert_eq!(asked, ["header.png", "library.css", "none.png", "small none.png"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_that_are_broken_or_repeated_too_often_to_be_embedded_are_drawn_or_named() {
    let engine = TestEngine::start("").await;
    let files = assets(&[
        ("drawing.svg", "image/svg+xml", PICTURE),
        ("broken.png", "image/png", b"\x89PNG\r\n\x1a\n..."),
    ]);
    let html = format!(
        "<img src=asset:broken.png>{}",
        "<img alt='' src=asset:drawing.svg>".repeat(9_000)
    );
    let rendered = engine.render(Uuid::now_v7(), with_assets(&html, files)).await.unwrap();
    assert_eq!(text(&rendered.pdf).matches("Drawing").count(), 9_000);
    let warnings: Vec<_> = rendered
        .warnings
        .iter()
        .map(|warning| (warning.code, &*warning.message))
        .collect();
    assert!(
        matches!(warnings[..], [("image_broken", message)] if message.contains("asset:broken.png")),
        "{warnings:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_pictures_are_named_once() {
    let engine = TestEngine::start("").await;
    let job = with_assets("<img alt='' src=asset:logo.png>", Assets::default());
    let warnings = engine.render(Uuid::now_v7(), job).await.unwrap().document.warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].message.contains("asset:logo.png"), "{warnings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_and_footers_draw_assets() {
    let engine = TestEngine::start("").await;
    let mut job = with_assets("<p>x", assets(&[("drawing.svg", "image/svg+xml", PICTURE)]));
    job.print.margins = [1.0; 4];
    job.print.header_footer = Some(HeaderFooter {
        header: "<img src=asset:drawing.svg>".to_owned(),
        footer: "<img src=asset:missing.svg>".to_owned(),
    });
    let rendered = engine.render(Uuid::now_v7(), job).await.unwrap();
    let printed = text(&rendered.pdf);
    assert!(printed.contains("Drawing"), "{printed}");
    let codes: Vec<_> = rendered.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["header_footer_asset_refused"]);
}
