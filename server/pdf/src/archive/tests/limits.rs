//! Numbers, texts and page sizes beyond the limits of PDF/A.

use super::*;

#[test]
fn numbers_out_of_range_are_limited() {
    let completed = archived(NUMBERS);
    assert_eq!(codes(&completed), ["number_limited"]);
    let document = open(&completed);
    let page = list_pages(&document, document.root().expect("a catalog")).expect("pages")[0];
    let page = document.get_dictionary(page, "a page").expect("a page");
    let content: Vec<u8> = page
        .items("Contents")
        .iter()
        .flat_map(|content| data(&document, content))
        .collect();
    let content = String::from_utf8(content).expect("ASCII");
    for word in content.split_ascii_whitespace() {
        let value = word.parse::<f64>().unwrap_or_default();
        assert!(value == 0.0 || value.abs() > 1.175e-38, "{word}");
    }
}

#[test]
fn long_texts_are_cut_with_a_warning() {
    let mut document = Document::open(&[EMPTY]).expect("valid");
    let title = Object::String(Cow::Owned(crate::text::encode(&"é".repeat(20_000))));
    let outline = document.add(Object::Dictionary(Dictionary::new([("Title", title)])));
    let trailer = document.trailer();
    let printed = write_document(document, &[], trailer).expect("valid").bytes;

    let facts = PageFacts {
        title: Some("a".repeat(40_000)),
        ..facts()
    };
    let completed = completed(&printed, &facts, OutputFormat::PdfA2b);
    assert_eq!(codes(&completed), ["text_shortened", "text_shortened"]);
    let document = open(&completed);
    let outline = document.get_dictionary(outline, "an outline").expect("an outline");
    let title = outline.get("Title").and_then(Object::as_string).map(decode);
    assert_eq!(title.as_deref(), Some("é".repeat(16_382).as_str()));
    let title = information(&completed)
        .into_iter()
        .find(|(key, _)| key == "Title")
        .map(|(_, title)| title);
    assert_eq!(title.map(|title| title.len()), Some(32_767));
}

#[test]
fn page_that_pdf_a_forbids_is_named() {
    let error = complete(PAGE_HUGE, &facts(), OutputFormat::PdfA2b, instant()).expect_err("too large");
    assert_eq!(
        error,
        PdfError::PageSize {
            part: 0,
            page: 1,
            width: 28_800.0,
            height: 28_800.0
        }
    );
}
