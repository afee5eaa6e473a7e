//! Settings of a job take effect in the PDF.

use std::time::Duration;

use platen_engine::error::{RenderError, RenderProblem};
use platen_engine::job::{HeaderFooter, MediaType, Phase, PrintSettings, RenderJob, RenderedDocument, WaitFor};
use platen_engine::render_log::RenderLog;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::support::{TestEngine, blamed, colour_at, html_job, info, page_sizes, text, word, words};

const A4: (i32, i32) = (596, 842);
const ACCOUNT: Uuid = Uuid::from_u128(7);

fn job_with(html: &str, change: impl FnOnce(&mut PrintSettings)) -> RenderJob {
    let mut job = html_job(html);
    change(&mut job.print);
    job
}

async fn pdf(engine: &TestEngine, job: RenderJob) -> Vec<u8> {
    document(engine, job).await.pdf
}

async fn document(engine: &TestEngine, job: RenderJob) -> RenderedDocument {
    engine.render(ACCOUNT, job).await.unwrap().document
}

fn assert_near(actual: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{what}: {actual} is not about {expected}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn paper_margins_and_scale() {
    let engine = TestEngine::start("").await;
    let html = "<style>* { margin: 0 } #low { position: fixed; bottom: 0; right: 0; line-height: 1 }</style>\
                <p>High</p><p id=low>Low</p>";
    let sheet = |print: &mut PrintSettings| {
        print.paper_width = 10.0;
        print.paper_height = 5.0;
        print.margins = [1.0, 0.5, 0.25, 2.0];
    };
    let plain = pdf(&engine, job_with(html, sheet)).await;
    assert_eq!(page_sizes(&plain), [(720, 360)]);
    let high = word(&plain, "High");
    assert_near(high.left, 144.0, 1.0, "left");
    assert_near(high.top, 72.0, 4.0, "top");
    let low = word(&plain, "Low");
    assert_near(low.right, 720.0 - 36.0, 1.0, "right");
    assert_near(low.bottom, 360.0 - 18.0, 4.0, "bottom");
    let scaled = job_with(html, |print| {
        sheet(print);
        print.scale = 2.0;
    });
    let large = word(&pdf(&engine, scaled).await, "High");
    assert_near(large.left, 144.0, 1.0, "left of the scaled");
    let ratio = (large.right - large.left) / (high.right - high.left);
    assert_near(ratio, 2.0, 0.05, "scale");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sheet_of_the_style_sheet_wins_only_where_it_is_preferred() {
    let engine = TestEngine::start("").await;
    // Otherwise the content is scaled to the paper, of which Chromium takes only the orientation from the style sheet.
    for (css, preferred, paper) in [
        ("A5", (420, 595), A4),
        ("A5 landscape", (595, 420), (842, 596)),
        ("100mm 50mm", (283, 142), (842, 596)),
    ] {
        let html = format!("<style>@page {{ size: {css}; margin: 0 }} body {{ margin: 0 }}</style><p>Sized");
        let own = pdf(&engine, job_with(&html, |print| print.prefer_css_page_size = true)).await;
        assert_eq!(page_sizes(&own), [preferred], "{css}");
        let scaled = pdf(&engine, job_with(&html, |_| {})).await;
        assert_eq!(page_sizes(&scaled), [paper], "{css}");
        assert_eq!(text(&scaled), "Sized");
    }
    let unsized_page = pdf(&engine, job_with("<p>x", |print| print.prefer_css_page_size = true)).await;
    assert_eq!(page_sizes(&unsized_page), [A4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn backgrounds_and_media() {
    let engine = TestEngine::start("").await;
    let html = "<style>* { margin: 0 } html { background: #00ff00 } @media screen { p::after { content: ' screen' } } \
                @media print { p::after { content: ' print' } }</style><p>Medium";
    let painted = pdf(&engine, html_job(html)).await;
    assert_eq!(colour_at(&painted, 300, 400), [0, 255, 0]);
    assert_eq!(text(&painted), "Medium print");
    let plain = job_with(html, |print| print.backgrounds = false);
    assert_eq!(colour_at(&pdf(&engine, plain).await, 300, 400), [255, 255, 255]);
    let screen = RenderJob {
        media: MediaType::Screen,
        ..html_job(html)
    };
    assert_eq!(text(&pdf(&engine, screen).await), "Medium screen");
    // The media type of one render does not affect the next.
    assert_eq!(text(&pdf(&engine, html_job(html)).await), "Medium print");
}

fn decorated(html: &str, header: &str, footer: &str) -> RenderJob {
    job_with(html, |print| {
        print.margins = [1.0; 4];
        print.header_footer = Some(HeaderFooter {
            header: header.to_owned(),
            footer: footer.to_owned(),
        });
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn header_and_footer_are_filled() {
    let engine = TestEngine::start("").await;
    let html = "<title>Tea &amp; <b></title><p>One<p style='break-before: page'>Two";
    let job = decorated(
        html,
        "<i>T:</i><b class=title></b><i>U:</i><b class=url></b><i>D:</i><b class=date></b>",
        "<span>F <span class=pageNumber></span>/<span class=totalPages></span></span>",
    );
    let before = OffsetDateTime::now_utc();
    let document = document(&engine, job).await;
    assert_eq!(document.warnings, []);
    let shown = text(&document.pdf);
    assert!(shown.contains("T:Tea & <b>U:D:"), "{shown}");
    let dates = [before, OffsetDateTime::now_utc()].map(|now| {
        let (hour, minute) = (now.hour(), now.minute());
        format!("D:{} {hour:02}:{minute:02} UTC", now.date())
    });
    assert!(dates.iter().any(|date| shown.contains(date)), "{shown}");
    assert!(shown.contains("F 1/2") && shown.contains("F 2/2"), "{shown}");
    let words = words(&document.pdf);
    let footer = words.iter().rfind(|word| word.text == "F").unwrap();
    assert_eq!(footer.page, 2);
    assert!(footer.top > 842.0 - 72.0, "{footer:?}");
    let header = words.iter().find(|word| word.text.starts_with("T:")).unwrap();
    assert!(header.bottom < 72.0, "{header:?}");
    let height = header.bottom - header.top;
    assert!(height > 7.0, "too small to read: {height} pt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_alone_stays_alone_and_runs_nothing() {
    let engine = TestEngine::start("").await;
    let header = "<b style='font-size: 20px'>Head</b><script>document.body.append('RAN')</script>\
                  <img src='data:x' onerror=\"document.body.append('RAN')\">\
                  <svg onload=\"document.body.append('RAN')\"></svg>\
                  <iframe srcdoc=\"<script>parent.document.body.append('RAN')</script>\"></iframe>\
                  <img src='http://example.invalid/logo.png'>";
    let document = document(&engine, decorated("<p>Body", header, "")).await;
    assert_eq!(text(&document.pdf), "Head Body");
    let codes: Vec<&str> = document.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["header_footer_asset_refused"]);
    assert!(document.warnings[0].message.contains("header_template"));
    let footed = pdf(&engine, decorated("<p>Body", "", "Foot")).await;
    assert_eq!(text(&footed), "Foot Body");
    let neither = pdf(&engine, decorated("<p>Body", "", "")).await;
    assert_eq!(text(&neither), "Body");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_pages_than_allowed_are_refused() {
    let engine = TestEngine::start("").await;
    let html = "<p>1<p style='break-before: page'>2<p style='break-before: page'>3";
    let limited = |page_limit| RenderJob {
        page_limit,
        ..html_job(html)
    };
    assert_eq!(document(&engine, limited(3)).await.page_count, 3);
    let error = engine.render(ACCOUNT, limited(2)).await.unwrap_err();
    assert_eq!(error, blamed(RenderProblem::TooManyPages { pages: 3, limit: 2 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_expression_is_evaluated_and_awaited() {
    let engine = TestEngine::start("").await;
    let with = |expression: &str| RenderJob {
        evaluate: Some(expression.to_owned()),
        ..html_job("<title>Old</title><p>Old")
    };
    let awaited = with(
        "new Promise(done => setTimeout(() => { document.querySelector('p').textContent = 'New'; document.title = \
         'Newer'; done() }, 50))",
    );
    let document = document(&engine, awaited).await;
    assert_eq!(text(&document.pdf), "New");
    assert_eq!(document.title.as_deref(), Some("Newer"));
    for (expression, message) in [
        ("throw new TypeError('thrown')", "TypeError: thrown"),
        ("Promise.reject(new Error('rejected'))", "Error: rejected"),
        ("Promise.reject('why')", "\"why\""),
        ("missing.thing", "ReferenceError: missing is not defined"),
        ("}", "SyntaxError: Unexpected token '}'"),
    ] {
        let error = engine.render(ACCOUNT, with(expression)).await.unwrap_err();
        let expected = RenderProblem::EvaluateThrew {
            message: message.to_owned(),
        };
        assert_eq!(error, blamed(expected), "{expression}");
    }
    // Results that can't be serialized are no errors.
    assert_eq!(text(&pdf(&engine, with("window")).await), "Old");
    assert_eq!(text(&pdf(&engine, with("Symbol('x')")).await), "Old");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_attribute_is_waited_for() {
    let engine = TestEngine::start("").await;
    let waiting = |html: &str, selector: &str, attribute: &str| RenderJob {
        wait_for: Some(WaitFor {
            selector: selector.to_owned(),
            attribute: attribute.to_owned(),
        }),
        ..html_job(html)
    };
    let later = "<body><script>setTimeout(() => document.body.innerHTML = '<p data-done>Later', 200)</script>";
    assert_eq!(text(&pdf(&engine, waiting(later, "p", "data-done")).await), "Later");
    let there = "<p class='a' title=\"it's\">There";
    assert_eq!(
        text(&pdf(&engine, waiting(there, "p[title=\"it's\"]", "class")).await),
        "There"
    );
    let error = engine.render(ACCOUNT, waiting(there, "p[", "class")).await.unwrap_err();
    let expected = RenderProblem::InvalidSelector {
        message: "\"p[\" is not a CSS selector".to_owned(),
    };
    assert_eq!(error, blamed(expected));
    let never = waiting(there, "p", "never");
    let log = RenderLog::default();
    let hurried = engine.render_within(Duration::from_secs(2), ACCOUNT, never, &log);
    let error = hurried.await.unwrap_err();
    let expected = RenderError::Deadline {
        phase: Phase::Wait,
        after: Duration::from_secs(2),
    };
    assert_eq!(error, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_says_about_itself_reaches_the_pdf() {
    let engine = TestEngine::start("").await;
    let html = "<!doctype html><html lang=de-CH><title> Größe </title><meta name=Author content='A. Müller'>\
                <meta name=description content='Über etwas'><meta name=keywords content='eins, zwei'>\
                <h1>Kapitel</h1><h2>Abschnitt</h2><p><a href='https://example.com/x'>Verweis</a> \
                <a href='#there'>innen</a><p id=there>Ziel</p>";
    let document = document(&engine, html_job(html)).await;
    assert_eq!(document.title.as_deref(), Some("Größe"));
    let facts = info(&document.pdf, &[]);
    for fact in [
        "Title: Größe",
        "Author: A. Müller",
        "Subject: Über etwas",
        "Keywords: eins, zwei",
        "Tagged: yes",
    ] {
        let (name, value) = fact.split_once(": ").unwrap();
        let line = facts
            .lines()
            .find(|line| line.starts_with(&format!("{name}:")))
            .unwrap_or_default();
        assert_eq!(
            line.split_once(':').map(|(_, value)| value.trim()),
            Some(value),
            "{facts}"
        );
    }
    let structure = info(&document.pdf, &["-struct-text"]);
    for part in ["H1", "H2", "Link", "Kapitel"] {
        assert!(structure.contains(part), "{part} is not in {structure}");
    }
    assert!(info(&document.pdf, &["-url"]).contains("https://example.com/x"));
    let open = platen_pdf::unpack(&document.pdf).unwrap();
    let raw = String::from_utf8_lossy(&open);
    assert!(raw.contains("/Lang (de-CH)"), "no language");
    assert!(raw.contains("/Outlines"), "no outline");
    assert_eq!(document.page_count, 1);
    // A page without title and language has none in the PDF, in particular none of an earlier render.
    let bare = engine.render(ACCOUNT, html_job("<p>x")).await.unwrap();
    assert_eq!(bare.title, None);
    let open = platen_pdf::unpack(&bare.pdf).unwrap();
    assert!(!String::from_utf8_lossy(&open).contains("/Lang"));
}

#[tokio::test(flavor = "multi_thread")]
async fn fonts_that_are_not_there_are_told() {
    let engine = TestEngine::start("").await;
    let html = "<style>:root { --house: Elsewhere } h1 { font-family: 'Frutiger Next', Univers, sans-serif }
        p { font-family: Nowhere, 'DejaVu Sans' } b { font-family: Unused } code { font-family: monospace }
        @media all { i { font-family: var(--house) } }</style><h1>One</h1><p>Two <i>three</i> <code>four</code>";
    for script in ["", "<script>document.title = 'x'</script>"] {
        let document = document(&engine, html_job(&format!("{html}{script}"))).await;
        let codes: Vec<&str> = document.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(codes, ["font_substituted"; 2], "{:?}", document.warnings);
        let [first, second] = [0, 1].map(|at| document.warnings[at].message.as_str());
        assert!(first.contains("“\"Frutiger Next\", Univers, sans-serif”"), "{first}");
        assert!(second.contains("“Elsewhere”"), "{second}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_font_of_an_earlier_document_is_not_there_for_the_next() {
    let engine = TestEngine::start("").await;
    let used = "<p style='font-family: House'>Text</p><style>p { font-family: House }</style>";
    let defined = format!("<style>@font-face {{ font-family: House; src: local('DejaVu Sans') }}</style>{used}");
    for (html, warnings) in [(defined.as_str(), 0), (used, 1), (&defined, 0), (used, 1)] {
        let document = document(&engine, html_job(html)).await;
        assert_eq!(document.warnings.len(), warnings, "{html}: {:?}", document.warnings);
    }
}

/// The engine keeps its functions in the realm of pages without scripts, beside the names of elements.
#[tokio::test(flavor = "multi_thread")]
async fn names_of_elements_hide_nothing_from_the_report() {
    let engine = TestEngine::start("").await;
    for _ in 0..2 {
        let html = "<title>Named</title><p id=platen>x</p><form name=facts></form><img name=images>
            <style>@keyframes grow { to { width: 9cm } } p { animation: grow 9s }</style>";
        assert_eq!(document(&engine, html_job(html)).await.title.as_deref(), Some("Named"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_that_cannot_be_displayed_are_named() {
    let engine = TestEngine::start("").await;
    let html = "<img src='img/logo.png?secret=1'><img src='data:image/png;base64,AAAA'><img>\
        <img src='data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=='>";
    for html in [
        html.to_owned(),
        format!("{html}<script>document.title = 'Run'</script>"),
    ] {
        let warnings = document(&engine, html_job(&html)).await.warnings;
        let [warning] = warnings.as_slice() else {
            panic!("{warnings:?}")
        };
        assert_eq!(warning.code, "image_broken");
        let named = "2 images can't be displayed: data:image/png;base64, img/logo.png.";
        assert!(warning.message.starts_with(named), "{warning:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fonts_are_those_of_the_medium_that_is_printed() {
    let engine = TestEngine::start("").await;
    let html = "<style>p { font-family: 'DejaVu Sans' } @media print { p { font-family: 'Paper Only', serif } }
        @media screen { p { font-family: 'Glass Only' } } @media not print { b { font-family: 'No Paper' } }</style>
        <style media=print>i { font-family: Printed }</style><style media=screen>i { font-family: Shown }</style>
        <p>One <b>two</b> <i>three</i>";
    for (media, expected) in [
        (MediaType::Print, ["“\"Paper Only\", serif”", "“Printed”"].as_slice()),
        (
            MediaType::Screen,
            ["“\"Glass Only\"”", "“\"No Paper\"”", "“Shown”"].as_slice(),
        ),
    ] {
        let job = RenderJob {
            media,
            ..html_job(html)
        };
        let warnings = document(&engine, job).await.warnings;
        assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
        for (warning, list) in warnings.iter().zip(expected) {
            assert!(warning.message.contains(list), "{list}: {warning:?}");
        }
    }
}
