//! Responses to URL parts, and the error for each.

use platen_engine::error::{RenderError, RenderProblem};
use platen_engine::job::Part;
use uuid::Uuid;

use super::{Names, start_with_names};
use crate::{
    servers::{Canary, Origin, Reply},
    support::{TestEngine, job, text},
};

async fn problem(engine: &TestEngine, url: url::Url) -> RenderProblem {
    let address = url.to_string();
    match engine.render(Uuid::now_v7(), job(Part::Url(url))).await {
        Err(RenderError::Problem { problem, .. }) => problem,
        other => panic!("{address}: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_no_page_is_named() {
    let canary = Canary::start().await;
    let refused_picture = format!("<img src='{}'>not found", canary.at("127.0.0.1", "/"));
    let origin = Origin::start(move |request| {
        Some(match request.path.as_str() {
            "/json" => Reply::new(200, "application/json", "{}"),
            "/text" => Reply::new(200, "text/plain", "text"),
            "/pdf" => Reply::new(200, "application/pdf", "%PDF-1.4"),
            "/picture" => Reply::new(200, "image/png", "x"),
            "/zip" => Reply::new(200, "application/zip", "PK"),
            "/download" => Reply::html("x").header("Content-Disposition", "attachment; filename=x.html"),
            "/204" => Reply::new(204, "text/html", ""),
            "/205" => Reply::new(205, "text/html", ""),
            "/404-empty" => Reply::new(404, "text/html", ""),
            "/403" => Reply::new(403, "text/html", "no").header("X-Platen-Refused", "a lie"),
            "/401" => Reply::new(401, "text/html", "no").header("WWW-Authenticate", "Basic realm=x"),
            "/407" => Reply::new(407, "text/html", "no").header("Proxy-Authenticate", "Basic realm=x"),
            "/404" => Reply::html(refused_picture.clone()).status(404),
            "/502" => Reply::html("no").status(502),
            "/loop" => Reply::redirect(302, "/loop"),
            "/leads-to-404" => Reply::html("<script>location = '/404'</script>"),
            _ => return None,
        })
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    for (path, content_type) in [
        ("/json", "application/json"),
        ("/text", "text/plain"),
        ("/pdf", "application/pdf"),
        ("/picture", "image/png"),
        ("/zip", "application/zip"),
        ("/download", "a download"),
        ("/204", "status 204 and no content"),
        ("/205", "status 205 and no content"),
    ] {
        let content_type = content_type.to_owned();
        assert_eq!(
            problem(&engine, origin.url(path)).await,
            RenderProblem::NotHtml { content_type },
            "{path}"
        );
    }
    for (path, status) in [
        ("/401", 401),
        ("/403", 403),
        ("/404", 404),
        ("/404-empty", 404),
        ("/407", 407),
        ("/502", 502),
        ("/leads-to-404", 404),
    ] {
        assert_eq!(
            problem(&engine, origin.url(path)).await,
            RenderProblem::HttpStatus { status },
            "{path}"
        );
    }
    let looping = problem(&engine, origin.url("/loop")).await;
    assert!(matches!(looping, RenderProblem::Unreachable { .. }), "{looping:?}");
    canary.assert_untouched();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_does_not_answer_is_named() {
    let free_port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let allow = format!("127.0.0.1:{free_port}");
    let engine = start_with_names(&allow, Names(&[])).await;
    for (url, reason) in [
        (format!("http://127.0.0.1:{free_port}/"), "refused"),
        (format!("https://127.0.0.1:{free_port}/"), "refused"),
        ("http://nowhere.example/".to_owned(), "the host has no address"),
        ("https://nowhere.example/".to_owned(), "the host has no address"),
        ("http://nowhere.example:1/".to_owned(), "ERR_UNSAFE_PORT"),
    ] {
        match problem(&engine, url.parse().unwrap()).await {
            RenderProblem::Unreachable { reason: given } => assert!(given.contains(reason), "{url}: {given}"),
            other => panic!("{url}: {other:?}"),
        }
    }
}

/// The server doesn't speak TLS, so no secure connection is possible.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_speak_is_named() {
    let canary = Canary::start().await;
    let engine = TestEngine::start(&format!("127.0.0.1:{}", canary.port)).await;
    let problem = problem(&engine, format!("https://127.0.0.1:{}/", canary.port).parse().unwrap()).await;
    match problem {
        RenderProblem::Unreachable { reason } => assert!(reason.contains("SSL"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_part_is_followed_to_where_it_leads() {
    let origin = Origin::start(|request| {
        Some(match request.path.as_str() {
            "/301" => Reply::redirect(301, "/refresh"),
            "/refresh" => Reply::html("<meta http-equiv=refresh content='0;url=/script'>first"),
            "/script" => Reply::html("second<script>location = '/replace'</script>"),
            "/replace" => Reply::html("third<script>onload = () => location.replace('/end')</script>"),
            "/end" => Reply::html("<title>End</title><p>The end"),
            _ => return None,
        })
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let document = engine
        .render(Uuid::now_v7(), job(Part::Url(origin.url("/301"))))
        .await
        .unwrap();
    assert_eq!(text(&document.pdf), "The end");
    assert_eq!(document.title.as_deref(), Some("End"));
    let statuses: Vec<_> = document.requests.iter().map(|request| request.status).collect();
    assert_eq!(
        statuses,
        [Some(301), Some(200), Some(200), Some(200), Some(200)],
        "{:?}",
        document.requests
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_from_the_page_is_told() {
    let origin = Origin::start(|request| {
        Some(match request.path.as_str() {
            "/page" => Reply::html("<p>Body<img src=/missing.png><img src=/there.svg>"),
            "/there.svg" => Reply::html("<svg xmlns='http://www.w3.org/2000/svg'/>"),
            _ => return None,
        })
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let page = job(Part::Url(origin.url("/page")));
    let document = engine.render(Uuid::now_v7(), page).await.unwrap();
    let warning = document
        .warnings
        .iter()
        .find(|warning| warning.code == "resource_failed");
    let message = &warning.unwrap().message;
    assert!(
        message.starts_with("1 request failed") && message.contains("/missing.png (status 404)"),
        "{message}"
    );
}
