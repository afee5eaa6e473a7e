//! Pages that navigate elsewhere by status, markup or script.

use platen_engine::error::{RenderError, RenderProblem};
use platen_engine::job::Part;
use uuid::Uuid;

use crate::{
    servers::{Canary, Origin, Reply},
    support::{TestEngine, html_job, job},
};

/// Documents that navigate to `TO`.
const LEADING: [(&str, &str); 9] = [
    ("refresh", "<meta http-equiv=refresh content='0;url=TO'>"),
    ("location", "<script>location = 'TO'</script>"),
    ("replace", "<script>location.replace('TO')</script>"),
    ("on-load", "<body onload=\"location.href = 'TO'\">"),
    ("link", "<a id=a href='TO'>x</a><script>a.click()</script>"),
    ("get-form", "<form id=f action='TO'></form><script>f.submit()</script>"),
    (
        "post-form",
        "<form id=f method=post action='TO'></form><script>f.submit()</script>",
    ),
    (
        "top",
        "<iframe srcdoc=\"<script>top.location = 'TO'</script>\"></iframe>",
    ),
    ("navigation", "<script>navigation.navigate('TO')</script>"),
];

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

/// Starts an origin that serves the documents above under their names, and `/<status>` as a redirect, all navigating to
/// `target`.
async fn leading_to(target: String) -> Origin {
    Origin::start(move |request| {
        let name = request.path.trim_start_matches('/');
        if let Some((_, html)) = LEADING.iter().find(|(known, _)| *known == name) {
            return Some(Reply::html(html.replace("TO", &target)));
        }
        Some(match name.split_once('-') {
            // Two hops, the first of which is allowed.
            Some(("twice", status)) => Reply::redirect(status.parse().ok()?, &format!("/{status}")),
            Some(("refresh", "header")) => Reply::html("x").header("Refresh", &format!("0;url={target}")),
            _ => Reply::redirect(name.parse().ok()?, &target),
        })
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_url_part_leads_to_the_canary() {
    let canary = Canary::start().await;
    let origin = leading_to(canary.at("127.0.0.1", "/x")).await;
    let engine = TestEngine::start(&origin.entry()).await;
    let mut paths: Vec<String> = LEADING.iter().map(|(name, _)| format!("/{name}")).collect();
    paths.extend(
        STATUSES
            .iter()
            .flat_map(|status| [format!("/{status}"), format!("/twice-{status}")]),
    );
    paths.push("/refresh-header".to_owned());
    for path in paths {
        let result = engine
            .render(Uuid::now_v7(), job(Part::Url(origin.url(&path))))
            .await
            .map(drop);
        let refused = matches!(
            &result,
            Err(RenderError::Problem {
                problem: RenderProblem::AddressRefused { .. },
                ..
            })
        );
        assert!(refused, "{path}: {result:?}");
        assert!(origin.count(&path) > 0, "{path}");
    }
    canary.assert_untouched();
}

/// An HTML part that navigates away is a separate error, regardless of its target.
#[tokio::test(flavor = "multi_thread")]
async fn no_html_part_leads_to_the_canary() {
    let canary = Canary::start().await;
    let engine = TestEngine::start("").await;
    for (name, html) in LEADING {
        let mut job = html_job(&html.replace("TO", &canary.at("127.0.0.1", "/x")));
        // The page has navigated long before this time has passed.
        job.evaluate = Some("new Promise(go => setTimeout(go, 5000))".to_owned());
        match engine.render(Uuid::now_v7(), job).await {
            Err(RenderError::Problem {
                problem: RenderProblem::NavigatedAway { url },
                ..
            }) => {
                assert_eq!(url, canary.at("127.0.0.1", "/x"), "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    canary.assert_untouched();
}

/// Redirects are followed to HTTP and HTTPS URLs only.
#[tokio::test(flavor = "multi_thread")]
async fn no_redirect_leads_to_another_scheme() {
    let origin = Origin::start(|request| {
        let target = request.path.strip_prefix("/?")?;
        Some(Reply::redirect(302, target))
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    for target in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "chrome://version/",
        "view-source:http://127.0.0.1/",
        "filesystem:http://127.0.0.1/temporary/x",
        "data:text/html,x",
        "javascript:1",
        "about:blank",
    ] {
        let path = format!("/?{target}");
        let result = engine
            .render(Uuid::now_v7(), job(Part::Url(origin.url(&path))))
            .await
            .map(drop);
        let unreachable = matches!(
            &result,
            Err(RenderError::Problem {
                problem: RenderProblem::Unreachable { .. },
                ..
            })
        );
        assert!(unreachable, "{target}: {result:?}");
    }
}
