//! The dashboard over HTTP: pages, files and server functions. `end2end` tests it in a browser.

mod admin;
mod api_keys;
mod assets;
mod batches;
mod billing;
mod destinations;
mod events;
mod exports;
mod outdated_forms;
mod page_comparisons;
mod partials;
mod releases;
mod renders;
mod requests;
mod retention;
mod roles;
mod sample_sets;
mod second_factor;
mod storage_limits;
mod team;
mod template_pdf;
mod template_versions;
mod templates;
mod thumbnails;
mod translations;
mod webhook_endpoints;
mod webhooks;

use std::{collections::BTreeSet, fs, io::Read, path::Path};

use flate2::read::GzDecoder;
use leptos::server_fn::axum::server_fn_paths;
use reqwest::{Response, redirect::Policy};
use tempfile::TempDir;

use crate::support::{folder, service::TestService, studio::header};

const PAGE: (&str, &str) = ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8");
/// Functions that don't require a log-in.
const PUBLIC_FUNCTIONS: [&str; 10] = [
    "join-as-new",
    "log-in",
    "log-out",
    "request-password-reset",
    "reset-password",
    "send-sign-up-again",
    "show-second-factor",
    "sign-up",
    "theme",
    "verify-sign-up",
];

/// Creates the files that `deploy/site.sh` would build, with minimal content.
pub(crate) fn site() -> TempDir {
    let site = folder::temporary();
    let write = |name: &str, content: &str| {
        let path = site.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    };
    write("pkg/platen.1A.css", "body{}");
    write("pkg/platen.1A.css.br", "packed by brotli");
    write("pkg/platen.1A.css.gz", "packed by gzip");
    write("pkg/platen.2B.js", "0");
    write("pkg/platen.3C.wasm", "0");
    write("img/favicon.svg", "<svg/>");
    site
}

pub(crate) async fn service_with(site: &Path) -> TestService {
    TestService::start_with(&[("PLATEN_SITE_DIR", site.to_str().expect("text"))]).await
}

/// Like [`service_with`]; the service may connect to a private address.
async fn service_reaching(address: &str, site: &Path) -> TestService {
    let settings = [
        ("PLATEN_SITE_DIR", site.to_str().expect("text")),
        ("PLATEN_EGRESS_ALLOW", address),
    ];
    TestService::start_with(&settings).await
}

async fn page(service: &TestService, path: &str) -> Response {
    let request = service.client.get(service.url(path)).header(PAGE.0, PAGE.1);
    request.send().await.expect("an answer")
}

/// Returns a client that doesn't follow redirects.
fn client_that_stays() -> reqwest::Client {
    let client = reqwest::Client::builder().redirect(Policy::none());
    client.build().expect("a client")
}

#[tokio::test]
async fn every_page_has_a_policy_of_its_own_and_keeps_to_it() {
    let site = site();
    let service = service_with(site.path()).await;
    let mut nonces = BTreeSet::new();
    for _ in 0..2 {
        let answer = page(&service, "/").await;
        assert_eq!(answer.status(), 200);
        assert_eq!(header(&answer, "cache-control"), "no-store");
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
        assert_eq!(header(&answer, "referrer-policy"), "same-origin");
        assert_eq!(header(&answer, "cross-origin-opener-policy"), "same-origin");
        let policy = header(&answer, "content-security-policy").to_owned();
        for directive in [
            "default-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(directive), "{policy}");
        }
        assert!(
            !policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"),
            "{policy}"
        );
        let (_, rest) = policy.split_once("script-src 'nonce-").expect("a nonce");
        let (nonce, _) = rest.split_once('\'').expect("its end");

        let html = answer.text().await.expect("a page");
        assert!(html.contains("HTML in, archival PDF out."), "{html}");
        let scripts = html.matches("<script").count();
        assert_eq!(html.matches(&format!("nonce=\"{nonce}\"")).count(), scripts, "{html}");
        for forbidden in [" style=", " onclick=", "javascript:", "<style"] {
            assert!(!html.contains(forbidden), "{forbidden} in {html}");
        }
        assert!(html.contains("href=\"/pkg/platen.1A.css\""), "{html}");
        nonces.insert(nonce.to_owned());
    }
    assert_eq!(nonces.len(), 2);
}

#[tokio::test]
async fn the_template_syntax_is_described_filter_by_filter() {
    let site = site();
    let service = service_with(site.path()).await;
    let answer = page(&service, "/docs/templates").await;
    assert_eq!(answer.status(), 200);
    let html = answer.text().await.expect("a page");
    for filter in [
        "number", "percent", "currency", "plural", "date", "markdown", "qrcode", "barcode",
    ] {
        assert!(html.contains(&format!("<code>{filter}</code>")), "{filter} in {html}");
    }
    for shown in [
        "<h2 id=\"numbers\">Numbers</h2>",
        "href=\"#table-with-a-total\"",
        "<dt><code>{{ 1234567.891|number }}</code></dt><dd><samp>1,234,567.891</samp></dd>",
    ] {
        assert!(html.contains(shown), "{shown} in {html}");
    }
}

#[tokio::test]
async fn compiled_files_are_kept_for_ever_and_packed_as_the_browser_likes_it() {
    let site = site();
    let service = service_with(site.path()).await;
    let get = |path: &str, encoding: &str| {
        let request = service
            .client
            .get(service.url(path))
            .header("accept-encoding", encoding);
        async { request.send().await.expect("an answer") }
    };
    for (encoding, content) in [
        ("gzip, br", "packed by brotli"),
        ("gzip", "packed by gzip"),
        ("identity", "body{}"),
    ] {
        let answer = get("/pkg/platen.1A.css", encoding).await;
        assert_eq!(header(&answer, "content-type"), "text/css");
        assert_eq!(header(&answer, "cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(answer.text().await.expect("a body"), content);
    }
    assert_eq!(
        header(&get("/pkg/platen.3C.wasm", "br").await, "content-type"),
        "application/wasm"
    );
    assert_eq!(
        header(&get("/img/favicon.svg", "br").await, "cache-control"),
        "public, max-age=86400"
    );
    let icon = get("/favicon.ico", "br").await;
    assert_eq!(header(&icon, "content-type"), "image/svg+xml");
    for path in [
        "/pkg/platen.0.css",
        "/pkg/",
        "/pkg/..%2f..%2fetc/passwd",
        "/fonts/none.woff2",
    ] {
        let answer = get(path, "br").await;
        assert_eq!(answer.status(), 404, "{path}");
        assert!(!answer.headers().contains_key("cache-control"), "{path}");
    }
}

#[tokio::test]
async fn where_there_is_nothing_people_get_a_page_and_programs_the_words_of_the_api() {
    let site = site();
    let service = service_with(site.path()).await;
    let answer = page(&service, "/no/such/page").await;
    assert_eq!(answer.status(), 404);
    assert!(header(&answer, "content-type").starts_with("text/html"));
    assert!(answer.text().await.expect("a page").contains("Page not found"));

    for (path, accept) in [
        ("/no/such/page", "*/*"),
        ("/api/v1/nothing", PAGE.1),
        ("/api/nothing", PAGE.1),
    ] {
        let request = service.client.get(service.url(path)).header("accept", accept);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 404);
        let body = answer.text().await.expect("a body");
        assert_eq!(
            body, r#"{"error":{"message":"There is nothing at this path."}}"#,
            "{path}"
        );
    }
}

#[tokio::test]
async fn without_its_files_the_dashboard_says_so_and_the_api_works() {
    let nowhere = folder::temporary();
    let service = service_with(nowhere.path()).await;
    let answer = page(&service, "/").await;
    assert_eq!(answer.status(), 503);
    assert!(
        answer
            .text()
            .await
            .expect("words")
            .contains("files of the dashboard are missing")
    );
    let account = service.account("ann@example.org");
    let request = service
        .client
        .get(service.url("/api/v1/health"))
        .bearer_auth(account.key);
    assert_eq!(request.send().await.expect("an answer").status(), 200);
}

#[tokio::test]
async fn a_form_without_script_changes_the_theme_and_goes_back() {
    let site = site();
    let service = service_with(site.path()).await;
    let client = client_that_stays();
    let form = || {
        let form = client.post(service.url("/web/theme")).header(PAGE.0, PAGE.1);
        form.header("content-type", "application/x-www-form-urlencoded")
            .body("theme=dark")
    };
    let answer = form()
        .header("referer", service.url("/?a=b"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 302);
    assert_eq!(header(&answer, "location"), service.url("/?a=b"));
    let cookie = header(&answer, "set-cookie");
    assert_eq!(cookie, "theme=dark; Path=/; Max-Age=31536000; SameSite=Lax");

    for (cookie, expected) in [
        ("theme=dark", "<html lang=\"en\" data-theme=\"dark\">"),
        ("other=1; theme=light", "<html lang=\"en\" data-theme=\"light\">"),
        ("theme=\"><script>", "<html lang=\"en\">"),
    ] {
        let request = client
            .get(service.url("/"))
            .header(PAGE.0, PAGE.1)
            .header("cookie", cookie);
        let html = request.send().await.expect("an answer").text().await.expect("a page");
        assert!(html.contains(expected), "{cookie}: {html}");
    }

    let foreign = form()
        .header("sec-fetch-site", "cross-site")
        .send()
        .await
        .expect("an answer");
    assert_eq!(foreign.status(), 403);
    assert!(!foreign.headers().contains_key("set-cookie"));
    let html = foreign.text().await.expect("a page");
    assert!(html.contains("<h1 class=\"auth__title\">Request rejected"), "{html}");
}

#[tokio::test]
async fn refused_visitors_read_the_reason_also_in_compressed_responses() {
    let site = site();
    let service = service_with(site.path()).await;
    let turned_away = async |encoding: &str| {
        let request = client_that_stays()
            .post(service.url("/web/theme"))
            .header(PAGE.0, PAGE.1);
        let request = request
            .header("sec-fetch-site", "cross-site")
            .header("accept-encoding", encoding);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 403);
        let packed = answer.headers().contains_key("content-encoding");
        (packed, answer.bytes().await.expect("a page"))
    };
    let (packed, plain) = turned_away("identity").await;
    assert!(!packed);
    let (packed, page) = turned_away("gzip").await;
    assert!(packed);
    let mut unpacked = Vec::new();
    GzDecoder::new(&*page).read_to_end(&mut unpacked).expect("gzip");
    assert_eq!(String::from_utf8_lossy(&unpacked), String::from_utf8_lossy(&plain));
}

#[tokio::test]
async fn functions_tell_whose_fault_it_is() {
    let site = site();
    let service = service_with(site.path()).await;
    let call = |path: &str, body: &'static str| {
        let form = service.client.post(service.url(path)).body(body);
        form.header("content-type", "application/x-www-form-urlencoded").send()
    };
    let malformed = call("/web/theme", "theme=mauve").await.expect("an answer");
    assert_eq!(malformed.status(), 422);
    assert_eq!(malformed.text().await.expect("a body"), "\"Malformed\"");
    let unknown = call("/web/nothing", "").await.expect("an answer");
    assert_eq!(unknown.status(), 404);
}

#[tokio::test]
async fn what_is_for_people_is_refused_to_everybody_else() {
    let site = site();
    let service = service_with(site.path()).await;
    let client = client_that_stays();
    for (path, next) in [
        ("/dashboard", "%2Fdashboard"),
        ("/dashboard?a=b%0A&c", "%2Fdashboard%3Fa%3Db%250A%26c"),
        ("/dashboard/no/such/page", "%2Fdashboard%2Fno%2Fsuch%2Fpage"),
        (
            "/settings/confirm-email?token=x",
            "%2Fsettings%2Fconfirm-email%3Ftoken%3Dx",
        ),
    ] {
        let request = client.get(service.url(path)).header(PAGE.0, PAGE.1);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 303, "{path}");
        assert_eq!(header(&answer, "location"), format!("/log-in?next={next}"));
        assert_eq!(header(&answer, "cache-control"), "no-store");
    }

    for (path, method) in server_fn_paths() {
        let name = path.strip_prefix("/web/").expect("a path of ours").to_owned();
        for content_type in ["application/x-www-form-urlencoded", "application/json"] {
            let request = client.request(method.clone(), service.url(path));
            let answer = request.header("content-type", content_type).body("token=x");
            let answer = answer.send().await.expect("an answer");
            if answer.status() == 401 {
                assert_eq!(answer.text().await.expect("a body"), "\"LogInFirst\"", "{name}");
            } else {
                assert!(PUBLIC_FUNCTIONS.contains(&name.as_str()), "{name}: {}", answer.status());
            }
        }
    }
    let form = client.post(service.url("/web/confirm-email")).header(PAGE.0, PAGE.1);
    let form = form
        .header("content-type", "application/x-www-form-urlencoded")
        .body("token=x");
    let answer = form.send().await.expect("an answer");
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "location")),
        (303, "/log-in")
    );
}
