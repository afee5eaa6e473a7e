//! Headers and footers of several parts look like those that Chromium prints for a single part.

use platen_engine::job::{HeaderFooter, Part, RenderJob};
use platen_pdf::raster::{PageView, rasterise};
use uuid::Uuid;

use crate::support::{TestEngine, parts_job, text};

const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// Tolerance in shades of 255 for rounding of the rasterizer: the coordinates are the same, but computed differently.
const ROUNDING: u8 = 2;

fn numbered(parts: &[&str], header: &str, footer: &str) -> RenderJob {
    let mut job = parts_job(parts.iter().map(|part| Part::Html((*part).to_owned())).collect());
    job.print.margins = [0.9, 0.4, 0.77, 0.4];
    job.print.scale = 0.9;
    job.print.prefer_css_page_size = true;
    job.print.header_footer = Some(HeaderFooter {
        header: header.to_owned(),
        footer: footer.to_owned(),
    });
    job
}

async fn assert_looks_like_one_part(engine: &TestEngine, style: &str, header: &str, footer: &str) {
    // Only header and footer are visible.
    let part = |pages: usize| {
        let pages = vec!["<p>&nbsp;"; pages].join("<div style='break-before: page'></div>");
        format!("<style>{style}</style><title>Tea &amp; cake</title>{pages}")
    };
    let account = Uuid::now_v7();
    let (whole, start, end) = (part(3), part(2), part(1));
    let alone = engine
        .render(account, numbered(&[&whole], header, footer))
        .await
        .unwrap();
    let joined = engine
        .render(account, numbered(&[&start, &end], header, footer))
        .await
        .unwrap();
    assert_eq!((alone.page_count, joined.page_count), (3, 3));
    assert_eq!(text(&alone.pdf), text(&joined.pdf), "{style} {header} {footer}");
    for page in 1..=3 {
        let view = PageView {
            page,
            dots_per_inch: 96,
        };
        let [alone, joined] = [&alone.pdf, &joined.pdf].map(|pdf| rasterise(pdf, view).unwrap());
        assert_eq!((alone.width, alone.height), (joined.width, joined.height));
        let shades = alone
            .pixels
            .iter()
            .zip(&joined.pixels)
            .map(|(one, other)| one.abs_diff(*other));
        let most = shades.max().unwrap();
        assert!(
            most <= ROUNDING,
            "page {page} differs by {most} shades: {style} {header} {footer}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_several_parts_look_like_those_of_one() {
    let engine = TestEngine::start("").await;
    let number = "<span class=pageNumber></span>/<span class=totalPages></span>";
    let picture = format!("<img style='height: 20px; border-radius: 6px' src='data:image/png;base64,{DOT}'>");
    let templates = [
        (
            format!("<b style='color: red; width: 100%; text-align: center'>{number}</b>"),
            format!("<table style='width: 100%; border: 1px solid blue'><tr><td>{number}</td></tr></table>"),
        ),
        (
            format!(
                "<div style='display: flex; justify-content: space-between; width: 100%'>{picture}<i>{number}</i></div>"
            ),
            "<u style='position: fixed; bottom: 3px; right: 5%' class=title></u>".to_owned(),
        ),
        (
            format!("<div style='box-shadow: 0 0 4px black; transform: rotate(2deg); opacity: .6'>{number}</div>"),
            format!("<p style='white-space: nowrap'>{}</p>", "It does not end. ".repeat(20)),
        ),
        // Templates that can't be combined in columns.
        (
            format!("<style>#header {{ padding: 0 }} b {{ color: green }}</style><b>{number}</b>"),
            format!("<b>open {number}"),
        ),
        (
            format!("<b style='mix-blend-mode: multiply; background: red'>{number}</b>"),
            String::new(),
        ),
    ];
    for (header, footer) in &templates {
        assert_looks_like_one_part(&engine, "", header, footer).await;
    }
    let (header, footer) = &templates[0];
    // Sizes in whole points, because printed parts contain CSS sizes only in that precision.
    for style in [
        "@page { size: 420pt 595pt }",
        "@page { size: 11in 8.5in }",
        "@page { size: 301pt 1003pt }",
    ] {
        assert_looks_like_one_part(&engine, style, header, footer).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_many_has_its_own_number_and_title() {
    let engine = TestEngine::start("").await;
    let part = |title: &str| {
        format!(
            "<title>{title}</title>{}",
            "<p style='break-after: page'>x".repeat(55) + "<p>x"
        )
    };
    let parts = [part("First"), part("Second")];
    let job = numbered(
        &[&parts[0], &parts[1]],
        "<b class=title></b>",
        "<i>n<span class=pageNumber></span>of<span class=totalPages></span></i>",
    );
    let document = engine.render(Uuid::now_v7(), job).await.unwrap();
    let shown = text(&document.pdf);
    let shown: Vec<&str> = shown.split(' ').filter(|word| *word != "x").collect();
    assert_eq!(shown.len(), 2 * 112);
    for (page, words) in (1..).zip(shown.chunks(2)) {
        let title = if page <= 56 { "First" } else { "Second" };
        assert_eq!(words, [title, &format!("n{page}of112")]);
    }
}
