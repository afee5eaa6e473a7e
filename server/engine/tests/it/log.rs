//! The log of a render, also of one that fails.

use std::time::Duration;

use platen_engine::{
    error::RenderError,
    job::{Part, RenderJob, WaitFor},
    render_log::{CONSOLE_LIMIT, NetworkRequest, RenderLog},
};
use uuid::Uuid;

use crate::{
    servers::{Origin, Reply},
    support::{DEADLINE, Rendered, TestEngine, html_job},
};

const ACCOUNT: Uuid = Uuid::from_u128(7);

fn said(rendered: &Rendered) -> Vec<(usize, &str, &str)> {
    let messages = rendered.console.iter();
    messages
        .map(|message| (message.part, message.level.as_str(), message.text.as_str()))
        .collect()
}

async fn origin() -> Origin {
    Origin::start(|request| match request.path.as_str() {
        "/page" => Some(Reply::new(
            200,
            "text/html",
            "<link rel=stylesheet href=/style.css><script>console.warn('from afar'); missing()</script><p>Page",
        )),
        "/style.css" => Some(Reply::new(200, "text/css", "p { color: red }")),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_are_heard_and_the_next_render_does_not_hear_the_last() {
    let engine = TestEngine::start("").await;
    let talking = "<p>x<script>console.log('one', 2, {three: [3]}, null, undefined); console.error(new Error('four')); \
                   console.debug(); Promise.reject('five'); six()</script>";
    for _ in 0..2 {
        let rendered = engine.render(ACCOUNT, html_job(talking)).await.unwrap();
        let mut said = said(&rendered);
        // The browser may report uncaught errors in any order.
        said.sort_unstable();
        assert_eq!(
            said,
            [
                (0, "debug", ""),
                (0, "error", "Error: four"),
                (0, "error", "Uncaught ReferenceError: six is not defined (line 1)"),
                (0, "error", "Unhandled rejection: five"),
                (0, "log", "one 2 {\"three\":[3]} null undefined"),
            ]
        );
    }
    let silent = engine
        .render(ACCOUNT, html_job("<p>x<script>1</script>"))
        .await
        .unwrap();
    assert_eq!(said(&silent), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_does_not_stop_talking_is_heard_for_a_while() {
    let engine = TestEngine::start("").await;
    let flood = "<p>x<script>for (let i = 0; i < 100000; i++) console.log('x'.repeat(10000))</script>";
    let rendered = engine.render(ACCOUNT, html_job(flood)).await.unwrap();
    assert_eq!(rendered.console.len(), CONSOLE_LIMIT);
    assert!(rendered.console.iter().all(|message| message.text.len() == 500));
    let spoilt = "<p>x<script>Array.prototype.push = null; console.log('x'); __platenConsole().length = 0; \
                  __platenConsole().push = () => 1; console = null</script>";
    let rendered = engine.render(ACCOUNT, html_job(spoilt)).await.unwrap();
    assert_eq!(said(&rendered), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_tell_kind_size_time_and_part() {
    let origin = origin().await;
    let engine = TestEngine::start(&origin.entry()).await;
    let job = RenderJob {
        parts: vec![
            Part::Html("<p>First<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>".to_owned()),
            Part::Url(origin.url("/page")),
            Part::Html("<p>Last<img src=http://10.0.0.1/x.png>".to_owned()),
        ],
        ..html_job("")
    };
    let rendered = engine.render(ACCOUNT, job).await.unwrap();
    let [page, style, picture] = &rendered.requests[..] else {
        panic!("{:?}", rendered.requests)
    };
    let told = |request: &NetworkRequest| (request.part, request.url.clone(), request.kind.clone(), request.status);
    let kind = |kind: &str| Some(kind.to_owned());
    assert_eq!(
        told(page),
        (1, origin.url("/page").to_string(), kind("document"), Some(200))
    );
    assert_eq!(
        told(style),
        (1, origin.url("/style.css").to_string(), kind("stylesheet"), Some(200))
    );
    assert_eq!(
        told(picture),
        (2, "http://10.0.0.1/x.png".to_owned(), kind("image"), None)
    );
    assert_eq!(picture.refused.as_deref(), Some("an address of a private network"));
    for request in [page, style] {
        assert!(
            request.bytes.is_some_and(|bytes| (16..2000).contains(&bytes)),
            "{request:?}"
        );
        assert!(request.took.is_some_and(|took| took > Duration::ZERO), "{request:?}");
    }
    let place = format!(
        "Uncaught ReferenceError: missing is not defined ({}:1)",
        origin.url("/page")
    );
    assert_eq!(said(&rendered), [(1, "warn", "from afar"), (1, "error", &place)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_render_that_fails_is_told_what_led_to_it() {
    let origin = origin().await;
    let engine = TestEngine::start(&origin.entry()).await;
    let failed_within = async |deadline, job: RenderJob| {
        let log = RenderLog::default();
        let error = engine.render_within(deadline, ACCOUNT, job, &log).await.unwrap_err();
        (error, log.seen())
    };
    let failed = async |job| failed_within(DEADLINE, job).await;
    let page = || RenderJob {
        parts: vec![Part::Url(origin.url("/page"))],
        ..html_job("")
    };
    let (_, seen) = failed(RenderJob {
        evaluate: Some("console.info('here'); throw new Error('on purpose')".to_owned()),
        ..page()
    })
    .await;
    assert_eq!(seen.requests.len(), 2);
    assert_eq!(seen.console.last().map(|message| message.text.as_str()), Some("here"));
    assert!(seen.phases.load > Duration::ZERO && seen.phases.print.is_zero());

    // The page no longer responds when the deadline passes.
    let endless = RenderJob {
        evaluate: Some("for (;;);".to_owned()),
        wait_for: Some(WaitFor {
            selector: "p".to_owned(),
            attribute: "never".to_owned(),
        }),
        ..page()
    };
    let (error, seen) = failed_within(Duration::from_secs(2), endless).await;
    assert!(matches!(error, RenderError::Deadline { .. }), "{error}");
    assert_eq!(seen.requests.len(), 2);
    assert!(seen.phases.evaluate > Duration::from_secs(1), "{:?}", seen.phases);
}
