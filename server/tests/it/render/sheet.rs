//! Page size, margins, scale and orientation, measured in the PDF.

use serde_json::{Value, json};

use crate::support::{pdf, studio::Studio};

const POINTS_PER_MM: f64 = 72.0 / 25.4;
const PLAIN: &str = "<style>body { margin: 0; font: 20px/1 'Liberation Sans' } p { margin: 0 }</style><p>Corner";

/// Returns width and height of the first page, in points.
fn page_size(file: &[u8]) -> (f64, f64) {
    let info = pdf::info(file);
    let line = info
        .lines()
        .find(|line| line.starts_with("Page size:"))
        .expect("a size");
    let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

/// Returns left, top, right and bottom of a word on the first page, in points from the upper left.
fn place(file: &[u8], word: &str) -> [f64; 4] {
    let words = pdf::words(file);
    let line = words
        .lines()
        .find(|line| line.contains(&format!(">{word}<")))
        .unwrap_or_else(|| panic!("{words}"));
    let value = |name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=\"")).expect("a side");
        rest.split('"')
            .next()
            .expect("a value")
            .parse::<f64>()
            .expect("a number")
    };
    [value("xMin"), value("yMin"), value("xMax"), value("yMax")]
}

#[track_caller]
fn assert_near(found: (f64, f64), expected: (f64, f64), what: impl std::fmt::Debug) {
    let near = |one: f64, other: f64| (one - other).abs() < 1.0;
    assert!(
        near(found.0, expected.0) && near(found.1, expected.1),
        "{what:?}: {found:?} instead of {expected:?}"
    );
}

#[tokio::test]
async fn every_size_is_as_large_as_its_name_says() {
    let studio = Studio::start().await;
    let mm = |width: f64, height: f64| (width * POINTS_PER_MM, height * POINTS_PER_MM);
    let inches = |width: f64, height: f64| (width * 72.0, height * 72.0);
    let custom = |width: f64, height: f64, unit: &str| json!({"width": width, "height": height, "unit": unit});
    let rows: [(Value, (f64, f64)); 20] = [
        (json!("a0"), mm(841.0, 1189.0)),
        (json!("a1"), mm(594.0, 841.0)),
        (json!("a2"), mm(420.0, 594.0)),
        (json!("a3"), mm(297.0, 420.0)),
        (json!("a4"), mm(210.0, 297.0)),
        (json!("a5"), mm(148.0, 210.0)),
        (json!("a6"), mm(105.0, 148.0)),
        (json!("a7"), mm(74.0, 105.0)),
        (json!("a8"), mm(52.0, 74.0)),
        (json!("a9"), mm(37.0, 52.0)),
        (json!("a10"), mm(26.0, 37.0)),
        (json!("letter"), inches(8.5, 11.0)),
        (json!("legal"), inches(8.5, 14.0)),
        (json!("tabloid"), inches(11.0, 17.0)),
        (json!("ledger"), inches(17.0, 11.0)),
        (json!({"width": 100, "height": 50}), mm(100.0, 50.0)),
        (custom(10.0, 5.0, "cm"), mm(100.0, 50.0)),
        (custom(4.0, 2.0, "in"), inches(4.0, 2.0)),
        (custom(960.0, 480.0, "px"), inches(10.0, 5.0)),
        (custom(200.0, 200.0, "in"), inches(200.0, 200.0)),
    ];
    for (size, expected) in rows {
        let file = studio.pdf("<p>x", json!({"size": size})).await;
        assert_near(page_size(&file), expected, &size);
    }
    assert_near(
        page_size(&studio.pdf("<p>x", json!({})).await),
        mm(210.0, 297.0),
        "default",
    );
    for (size, turned) in [(json!("a4"), mm(297.0, 210.0)), (json!("ledger"), inches(11.0, 17.0))] {
        let file = studio
            .pdf("<p>x", json!({"size": size, "orientation": "landscape"}))
            .await;
        assert_near(page_size(&file), turned, &size);
    }
}

#[tokio::test]
async fn margins_move_the_content_and_scale_shrinks_it() {
    let studio = Studio::start().await;
    let corner = async |options: Value| place(&studio.pdf(PLAIN, options).await, "Corner");
    let bare = corner(json!({})).await;
    let margin =
        |left: f64, top: f64, unit: &str| json!({"top": top, "right": 0, "bottom": 0, "left": left, "unit": unit});
    for (left, top, unit, point) in [
        (20.0, 30.0, "mm", POINTS_PER_MM),
        (2.0, 3.0, "cm", POINTS_PER_MM * 10.0),
        (1.0, 0.5, "in", 72.0),
        (96.0, 48.0, "px", 0.75),
    ] {
        let moved = corner(json!({"margin": margin(left, top, unit)})).await;
        let by = (moved[0] - bare[0], moved[1] - bare[1]);
        assert_near(by, (left * point, top * point), unit);
    }
    let width = |word: [f64; 4]| word[2] - word[0];
    for scale in [0.5, 2.0] {
        let scaled = corner(json!({"scale": scale})).await;
        assert!(
            (width(scaled) / width(bare) - scale).abs() < 0.02,
            "{scale}: {scaled:?} to {bare:?}"
        );
    }
    // The right and bottom margins limit lines and pages.
    let long = "<style>body { margin: 0 }</style>".to_owned() + &"word ".repeat(2000);
    let narrow = studio
        .pdf(
            long,
            json!({"margin": {"top": 0, "right": 100, "bottom": 100, "left": 0}}),
        )
        .await;
    for line in pdf::words(&narrow).lines().filter(|line| line.contains("<word ")) {
        let side = |name: &str| {
            line.split(name)
                .nth(1)
                .unwrap()
                .split('"')
                .nth(1)
                .unwrap()
                .parse::<f64>()
                .unwrap()
        };
        assert!(
            side("xMax") <= 111.0 * POINTS_PER_MM && side("yMax") <= 198.0 * POINTS_PER_MM,
            "{line}"
        );
    }
}

#[tokio::test]
async fn the_pages_own_size_counts_only_when_it_is_preferred() {
    let studio = Studio::start().await;
    let page = "<style>@page { size: 50mm 100mm } </style><p>x";
    let own = (50.0 * POINTS_PER_MM, 100.0 * POINTS_PER_MM);
    let preferred = studio.pdf(page, json!({"prefer_css_page_size": true})).await;
    assert_near(page_size(&preferred), own, "preferred");
    let scaled = studio.pdf(page, json!({"prefer_css_page_size": false})).await;
    assert_near(
        page_size(&scaled),
        (210.0 * POINTS_PER_MM, 297.0 * POINTS_PER_MM),
        "not preferred",
    );
}

#[tokio::test]
async fn page_sizes_that_pdf_a_forbids_are_refused_by_page() {
    let studio = Studio::start().await;
    for page in [
        include_str!("../../../pdf/tests/corpus/page-tiny.html"),
        include_str!("../../../pdf/tests/corpus/page-huge.html"),
    ] {
        let (pointer, detail) = studio.problem(page, json!({"prefer_css_page_size": true})).await;
        assert_eq!(pointer, "/parts/0");
        assert!(detail.contains("age 1"), "{detail}");
        // Scaled to the page size, the page is accepted.
        studio.pdf(page, json!({})).await;
    }
}
