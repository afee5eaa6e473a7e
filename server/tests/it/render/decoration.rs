//! Backgrounds, media types, headers and footers.

use serde_json::{Value, json};

use crate::support::{origin::Origin, pdf, studio::Studio};

fn margins() -> Value {
    json!({"top": 30, "right": 0, "bottom": 30, "left": 0})
}

#[tokio::test]
async fn backgrounds_are_printed_unless_they_are_switched_off() {
    let studio = Studio::start().await;
    let page = "<style>html { background: rgb(200, 30, 40) }</style><p>x";
    // The lower right corner: without margins, the background extends to every edge.
    let colour = async |options: Value| {
        let picture = pdf::picture(&studio.pdf(page, options).await, 1);
        picture.colour(picture.width - 2, picture.height - 2)
    };
    assert_eq!(colour(json!({})).await, [200, 30, 40]);
    assert_eq!(colour(json!({"include_backgrounds": true})).await, [200, 30, 40]);
    assert_eq!(colour(json!({"include_backgrounds": false})).await, [255, 255, 255]);
}

#[tokio::test]
async fn style_sheets_see_the_media_type_that_was_asked_for() {
    let studio = Studio::start().await;
    let page = "<style>@media screen { .print { display: none } } @media print { .screen { display: none } }</style>
        <p class=screen>Glass</p><p class=print>Paper</p>";
    for (options, shown, hidden) in [
        (json!({}), "Paper", "Glass"),
        (json!({"emulate_media_type": "print"}), "Paper", "Glass"),
        (json!({"emulate_media_type": "screen"}), "Glass", "Paper"),
    ] {
        let text = pdf::text(&studio.pdf(page, options).await);
        assert!(text.contains(shown) && !text.contains(hidden), "{text}");
    }
}

#[tokio::test]
async fn headers_and_footers_are_filled_on_every_page() {
    let studio = Studio::start().await;
    let page = "<title>Annual report</title><p>one<p style='break-before: page'>two";
    let options = json!({
        "margin": margins(),
        "render_header_footer": true,
        "header_template": "<span class=title></span>, <span class=date></span>, [<span class=url></span>]",
        "footer_template": "<p>Page <span class=pageNumber></span> of <span class=totalPages></span></p>",
    });
    let file = studio.pdf(page, options).await;
    let text = pdf::text(&file);
    let pages: Vec<_> = text.split('\u{c}').collect();
    let year = time::OffsetDateTime::now_utc().year().to_string();
    for (number, page) in [(1, pages[0]), (2, pages[1])] {
        assert!(page.contains("Annual report, "), "{page}");
        assert!(page.contains("[]"), "an HTML part has no address: {page}");
        assert!(page.contains(&year), "{page}");
        assert!(page.contains(&format!("Page {number} of 2")), "{page}");
    }
    // Readable without an explicit font size, and within the margins.
    let words = pdf::words(&file);
    let side = |line: &str, name: &str| {
        line.split(&format!("{name}=\""))
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    let header = words.lines().find(|line| line.contains(">Annual<")).unwrap();
    assert!(side(header, "yMax") < 85.0, "{header}");
    assert!(side(header, "yMax") - side(header, "yMin") > 6.0, "{header}");
    let footer = words.lines().find(|line| line.contains(">Page<")).unwrap();
    assert!(side(footer, "yMin") > 842.0 - 85.0, "{footer}");
}

#[tokio::test]
async fn the_address_of_a_url_part_is_in_its_header() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let options = json!({
        "margin": margins(),
        "render_header_footer": true,
        "header_template": "<p style='font-size: 8px'><span class=url></span> <span class=title></span></p>",
    });
    let text = pdf::text(&studio.pdf(origin.url("/page/Report"), options).await);
    assert!(
        text.contains(&format!("{} Report", origin.url("/page/Report"))),
        "{text}"
    );
}

#[tokio::test]
async fn a_header_alone_brings_no_footer_and_needs_its_switch() {
    let studio = Studio::start().await;
    let page = "<title>Annual report</title><p>body";
    let text = async |options: Value| pdf::text(&studio.pdf(page, options).await);
    let header = json!({"margin": margins(), "render_header_footer": true, "header_template": "<p>Only</p>"});
    let words: Vec<String> = text(header).await.split_whitespace().map(ToOwned::to_owned).collect();
    assert_eq!(words, ["Only", "body"]);
    let footer = json!({"margin": margins(), "render_header_footer": true, "footer_template": "<p>Only</p>"});
    let words: Vec<String> = text(footer).await.split_whitespace().map(ToOwned::to_owned).collect();
    assert_eq!(words, ["body", "Only"]);
    let unswitched = json!({"margin": margins(), "header_template": "<p>Only</p>"});
    assert!(!text(unswitched).await.contains("Only"));
    let nothing = json!({"margin": margins(), "render_header_footer": true});
    assert_eq!(text(nothing).await.split_whitespace().collect::<Vec<_>>(), ["body"]);
}
