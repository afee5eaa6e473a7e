//! Resources from addresses that the operator allows are loaded.

use std::time::{Duration, Instant};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use platen_engine::job::{Cookie, HeaderFooter, Part};
use uuid::Uuid;

use crate::{
    servers::{Canary, Origin, Reply},
    support::{TestEngine, html_job, job, text},
};

/// One red pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// Returns any font installed on the machine.
fn a_font() -> Vec<u8> {
    let found = std::process::Command::new("fc-match")
        .args(["-f", "%{file}", "sans"])
        .output()
        .unwrap();
    std::fs::read(String::from_utf8(found.stdout).unwrap()).unwrap()
}

async fn start_origin() -> Origin {
    let font = a_font();
    let picture = BASE64_STANDARD.decode(PICTURE).unwrap();
    Origin::start(move |request| {
        let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let reply = match path {
            "/page" => Reply::html(page("")),
            "/picture" => Reply::new(200, "image/png", picture.clone()),
            "/style" => Reply::new(200, "text/css", "#style::after { content: 'styled' }"),
            "/font" => Reply::new(200, "font/ttf", font.clone()),
            "/data" => Reply::new(200, "text/plain", "fetched"),
            "/slow" => Reply::new(200, "image/png", picture.clone()).after(Duration::from_mins(1)),
            "/cookies" => {
                let mut lines = request.head.lines();
                let cookies = lines.find_map(|line| line.strip_prefix("cookie: ")).unwrap_or("none");
                Reply::html(format!("<p>cookies: {cookies}"))
            }
            _ => return None,
        };
        Some(reply.header("Access-Control-Allow-Origin", "*"))
    })
    .await
}

/// Returns a page whose text lists the resources that were loaded.
fn page(base: &str) -> String {
    format!(
        "<!doctype html><title>All</title><link rel=stylesheet href='{base}/style'>\
         <style>@font-face {{ font-family: theirs; src: url({base}/font) }} p {{ font-family: theirs }}</style>\
         <p id=style> <p id=font> <p id=image> <p id=data> <img id=i src='{base}/picture'><script>\
         onload = async () => {{ image.append('picture ' + i.naturalWidth); \
           data.append(await (await fetch('{base}/data')).text()); \
           font.append((await document.fonts.load('12px theirs')).length + ' font') ; document.body.id = 'done'; \
           document.body.setAttribute('done', '') }}</script>"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_allowed_arrives() {
    let origin = start_origin().await;
    let engine = TestEngine::start(&origin.entry()).await;
    let base = origin.url("").to_string();
    for part in [
        Part::Html(page(base.trim_end_matches('/'))),
        Part::Url(origin.url("/page")),
    ] {
        let mut job = job(part);
        job.wait_for = Some(platen_engine::job::WaitFor {
            selector: "body".to_owned(),
            attribute: "done".to_owned(),
        });
        let document = engine.render(Uuid::now_v7(), job).await.unwrap();
        assert_eq!(text(&document.pdf), "styled 1 font picture 1 fetched");
        assert_eq!(document.warnings, []);
        for name in ["picture", "style", "font", "data"] {
            let url = origin.url(&format!("/{name}")).to_string();
            let request = document.requests.iter().find(|request| request.url == url).unwrap();
            assert_eq!(
                (request.status, request.error.as_deref(), request.refused.as_deref()),
                (Some(200), None, None),
                "{name}"
            );
        }
    }
}

/// Users can read the log, so it must not contain secrets.
#[tokio::test(flavor = "multi_thread")]
async fn requests_are_logged_without_query_strings() {
    let origin = start_origin().await;
    let engine = TestEngine::start(&origin.entry()).await;
    let html = format!(
        "<img src='{}?token=Sesame'><img src='{}?key=Sesame'>",
        origin.url("/picture"),
        origin.url("/none")
    );
    let document = engine.render(Uuid::now_v7(), html_job(&html)).await.unwrap();
    let seen: Vec<_> = document
        .requests
        .iter()
        .map(|request| (request.url.as_str(), request.status))
        .collect();
    let (picture, none) = (origin.url("/picture").to_string(), origin.url("/none").to_string());
    assert_eq!(seen, [(picture.as_str(), Some(200)), (none.as_str(), Some(404))]);
    assert!(!format!("{document:?}").contains("Sesame"));
}

/// The time limit for sub-resources is ten seconds; this is the only test that waits for it to pass.
#[tokio::test(flavor = "multi_thread")]
async fn a_picture_that_does_not_come_is_left_out_with_a_warning() {
    let origin = start_origin().await;
    let engine = TestEngine::start(&origin.entry()).await;
    let start = Instant::now();
    let html = format!(
        "<p>Here</p><img src='{}'><img src='{}'>",
        origin.url("/slow"),
        origin.url("/picture")
    );
    let document = engine.render(Uuid::now_v7(), html_job(&html)).await.unwrap();
    assert_eq!(text(&document.pdf), "Here");
    let warning = document
        .warnings
        .iter()
        .find(|warning| warning.code == "resource_timeout")
        .unwrap();
    assert!(
        warning.message.contains(origin.url("/slow").as_str()),
        "{}",
        warning.message
    );
    assert!(
        !warning.message.contains(origin.url("/picture").as_str()),
        "{}",
        warning.message
    );
    let took = start.elapsed();
    assert!(
        (Duration::from_secs(10)..Duration::from_secs(18)).contains(&took),
        "{took:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_is_for_its_domain_only() {
    let origin = start_origin().await;
    let engine = TestEngine::start(&origin.entry()).await;
    let cookie = |domain: &str| Cookie {
        name: "session".to_owned(),
        value: "Sesame".to_owned(),
        domain: domain.to_owned(),
    };
    for (domain, shown, warned) in [
        ("127.0.0.1", "cookies: session=Sesame", false),
        ("other.example", "cookies: none", true),
        // Neither a part of an IP address nor an empty string is a domain.
        ("0.0.1", "cookies: none", true),
        (".", "cookies: none", true),
    ] {
        let mut job = job(Part::Url(origin.url("/cookies")));
        job.cookie = Some(cookie(domain));
        let document = engine.render(Uuid::now_v7(), job).await.unwrap();
        assert_eq!(text(&document.pdf), shown, "{domain}");
        let codes: Vec<&str> = document.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(codes.contains(&"cookie_unused"), warned, "{domain}: {codes:?}");
    }
    let mut job = html_job("<p>No cookies here");
    job.cookie = Some(cookie("127.0.0.1"));
    let document = engine.render(Uuid::now_v7(), job).await.unwrap();
    assert_eq!(document.warnings[0].code, "cookie_unused");
}

/// Chromium prints headers and footers in a separate page without a proxy.
#[tokio::test(flavor = "multi_thread")]
async fn headers_and_footers_load_nothing() {
    let canary = Canary::start().await;
    let origin = start_origin().await;
    let engine = TestEngine::start(&origin.entry()).await;
    let url = canary.at("127.0.0.1", "/x");
    let allowed = origin.url("/picture");
    for template in [
        format!("<img src='{url}'>"),
        format!("<img src='{allowed}'>"),
        format!("<img srcset='{url} 1x'>"),
        format!("<div style='background: url({url})'>x</div>"),
        format!("<div style='background: URL( \"{url}\" )'>x</div>"),
        format!(
            "<style>@import '{url}'; @font-face {{ font-family: f; src: url({url}) }} p {{ font-family: f }}</style><p>x"
        ),
        format!("<style>@import url(//127.0.0.1:{}/x);</style>x", canary.port),
        format!("<link rel=stylesheet href='{url}'>"),
        format!("<iframe src='{url}'></iframe>"),
        format!("<iframe srcdoc='<img src={url}>'></iframe>"),
        format!("<object data='{url}'></object><embed src='{url}'>"),
        format!("<svg><image href='{url}' width=9 height=9 /><use href='{url}#x' /></svg>"),
        format!("<meta http-equiv=refresh content='0;url={url}'>x"),
        format!("<script>fetch('{url}')</script>x"),
        format!("<p onclick=1 style='color:red'>x</p><img src=x onerror=\"fetch('{url}')\">"),
        format!("<video src='{url}' poster='{url}'></video><audio src='{url}'></audio>"),
        format!("<base href='{url}'><img src=x>"),
        format!("<table background='{url}'><td>x</table>"),
        format!("<input type=image src='{url}'>"),
    ] {
        let mut job = html_job("<p>Body");
        job.print.margins = [1.0; 4];
        job.print.header_footer = Some(HeaderFooter {
            header: template.clone(),
            footer: template.clone(),
        });
        let document = engine
            .render(Uuid::now_v7(), job)
            .await
            .unwrap_or_else(|error| panic!("{template}: {error}"));
        assert!(text(&document.pdf).contains("Body"));
        let codes: Vec<&str> = document.warnings.iter().map(|warning| warning.code).collect();
        let is_script = template.contains("fetch(");
        assert!(
            is_script || codes.contains(&"header_footer_asset_refused"),
            "{template}: {codes:?}"
        );
    }
    assert_eq!(origin.received().len(), 0);
    canary.assert_untouched();
}
