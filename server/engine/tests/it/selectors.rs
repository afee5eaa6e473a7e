//! Findings name the HTML elements that they are about by CSS selectors.

use platen_engine::job::{Part, RenderJob};
use platen_pdf::{OutputFormat, PageSelection};
use uuid::Uuid;

use crate::{
    servers::{Origin, Reply},
    support::{TestEngine, html_job, job, parts_job, text},
};

/// A picture of one pixel, drawn larger.
const PICTURE: &str =
    "src='data:image/gif;base64,R0lGODlhAQABAIAAAP8AAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==' width=9 height=9";

fn page(body: &str) -> String {
    format!("<!doctype html><html lang=en><title>Page</title><body><h1>Page</h1>{body}")
}

fn archival(job: RenderJob) -> RenderJob {
    RenderJob {
        format: OutputFormat::PdfA2b,
        ..job
    }
}

/// Returns type and selector of the element of each finding.
async fn selectors(engine: &TestEngine, account: Uuid, job: RenderJob) -> Vec<(String, Option<String>)> {
    let document = engine.render(account, archival(job)).await.unwrap();
    let elements = document.findings.iter().filter_map(|finding| finding.element.as_ref());
    elements
        .map(|element| (element.kind.clone(), element.selector.clone()))
        .collect()
}

/// Renders HTML whose findings are all about one element, and returns its selector.
async fn selector(engine: &TestEngine, html: &str) -> Option<String> {
    let found = selectors(engine, Uuid::now_v7(), html_job(html)).await;
    let [(_, selector)] = <[_; 1]>::try_from(found).unwrap_or_else(|found| panic!("{found:?}: {html}"));
    selector
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_name_their_elements_in_every_kind_of_page() {
    let engine = TestEngine::start("").await;
    let flawed = format!(
        "<div><h3>Costs</h3><section id=sales><p>Sales<p><img {PICTURE}> <img {PICTURE} alt=Known> <img {PICTURE}></p></section></div>\
         <table><tr><th>Year<th>Sum<tr><td>2026<td>7<td>8<tr><td rowspan=2>2027<td>9<tr><td>10</table>"
    );
    let expected = [
        ("H3", "body > div > h3"),
        ("Figure", "#sales > p:nth-of-type(2) > img:nth-of-type(1)"),
        ("Figure", "#sales > p:nth-of-type(2) > img:nth-of-type(3)"),
    ];
    for script in [
        "",
        "<script>1</script>",
        "<script>requestAnimationFrame(() => {})</script>",
    ] {
        let found = selectors(&engine, Uuid::now_v7(), html_job(&page(&format!("{flawed}{script}")))).await;
        for (kind, selector) in expected {
            let wanted = (kind.to_owned(), Some(selector.to_owned()));
            assert!(found.contains(&wanted), "{wanted:?}: {found:?}");
        }
        let table = found.iter().find(|(kind, _)| kind.starts_with('T')).unwrap();
        assert!(table.1.as_ref().unwrap().starts_with("body > table"), "{table:?}");
    }
    let origin = Origin::start(move |_| Some(Reply::html(page(&flawed)))).await;
    let engine = TestEngine::start(&origin.entry()).await;
    let found = selectors(&engine, Uuid::now_v7(), job(Part::Url(origin.url("/")))).await;
    assert!(
        found.contains(&("H3".to_owned(), Some("body > div > h3".to_owned()))),
        "{found:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selector_is_short_and_selects_one_element() {
    let engine = TestEngine::start("").await;
    for (body, expected) in [
        ("<h3 id=costs>Costs</h3>", Some("#costs")),
        ("<p id=costs>x</p><h3 id=costs>Costs</h3>", Some("body > h3")),
        ("<h3 id='2:a'>Costs</h3>", Some("#\\32 \\:a")),
        ("<h3 hidden>Draft</h3><h3>Costs</h3>", Some("body > h3:nth-of-type(2)")),
        ("<x-card.s><h3>Costs</h3></x-card.s>", Some("body > x-card\\.s > h3")),
    ] {
        assert_eq!(selector(&engine, &page(body)).await.as_deref(), expected, "{body}");
    }
    let nested = "<div>".repeat(60);
    assert_eq!(selector(&engine, &page(&format!("{nested}<h3>Costs"))).await, None);
    let long = "n".repeat(61);
    assert_eq!(
        selector(&engine, &page(&format!("<h3 id={long}>Costs")))
            .await
            .as_deref(),
        Some("body > h3")
    );
    let broken = selector(&engine, &page("<img src='logo.svg' width=40 height=40>")).await;
    assert_eq!(broken.as_deref(), Some("img[src=\"logo.svg\"]"));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_elements_are_found() {
    let engine = TestEngine::start("").await;
    let paragraphs = "<p>Text".repeat(1_000);
    let pictures = format!("<p><img {PICTURE}>").repeat(150);
    let html = page(&format!("{paragraphs}{pictures}"));
    let found = selectors(&engine, Uuid::now_v7(), html_job(&html)).await;
    let last = ("Figure".to_owned(), Some("body > p:nth-of-type(1150) > img".to_owned()));
    assert!(found.len() == 150 && found.last() == Some(&last), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_that_are_not_printed_do_not_count() {
    let engine = TestEngine::start("").await;
    let html = page(&format!(
        "<style>@media print {{ .screen {{ display: none }} }} @media screen {{ .print {{ display: none }} }}</style>\
         <img class=screen {PICTURE}><img {PICTURE} alt=''><div aria-hidden=true><img {PICTURE}></div>\
         <p style='visibility: hidden'><img {PICTURE}></p><p class=print><img id=logo {PICTURE}>"
    ));
    assert_eq!(selector(&engine, &html).await.as_deref(), Some("#logo"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_count_only_if_they_are_printed() {
    let engine = TestEngine::start("").await;
    let pages: [(&str, &[&str]); 9] = [
        // The canvas has the rank of an image that prints nothing.
        (
            "<img {PICTURE} alt=Acme> <img id=stamp> <canvas id=chart></canvas>",
            &["#chart"],
        ),
        (
            "<canvas aria-labelledby=none></canvas> <img id=logo {PICTURE}>",
            &["body > canvas", "#logo"],
        ),
        // Chromium gives these no type.
        (
            "<canvas></canvas> <canvas id=chart>Sales</canvas> <img id=logo {PICTURE}>",
            &["#logo"],
        ),
        (
            "<img {PICTURE} style='width: 0'> <canvas id=chart style='height: 0'></canvas> <img id=logo {PICTURE}>",
            &["#logo"],
        ),
        ("<figure><img></figure> <img id=logo {PICTURE}>", &["#logo"]),
        (
            "<figure style='height: 0'><div style='float: left'>Sales</div></figure> <img id=logo {PICTURE}>",
            &["body > figure", "#logo"],
        ),
        // Of images that can't be displayed, only the borders are figures.
        (
            "<img src='http://127.0.0.1:9/' width=40 height=40> <img alt=Acme> <img id=logo {PICTURE}>",
            &["#logo"],
        ),
        (
            "<img src='http://127.0.0.1:9/' style='border: 1px solid'> <img id=logo {PICTURE}>",
            &["img[src=\"http://127.0.0.1:9/\"]", "#logo"],
        ),
        (
            "<img id=stamp width=40 height=40> <img id=logo {PICTURE}>",
            &["#stamp", "#logo"],
        ),
    ];
    // A canvas that is blank is not printed.
    let paint = "<script>for (const chart of document.querySelectorAll('canvas')) \
                 chart.getContext('2d').fillRect(0, 0, 9, 9)</script>";
    for (pictures, expected) in pages {
        let body = pictures.replace("{PICTURE}", PICTURE) + paint;
        let found = selectors(&engine, Uuid::now_v7(), html_job(&page(&body))).await;
        let figures = found.into_iter().filter(|(kind, _)| kind == "Figure");
        let figures: Vec<_> = figures.map(|(_, selector)| selector.unwrap_or_default()).collect();
        assert_eq!(figures, expected, "{pictures}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_of_pictures_and_captions_are_no_figures() {
    let engine = TestEngine::start("").await;
    let groups: [(&str, &[&str]); 11] = [
        (
            "<figure><img><figcaption>Sales</figcaption></figure>",
            &["body > figure > img"],
        ),
        (
            "<figure><p><img></p><figcaption>Sales</figcaption></figure>",
            &["body > figure > p > img"],
        ),
        ("<figure><img></figure>", &["body > figure > img"]),
        (
            "<figure><picture><img></picture></figure>",
            &["body > figure > picture > img"],
        ),
        (
            "<figure><figure><img><figcaption>Sales</figcaption></figure></figure>",
            &["body > figure > figure > img"],
        ),
        (
            "<figure aria-label=Sales><img><figcaption>Sales</figcaption></figure>",
            &["body > figure > img"],
        ),
        ("<figure><p><img></p></figure>", &["body > figure > p > img"]),
        (
            "<figure><a href=https://example.org><img></a></figure>",
            &["body > figure > a > img"],
        ),
        (
            "<figure><table><caption>Sales</caption><tr><th>2026<tr><td>7</table></figure>",
            &[],
        ),
        ("<figure><blockquote><p>Sold out.</p></blockquote></figure>", &[]),
        // This has no caption, and paints something itself, as a drawing does.
        (
            "<figure style='border: 1px solid'><img></figure>",
            &["body > figure", "body > figure > img"],
        ),
    ];
    for (figure, expected) in groups {
        let body = format!("{figure}<p><img></p>").replace("<img>", &format!("<img {PICTURE}>"));
        let found = selectors(&engine, Uuid::now_v7(), html_job(&page(&body))).await;
        let figures = found.into_iter().filter(|(kind, _)| kind == "Figure");
        let figures: Vec<_> = figures.map(|(_, selector)| selector.unwrap_or_default()).collect();
        assert_eq!(figures, [expected, &["body > p > img"]].concat(), "{figure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_element_that_is_not_certain_has_no_selector() {
    let engine = TestEngine::start("").await;
    // A shadow tree has elements that no selector reaches.
    let shadow = format!(
        "<p id=host></p><img {PICTURE}><h3 id=costs>Costs</h3><script>\
         host.attachShadow({{mode: 'open'}}).innerHTML = `<img {PICTURE}><h3>Inside</h3>`</script>"
    );
    let found = selectors(&engine, Uuid::now_v7(), html_job(&page(&shadow))).await;
    let figures = found.iter().filter(|(kind, _)| kind == "Figure");
    assert_eq!(
        figures.map(|(_, selector)| selector).collect::<Vec<_>>(),
        [&None, &None]
    );
    // The heading is inside, so none of the page is named.
    assert!(found.contains(&("H3".to_owned(), None)), "{found:?}");
    // On the first page are two pictures, as many as in the document outside of the shadow tree.
    let selected = format!("{shadow}<p style='break-before: page'><img {PICTURE}></p>");
    let job = RenderJob {
        selection: PageSelection::parse("1").ok(),
        ..html_job(&page(&selected))
    };
    let found = selectors(&engine, Uuid::now_v7(), job).await;
    let figures = found.iter().filter(|(kind, _)| kind == "Figure");
    assert_eq!(
        figures.map(|(_, selector)| selector).collect::<Vec<_>>(),
        [&None, &None]
    );
}

/// Returns part, page and selector of the element of each finding.
async fn places(engine: &TestEngine, account: Uuid, job: RenderJob) -> Vec<(usize, usize, Option<String>)> {
    let document = engine.render(account, archival(job)).await.unwrap();
    let places = document.findings.iter().map(|finding| {
        let element = finding.element.as_ref().unwrap();
        (element.part.unwrap(), finding.page.unwrap(), element.selector.clone())
    });
    places.collect()
}

/// Renders until the places are these, because parts that load slowly, as while browsers start, are not loaded again.
async fn expect_places(
    engine: &TestEngine,
    account: Uuid,
    job: RenderJob,
    expected: &[(usize, usize, Option<String>)],
) -> usize {
    for renders in 1..=10 {
        if places(engine, account, job.clone()).await == expected {
            return renders;
        }
    }
    panic!("{:?}", places(engine, account, job).await);
}

fn place(part: usize, page: usize, selector: &str) -> (usize, usize, Option<String>) {
    (part, page, Some(selector.to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn findings_name_elements_of_every_part() {
    let flawed = |id: &str, script: &str| page(&format!("<h3 id={id}>Costs</h3>{script}"));
    let hosted = flawed("url", "");
    let origin = Origin::start(move |request| {
        Some(match request.path.as_str() {
            "/" => Reply::html(hosted.clone()),
            _ => Reply::new(200, "image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
        })
    })
    .await;
    let engine = TestEngine::start(&origin.entry()).await;
    let account = Uuid::now_v7();
    let logo = origin.url("/logo.svg");
    let image = format!("<img alt='' src='{logo}'><script>fetch('{logo}', {{cache: 'no-store'}})</script>");
    let two_pages = format!("<h2>Year</h2><p>2026</p><p style='break-before: page'><img id=sales {PICTURE}></p>");
    let parts = vec![
        Part::Html(page(&two_pages)),
        Part::Html(page("<h2>No finding</h2>")),
        Part::Html(page("<div><h3>Costs</h3></div>")),
        Part::Html(flawed("script", "<script>document.body.dataset.done = 1</script>")),
        Part::Html(flawed("frames", "<script>requestAnimationFrame(() => {})</script>")),
        Part::Html(flawed("image", &image)),
        Part::Url(origin.url("/")),
    ];
    let expected = [
        place(0, 2, "#sales"),
        place(2, 4, "body > div > h3"),
        place(3, 5, "#script"),
        place(4, 6, "#frames"),
        place(5, 7, "#image"),
        // A page at a URL isn't loaded again.
        (6, 8, None),
    ];
    let renders = expect_places(&engine, account, parts_job(parts), &expected).await;
    // Nothing is requested from servers again.
    assert_eq!((origin.count("/"), origin.count("/logo.svg")), (renders, 2 * renders));
    // The same element as in the print, which the expression has added.
    let job = RenderJob {
        evaluate: Some("document.body.insertAdjacentHTML('beforeend', '<h3 id=added>Costs</h3>')".to_owned()),
        ..parts_job(vec![Part::Html(page("<p>One")), Part::Html(page("<p>Two"))])
    };
    let expected = [place(0, 1, "#added"), place(1, 2, "#added")];
    expect_places(&engine, account, job, &expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_loads_slowly_is_not_loaded_again() {
    let engine = TestEngine::start("").await;
    let slow = "<h3>Costs</h3><script>const end = Date.now() + 400; while (Date.now() < end);</script>";
    let parts = vec![Part::Html(page(slow)), Part::Html(page("<h3>Costs</h3>"))];
    let expected = [(0, 1, None), place(1, 2, "body > h3")];
    expect_places(&engine, Uuid::now_v7(), parts_job(parts), &expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_parts_that_are_busy_later_cost_only_selectors() {
    let busy = page("<h3>Costs</h3><script>onafterprint = () => setTimeout(() => { while (true) {} })</script>");
    let served = busy.clone();
    let origin = Origin::start(move |_| Some(Reply::html(served.clone()))).await;
    let engine = TestEngine::start(&origin.entry()).await;
    let account = Uuid::now_v7();
    let parts = vec![
        Part::Url(origin.url("/")),
        Part::Html(busy),
        Part::Html(page("<h3>Costs</h3>")),
    ];
    let found = places(&engine, account, parts_job(parts)).await;
    let pages: Vec<_> = found.iter().map(|(part, page, _)| (*part, *page)).collect();
    assert_eq!(pages, [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(engine.text_of(account, "<p>Next").await, "Next");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_cannot_interfere_with_selectors() {
    let engine = TestEngine::start("").await;
    let names = [
        "querySelectorAll",
        "body",
        "documentElement",
        "parentNode",
        "localName",
        "getAttribute",
        "closest",
    ];
    let clobbering = names.map(|name| format!("<input type=hidden name={name}>")).concat();
    let images = names.map(|name| format!("<img hidden name={name}>")).concat();
    let html = page(&format!(
        "<form>{clobbering}<h3>Costs</h3></form>{images}<script>\
         for (const owner of [Array, Map, String, RegExp, Object, Function, Node, Element, Document]) \
             for (const name of Object.getOwnPropertyNames(owner.prototype)) \
                 try {{ if (name !== 'constructor') owner.prototype[name] = () => {{ throw 'patched' }} }} catch {{}} \
         globalThis.CSS = null; document.querySelectorAll = null;</script>"
    ));
    // The language is unknown, because the page has also tampered with what reads it.
    let found = selectors(&engine, Uuid::now_v7(), html_job(&html)).await;
    assert!(
        found.contains(&("H3".to_owned(), Some("body > form > h3".to_owned()))),
        "{found:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_busy_after_it_is_printed_costs_only_its_selectors() {
    let engine = TestEngine::start("").await;
    let account = Uuid::now_v7();
    let busy = page("<h3>Costs</h3><script>onafterprint = () => setTimeout(() => { while (true) {} })</script>");
    for _ in 0..4 {
        let found = selectors(&engine, account, html_job(&busy)).await;
        assert_eq!(found.len(), 1, "{found:?}");
    }
    let next = engine.render(account, html_job("<p>Next")).await.unwrap();
    assert_eq!(text(&next.pdf), "Next");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_document_of_a_session_is_not_affected() {
    let engine = TestEngine::start_with("", |config| {
        config.slots = 1;
        config.sessions = 1;
    })
    .await;
    let account = Uuid::now_v7();
    for script in ["", "<script>1</script>"] {
        let flawed = page(&format!("<h3>Costs</h3>{script}"));
        assert_eq!(selectors(&engine, account, html_job(&flawed)).await.len(), 1);
        let media = "<p><script>document.querySelector('p').append(`print: ${matchMedia('print').matches}`)</script>";
        assert_eq!(engine.text_of(account, media).await, "print: false");
    }
}
