//! Several parts, page selection, and headers and footers across all parts.

use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    pdf,
    studio::{Studio, header, problems},
};

/// Two pages; the other parts have one.
const REPORT: &str =
    "<title>Report</title><html lang=de><h1>Bericht</h1><p style='break-after: page'>eins<h2>Mehr</h2>zwei";
const LETTER: &str =
    "<title>Letter</title><html lang=en><h1>Dear reader</h1><a href='#end'>to the end</a><p id=end>three";
const LABEL: &str = "<style>@page { size: 100mm 50mm }</style><p>four";

async fn joined(studio: &Studio, parts: &[&str], mut options: Value) -> Vec<u8> {
    options["parts"] = json!(parts);
    options["output_encoding"] = "binary".into();
    let answer = studio.send(&options).await;
    let status = answer.status();
    let bytes = answer.bytes().await.expect("a body").to_vec();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    bytes
}

/// Returns the words of each page.
fn pages(file: &[u8]) -> Vec<String> {
    let text = pdf::text(file);
    let mut pages: Vec<String> = text
        .split('\u{c}')
        .map(|page| page.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    pages.pop();
    pages
}

#[tokio::test]
async fn parts_follow_each_other_in_one_document() {
    let studio = Studio::start().await;
    let body = json!({"parts": [REPORT, LETTER, LABEL], "output_encoding": "binary", "prefer_css_page_size": true});
    let answer = studio.send(&body).await;
    assert_eq!(header(&answer, "x-page-count"), "4");
    assert!(header(&answer, "content-disposition").contains("Report.pdf"));
    let file = answer.bytes().await.unwrap();
    assert_eq!(
        pages(&file),
        ["Bericht eins", "Mehr zwei", "Dear reader to the end three", "four"]
    );
    let info = pdf::info(&file);
    assert!(info.contains("Title:           Report"), "{info}");
    let boxes: Vec<Value> = pdf::objects(&file)["pages"].as_array().unwrap().clone();
    assert_eq!(boxes.len(), 4);
    let outline = pdf::objects(&file)["outlines"].clone();
    let titles: Vec<&str> = outline
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["Report", "Letter", "Part 3"]);
    let below: Vec<&str> = outline[1]["kids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["title"].as_str().unwrap())
        .collect();
    assert_eq!(below, ["Dear reader"]);
    assert_eq!(outline[1]["destpageposfrom1"], 3);
    // The label has its own page size.
    let label = pdf::picture(&file, 4);
    assert!(
        label.width.abs_diff(283) <= 1 && label.height.abs_diff(142) <= 1,
        "{} × {}",
        label.width,
        label.height
    );
}

#[tokio::test]
async fn headers_and_footers_run_through_all_parts() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let options = json!({
        "margin": {"top": 20, "right": 0, "bottom": 20, "left": 0},
        "prefer_css_page_size": true,
        "render_header_footer": true,
        "header_template": "<p>[<span class=title></span>|<span class=url></span>]</p>",
        "footer_template": "<p>Page <span class=pageNumber></span> of <span class=totalPages></span></p>",
    });
    let address = origin.url("/page/Served");
    let file = joined(&studio, &[REPORT, LETTER, LABEL, &address], options.clone()).await;
    assert_eq!(
        pages(&file),
        [
            "[Report|] Bericht eins Page 1 of 5".to_owned(),
            "[Report|] Mehr zwei Page 2 of 5".to_owned(),
            "[Letter|] Dear reader to the end three Page 3 of 5".to_owned(),
            "[|] four Page 4 of 5".to_owned(),
            format!("[Served|{address}] Served Page 5 of 5"),
        ]
    );
    // Numbered before pages are selected.
    let mut some = options;
    some["pages"] = "4, 2".into();
    let file = joined(&studio, &[REPORT, LETTER, LABEL], some).await;
    assert_eq!(
        pages(&file),
        ["[Report|] Mehr zwei Page 2 of 4", "[|] four Page 4 of 4"]
    );
}

#[tokio::test]
async fn a_header_of_several_parts_looks_like_that_of_one() {
    let studio = Studio::start().await;
    let options = json!({
        "margin": {"top": 25, "right": 10, "bottom": 25, "left": 10},
        "render_header_footer": true,
        "scale": 1.2,
        "header_template": "<b style='color: #c80000; font-size: 14px'><span class=title></span></b>",
        "footer_template": "<p style='background: #0000c8; width: 50%'><span class=pageNumber></span></p>",
    });
    let alone = pdf::picture(&joined(&studio, &[LETTER], options.clone()).await, 1);
    let first = pdf::picture(&joined(&studio, &[LETTER, LABEL], options).await, 1);
    assert_eq!((alone.width, alone.height), (first.width, first.height));
    assert!(alone.pixels == first.pixels, "the pages look different");
    assert!(
        alone.pixels.chunks(3).any(|colour| colour == [200, 0, 0]),
        "there is no header"
    );
    assert!(
        alone.pixels.chunks(3).any(|colour| colour == [0, 0, 200]),
        "there is no footer"
    );
}

#[tokio::test]
async fn selected_pages_are_kept_and_others_leave_nothing() {
    let studio = Studio::start().await;
    let file = joined(&studio, &[REPORT, LETTER], json!({"pages": "3, 1"})).await;
    assert_eq!(pages(&file), ["Bericht eins", "Dear reader to the end three"]);
    assert!(!String::from_utf8_lossy(&file).contains("Mehr"));
    let file = joined(&studio, &[REPORT], json!({"pages": "2"})).await;
    assert_eq!(pages(&file), ["Mehr zwei"]);
}

#[tokio::test]
async fn faults_name_the_part_and_the_page() {
    let studio = Studio::start().await;
    let body = json!({"parts": [REPORT, LETTER], "pages": "1-2, 5-9", "output_encoding": "binary"});
    let found = problems(studio.send(&body).await).await;
    assert_eq!(found[0].0, "/pages");
    assert!(found[0].1.contains("the document has 3 pages"), "{found:?}");
    let body = json!({"parts": [REPORT, "http://127.0.0.1:1/", LETTER], "output_encoding": "binary"});
    assert_eq!(problems(studio.send(&body).await).await[0].0, "/parts/1");
    let tiny = "<style>@page { size: 2000mm 6000mm }</style><p>x";
    let body = json!({
        "parts": [REPORT, LETTER, tiny], "pages": "4", "prefer_css_page_size": true, "output_encoding": "binary",
    });
    let found = problems(studio.send(&body).await).await;
    assert_eq!(found[0].0, "/parts/2");
    assert!(found[0].1.contains("set output_format to pdf"), "{found:?}");
}

#[tokio::test]
async fn fifty_parts_with_header_footer_and_pages() {
    let studio = Studio::start().await;
    let parts: Vec<String> = (1..=50)
        .map(|part| {
            format!("<title>Part {part}</title><h1>Chapter {part}</h1><p style='break-before: page'>end of {part}")
        })
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let options = json!({
        "margin": {"top": 20, "right": 0, "bottom": 20, "left": 0},
        "render_header_footer": true,
        "header_template": "<p><span class=title></span></p>",
        "footer_template": "<p><span class=pageNumber></span>/<span class=totalPages></span></p>",
        "pages": "1, 50-51, 100",
    });
    let file = joined(&studio, &parts, options).await;
    assert_eq!(
        pages(&file),
        [
            "Part 1 Chapter 1 1/100",
            "Part 25 end of 25 50/100",
            "Part 26 Chapter 26 51/100",
            "Part 50 end of 50 100/100",
        ]
    );
}
