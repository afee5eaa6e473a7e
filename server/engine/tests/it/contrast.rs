//! Texts that are hard to read on what is painted below them.

use platen_engine::job::RenderJob;
use platen_pdf::{OutputFormat, Watermark, check::contrast::LowContrast};
use uuid::Uuid;

use crate::support::{TestEngine, html_job};

const HEAD: &str = "<!doctype html><html lang=en><title>Page</title><style>\
    body { margin: 0; font: 10pt/1.6 'Liberation Sans' } p, div { margin: 4pt 0 } div { padding: 4pt }</style>";

async fn low_contrast(engine: &TestEngine, body: &str) -> Vec<LowContrast> {
    let job = RenderJob {
        format: OutputFormat::PdfA2b,
        ..html_job(&format!("{HEAD}{body}"))
    };
    engine.render(Uuid::now_v7(), job).await.unwrap().low_contrast.clone()
}

fn described(found: &LowContrast) -> (&str, [u8; 3], [u8; 3], f64) {
    let text = found.text.as_deref().unwrap_or_default();
    (text, found.colour, found.background, found.required)
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_compared_with_the_paper_or_shape_below_it() {
    let engine = TestEngine::start("").await;
    let body = "<p style='color: #777'>Below the limit\
        <p style='color: #767676'>Above the limit\
        <p style='color: #999; font-size: 14pt'>Large and faint\
        <p style='color: #949494; font-size: 14pt'>Large and above the limit\
        <div style='background: #036; color: white'>Light on blue</div>\
        <div style='background: #036; color: #666'>Dark on blue</div>\
        <div style='background: #fc0; border: 1pt solid #333; border-radius: 8pt; color: white'>In a round box</div>\
        <table style='border-collapse: collapse'><td style='border: 1pt solid #ccc; color: #aaa'>In a cell</table>\
        <p style='color: rgb(0 0 0 / .3)'>Transparent\
        <div style='background: rgb(0 0 0 / .5); color: #eee'>On a transparent shape</div>\
        <p><a href='https://example.com' style='color: #8ab4f8'>A link, underlined</a>\
        <p style='color: #777'>Colours that are listed already";
    let found = low_contrast(&engine, body).await;
    let white = [255; 3];
    let expected = [
        ("Below the limit", [0x77; 3], white, 4.5),
        ("Large and faint", [0x99; 3], white, 3.0),
        ("Dark on blue", [0x66; 3], [0, 0x33, 0x66], 4.5),
        ("In a round box", white, [0xff, 0xcc, 0], 4.5),
        ("In a cell", [0xaa; 3], white, 4.5),
        ("Transparent", [179; 3], white, 4.5),
        ("On a transparent shape", [0xee; 3], [0x80; 3], 4.5),
        ("A link, underlined", [0x8a, 0xb4, 0xf8], white, 4.5),
    ];
    assert_eq!(found.iter().map(described).collect::<Vec<_>>(), expected);
    let first = &found[0];
    assert_eq!(first.element.as_ref().map(|element| element.kind.as_str()), Some("P"));
    assert!((4.47..4.48).contains(&first.ratio), "{}", first.ratio);
    let [left, bottom, right, top] = first.rectangle.expect("a rectangle");
    assert!(
        right - left > 50.0 && (8.0..15.0).contains(&(top - bottom)),
        "{first:?}"
    );
    let (width, _) = first.page_size.expect("the size of its page");
    assert!(first.page == 1 && (595.0..596.0).contains(&width), "{first:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doubtful_backgrounds_decoration_and_hidden_text_are_not_reported() {
    let engine = TestEngine::start("").await;
    let body = "<div style='background: linear-gradient(#fff, #ddd); color: #bbb'>On a gradient</div>\
        <div style='background: linear-gradient(90deg, #000 4pt, transparent 0); color: #bbb'>On an edge</div>\
        <div style='opacity: .4'>In a transparent group</div>\
        <div style='mix-blend-mode: multiply; color: #ccc'>Blended</div>\
        <p style='text-shadow: 1pt 1pt 0 #d0d0d0, 2pt 2pt 0 #e0e0e0'>With shadows</p>\
        <p style='color: #c0c0c0'><span style='background: #222'>On its own background</span>\
        <div style='position: relative; color: #cacaca'>Covered<b style='position: absolute; inset: 0; background: #fff'></b></div>\
        <div style='position: relative; color: #cbcbcb'>Covered by a gradient\
        <b style='position: absolute; inset: 0; background: linear-gradient(#fff, #333)'></b></div>\
        <div style='height: 0; padding: 0; overflow: hidden; color: #b0b0b0'>Clipped</div>\
        <div style='mask-image: linear-gradient(#000, transparent); color: #b1b1b1'>Masked</div>\
        <div style='clip-path: polygon(0 0, 100% 0, 0 100%); background: #eee; color: #c1c1c1'>On a triangle</div>\
        <p style='color: #fff'>For machines\
        <p style='color: transparent'>Transparent\
        <p style='color: #ddd'>• | —\
        <p style='color: #ccc; -webkit-text-stroke: 1pt #ccc'>Outlined</p>";
    assert_eq!(low_contrast(&engine, body).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn text_beside_covered_text_and_below_lines_is_reported() {
    let engine = TestEngine::start("").await;
    let body = "<style>div, p { position: relative; color: #777 } b { position: absolute }</style>\
        <div>Covered<b style='inset: 0; background: linear-gradient(#fff, #333)'></b></div>\
        <p>Visible<b style='inset: 0; outline: 5px solid #036'></b></p>";
    let found = low_contrast(&engine, body).await;
    let texts: Vec<_> = found.iter().map(|found| described(found).0).collect();
    assert_eq!(texts, ["Visible"]);

    let job = RenderJob {
        format: OutputFormat::PdfA2b,
        watermark: Some(Watermark::Test),
        ..html_job(&format!(
            "{HEAD}<p style='margin-top: 140mm; text-align: center; color: #777'>Below a watermark"
        ))
    };
    let document = engine.render(Uuid::now_v7(), job).await.unwrap();
    assert_eq!(document.low_contrast.len(), 1);
}

/// Each pair of colours is listed once, and a page can have any number of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_document_has_at_most_twenty_texts_with_low_contrast() {
    let engine = TestEngine::start("").await;
    let lines = (0..300).map(|line| {
        let (red, green) = (200 + line % 50, 200 + line / 50);
        format!("<p style='background: #fff; color: rgb({red}, {green}, 210)'>Line {line}</p>")
    });
    let body: String = lines.collect();
    let found = low_contrast(&engine, &body).await;
    assert_eq!(found.len(), 20);
    assert_eq!(found[19].text.as_deref(), Some("Line 19"));
}
