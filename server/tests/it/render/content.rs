//! Sources of content, and the structure that the PDF preserves.

use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    pdf,
    studio::{Studio, header},
};

/// Returns every dictionary of a file.
fn dictionaries(file: &[u8]) -> Vec<Value> {
    let objects = pdf::objects(file);
    let objects = objects["qpdf"][1].as_object().expect("objects").values();
    objects
        .filter_map(|object| object.get("value").or_else(|| object.get("stream")?.get("dict")))
        .cloned()
        .collect()
}

fn catalog(file: &[u8]) -> Value {
    dictionaries(file)
        .into_iter()
        .find(|object| object["/Type"] == "/Catalog")
        .expect("a catalog")
}

#[tokio::test]
async fn tags_links_outline_and_language_are_in_the_document() {
    let studio = Studio::start().await;
    let page = "<!doctype html><html lang=de-CH><title>Bericht</title><meta name=author content='Ann Example'>
        <h1>Erstens</h1><p><a href='https://example.com/a'>out</a> <a href='#z'>in</a><h2>Genauer</h2>
        <table><tr><th>a<td>b</table><h1 id=z style='break-before: page'>Zweitens</h1>";
    for format in ["pdf/a", "pdf"] {
        let file = studio.pdf(page, json!({"output_format": format})).await;
        let catalog = catalog(&file);
        assert_eq!(catalog["/Lang"], "u:de-CH", "{catalog}");
        assert_eq!(catalog["/MarkInfo"]["/Marked"], true, "{catalog}");
        assert!(
            catalog["/StructTreeRoot"].is_string() && catalog["/Outlines"].is_string(),
            "{catalog}"
        );
        let objects = dictionaries(&file);
        let titles: Vec<_> = objects
            .iter()
            .filter(|object| object["/Parent"].is_string() && object["/Dest"] != Value::Null)
            .filter_map(|object| object["/Title"].as_str())
            .collect();
        for heading in ["u:Erstens", "u:Genauer", "u:Zweitens"] {
            assert!(titles.contains(&heading), "{titles:?}");
        }
        let text = Value::from(objects).to_string();
        assert!(text.contains("https://example.com/a"), "the link is missing");
        for tag in ["/H1", "/H2", "/Table", "/TH", "/Link"] {
            assert!(text.contains(&format!("\"/S\":\"{tag}\"")), "no {tag} in {text}");
        }
        let info = pdf::info(&file);
        assert!(info.contains("Bericht") && info.contains("Ann Example"), "{info}");
    }
}

#[tokio::test]
async fn a_page_without_language_gets_none() {
    let studio = Studio::start().await;
    let file = studio.pdf("<p>x", json!({})).await;
    assert_eq!(catalog(&file)["/Lang"], Value::Null);
}

#[tokio::test]
async fn the_language_of_the_request_is_that_of_pages_without_one() {
    let studio = Studio::start().await;
    let languages = |file: &[u8]| {
        let objects = dictionaries(file).into_iter();
        let mut languages: Vec<_> = objects
            .filter_map(|object| object["/Lang"].as_str().map(ToOwned::to_owned))
            .collect();
        languages.sort();
        languages.dedup();
        languages
    };
    let file = studio.pdf("<p>x", json!({"language": "de-DE"})).await;
    assert_eq!(languages(&file), ["u:de-DE"]);
    // Also that of an element in the browser's language.
    let file = studio.pdf("<p>x<p lang=en-US>y", json!({"language": "de-DE"})).await;
    assert_eq!(languages(&file), ["u:de-DE", "u:en-us"]);
    let parts = [
        "<p>x",
        "<html lang=fr><p>y",
        "<html lang=''><p>z",
        "<html lang=en_US><p>q",
    ];
    let body = json!({"parts": parts, "output_encoding": "binary", "language": "de-DE"});
    let file = studio.send(&body).await.bytes().await.expect("a PDF");
    assert_eq!(catalog(&file)["/Lang"], "u:de-DE");
    assert_eq!(languages(&file), ["u:de-DE", "u:fr"]);
    let (pointer, detail) = studio.problem("<p>x", json!({"language": "German, please"})).await;
    assert_eq!(pointer, "/language");
    assert!(detail.contains("such as en or pt-BR"), "{detail}");
}

#[tokio::test]
async fn only_pdf_a_says_that_it_is_pdf_a() {
    let studio = Studio::start().await;
    let claims = |file: &[u8]| file.windows(8).any(|window| window == b"pdfaid:p");
    assert!(claims(&studio.pdf("<p>x", json!({})).await));
    assert!(!claims(&studio.pdf("<p>x", json!({"output_format": "pdf"})).await));
}

#[tokio::test]
async fn web_pages_are_fetched_with_their_redirects_and_style_sheets() {
    let origin = Origin::start().await;
    let studio = Studio::start_with(&[("PLATEN_EGRESS_ALLOW", &origin.authority)]).await;
    let redirect = origin.url(&format!("/redirect/302?to={}", origin.url("/page/Landed")));
    for part in [
        json!(origin.url("/page/Landed")),
        json!({"type": "url", "content": origin.url("/page/Landed")}),
        json!(redirect),
    ] {
        assert_eq!(pdf::text(&studio.pdf(part, json!({})).await).trim(), "Landed");
    }
    let styled = format!("<link rel=stylesheet href={}><h1>Red</h1>", origin.url("/style.css"));
    let answer = studio.render(styled, json!({})).await;
    let render_id = header(&answer, "x-render-id").to_owned();
    let picture = pdf::picture(&answer.bytes().await.unwrap(), 1);
    let red = picture
        .pixels
        .chunks(3)
        .any(|pixel| pixel[0] > 200 && pixel[1] < 60 && pixel[2] < 60);
    assert!(red, "the style sheet was not applied");
    let row = studio.recorded(&render_id).await;
    assert_eq!(row["requests"][0]["url"], origin.url("/style.css"), "{row}");
    assert_eq!(row["requests"][0]["status"], 200, "{row}");
    assert_eq!(row["requests"][0]["type"], "stylesheet", "{row}");
}

#[tokio::test]
async fn html_may_come_structured_empty_or_without_a_tag() {
    let studio = Studio::start().await;
    for (content, text) in [("", ""), ("just words", "just words"), ("<p>ärger öl</p>", "ärger öl")] {
        let file = studio.pdf(json!({"type": "html", "content": content}), json!({})).await;
        assert_eq!(pdf::page_count(&file), 1);
        assert_eq!(pdf::text(&file).trim(), text);
    }
}
