//! Neither files of the machine nor the browser's internal pages get into a document.

use std::{fs, os::unix::fs::PermissionsExt};

use platen_engine::error::{RenderError, RenderProblem};
use platen_engine::job::HeaderFooter;
use uuid::Uuid;

use crate::support::{TestEngine, html_job, text};

const SECRET: &str = "Sesame7731";

/// Markup and scripts that load `URL`. The scripts append the number of failed attempts to the page.
const MARKUP: &str = "<iframe src='URL'></iframe><object data='URL'></object><embed src='URL'>\
    <object type='text/html' data='URL'></object><img src='URL'><link rel=stylesheet href='URL'><script src='URL'></script>\
    <iframe srcdoc='<iframe src=URL></iframe><img src=URL>'></iframe><style>@import 'URL'; p::after { content: url(URL) }</style>\
    <iframe srcdoc='<meta http-equiv=refresh content=\"0;url=URL\">'></iframe>\
    <iframe srcdoc='<script>location = \"URL\"</script>'></iframe><video src='URL'></video>\
    <svg><image href='URL' width=9 height=9 /><use href='URL#x' /></svg><a id=a href='URL' target=_self>here</a>";

const SCRIPTS: &str = r"(async () => {
    const show = text => { document.body.append(text) };
    const tries = [
        () => fetch(url).then(answer => answer.text()).then(show),
        () => fetch(url, { mode: 'no-cors' }).then(answer => answer.text()).then(show),
        () => new Promise((go, fail) => {
            const request = new XMLHttpRequest();
            request.onload = () => { show(request.responseText); go() };
            request.onerror = fail;
            request.open('GET', url);
            request.send();
        }),
        () => import(url),
        () => { a.click() },
        () => { location = url },
        () => { location.replace(url) },
        () => { open(url, '_self') },
        () => { const form = document.createElement('form'); form.action = url; document.body.append(form); form.submit() },
    ];
    let failed = 0;
    for (const one of tries) await Promise.resolve().then(one).catch(() => failed += 1);
    await new Promise(go => setTimeout(go, 300));
    document.body.append(' tried ' + failed);
})()";

#[tokio::test(flavor = "multi_thread")]
async fn no_local_address_gets_into_a_document() {
    let folder = tempfile::Builder::new().prefix("platen-secret-").tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("secret.html");
    fs::write(&path, format!("<body>{SECRET}</body>")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let path = path.display();
    let engine = TestEngine::start("").await;
    for url in [
        format!("file://{path}"),
        format!("file://localhost{path}"),
        format!("FILE:{path}"),
        format!("view-source:file://{path}"),
        format!("filesystem:file://{path}"),
        "file:///etc/passwd".to_owned(),
        "file:///proc/self/environ".to_owned(),
        "ftp://127.0.0.1/".to_owned(),
        "chrome://version/".to_owned(),
        "chrome://gpu/".to_owned(),
        "chrome-extension://x/y.html".to_owned(),
        "devtools://devtools/bundled/inspector.html".to_owned(),
        "view-source:about:blank".to_owned(),
        "chrome-untrusted://print/".to_owned(),
    ] {
        let page = format!("<!doctype html><body>Page {}", MARKUP.replace("URL", &url));
        let mut job = html_job(&page);
        job.evaluate = Some(format!("const url = '{url}'; {SCRIPTS}"));
        job.print.header_footer = Some(HeaderFooter {
            header: format!(
                "<iframe src='{url}'></iframe><object data='{url}'></object><style>@import '{url}';</style>"
            ),
            footer: format!("<img src='{url}'><div style='background: url({url})'></div>"),
        });
        job.print.margins = [1.0; 4];
        let document = match engine.render(Uuid::now_v7(), job).await {
            Ok(document) => document,
            // The browser may navigate to `about:blank` instead.
            Err(RenderError::Problem {
                problem: RenderProblem::NavigatedAway { url },
                ..
            }) if url == "about:blank" => continue,
            Err(error) => panic!("{url}: {error}"),
        };
        let shown = text(&document.pdf);
        // The page is still there, every fetch failed, and nothing else was printed.
        assert!(shown.contains("Page here tried 4"), "{url}: {shown}");
        for secret in [SECRET, "root:", "PATH=", "Command Line", "Chromium", "<body>"] {
            assert!(!shown.contains(secret), "{url}: {shown}");
        }
        assert!(
            !document
                .pdf
                .windows(SECRET.len())
                .any(|bytes| bytes == SECRET.as_bytes()),
            "{url}"
        );
    }
}
