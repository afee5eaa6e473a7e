//! Printed documents, headers and footers of any size.

use std::time::{Duration, Instant};

use platen_engine::{
    error::{RenderError, RenderProblem},
    job::{HeaderFooter, Part, RenderJob, RunningTemplate},
};
use uuid::Uuid;

use super::assert_serves;
use crate::support::{TestEngine, html_job, parts_job, text};

/// A part that prints about two megabytes of incompressible data.
const NOISE: &str = "<canvas id=c width=800 height=800></canvas><script>const context = c.getContext('2d'); \
    const image = context.createImageData(800, 800); for (let i = 0; i < image.data.length; i++) \
    image.data[i] = i % 4 === 3 ? 255 : Math.random() * 256; context.putImageData(image, 0, 0)</script>";

#[tokio::test(flavor = "multi_thread")]
async fn parts_share_one_limit() {
    let engine = TestEngine::start_with("", |config| config.slots = 3).await;
    let account = Uuid::now_v7();
    let noisy = |parts: usize| RenderJob {
        printed_limit: 5 << 20,
        ..parts_job(vec![Part::Html(NOISE.to_owned()); parts])
    };
    assert_eq!(engine.render(account, noisy(2)).await.unwrap().page_count, 2);
    let error = engine.render(account, noisy(4)).await.unwrap_err();
    let RenderError::Problem { part, problem } = error else {
        panic!("{error}");
    };
    assert_eq!(problem, RenderProblem::PrintedTooLarge { limit_mb: 5 });
    assert!((1..4).contains(&part), "{part}");
    assert_serves(&engine, account).await;
}

fn decorated(job: RenderJob, header: &str) -> RenderJob {
    let mut job = job;
    job.print.margins = [1.0, 0.5, 1.0, 0.5];
    job.print.header_footer = Some(HeaderFooter {
        header: header.to_owned(),
        footer: String::new(),
    });
    job
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_grow_are_refused_at_once() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let titled = format!("<title>{}</title><p>Body", "t".repeat(50_000));
    let title = "<b class=title></b>";
    let part = Part::Html(titled.clone());
    let several = |parts: usize| parts_job(vec![part.clone(); parts]);
    for (job, grows) in [
        (decorated(html_job(&titled), &title.repeat(10_000)), "filled"),
        (decorated(html_job(&titled), &title.repeat(50_000)), "filled"),
        (decorated(several(50), &title.repeat(10_000)), "filled"),
        // Not repeatable in columns, so as many documents as pages.
        (
            decorated(several(50), &("<!-- -->".to_owned() + &title.repeat(3_500))),
            "for all pages",
        ),
        (decorated(html_job(&titled), &"x".repeat(1_100_000)), "the template has"),
    ] {
        let start = Instant::now();
        let error = engine.render(account, job).await.unwrap_err();
        let RenderError::Problem {
            problem:
                RenderProblem::HeaderFooterTooLarge {
                    template,
                    what,
                    size,
                    limit,
                },
            ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(template, RunningTemplate::Header);
        assert!(what.contains(grows) && size > limit, "{what} {size} {limit}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
    // A title that is long but within the limits is truncated and drawn.
    let rendered = engine.render(account, decorated(several(2), title)).await.unwrap();
    assert!(text(&rendered.pdf).contains("tttt"));
    assert_serves(&engine, account).await;
}
