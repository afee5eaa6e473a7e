//! Changes made by completion, checked at the object level, for documents that Chromium printed.

use std::borrow::Cow;

use time::OffsetDateTime;

use super::content_streams::repair;
use super::missing_glyphs::is_composite;

use crate::check::standards::Conformance;
use crate::content::StreamReader;
use crate::document::Document;
use crate::identifiers::number_identifiers;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::object_streams::tests::in_the_open;
use crate::page_tree::list_pages;
use crate::text::decode;
use crate::written_file::write_document;
use crate::{Completed, OutputFormat, PageFacts, PdfError, complete};

const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");
const GRAPHICS: &[u8] = include_bytes!("../../tests/fixtures/graphics.pdf");
const ICONS: &[u8] = include_bytes!("../../tests/fixtures/icons.pdf");
const LANGUAGE: &[u8] = include_bytes!("../../tests/fixtures/language.pdf");
const LINKS: &[u8] = include_bytes!("../../tests/fixtures/links.pdf");
const MISSING_GLYPHS: &[u8] = include_bytes!("../../tests/fixtures/missing-glyphs.pdf");
const NUMBERS: &[u8] = include_bytes!("../../tests/fixtures/numbers.pdf");
const PAGE_HUGE: &[u8] = include_bytes!("../../tests/fixtures/page-huge.pdf");
const TABLE: &[u8] = include_bytes!("../../tests/fixtures/table.pdf");

mod icons;
mod levels;
mod limits;
mod links;
mod missing_glyphs;

/// 2026-11-21 12:19:33 UTC.
const INSTANT: i64 = 1_795_263_573;

fn facts() -> PageFacts {
    PageFacts {
        title: Some("  Größe &\n<b>\u{1} ".into()),
        language: Some("en".into()),
        fallback_language: None,
        author: Some("A. Uthor".into()),
        description: None,
        keywords: Some(" ".into()),
        has_running_text: false,
    }
}

fn completed(printed: &[u8], facts: &PageFacts, format: OutputFormat) -> Completed {
    in_the_open(complete(printed, facts, format, instant()).expect("a document that can be completed"))
}

fn instant() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(INSTANT).expect("in range")
}

fn archived(printed: &[u8]) -> Completed {
    completed(printed, &facts(), OutputFormat::PdfA2b)
}

fn codes(completed: &Completed) -> Vec<&'static str> {
    completed.warnings.iter().map(|warning| warning.code).collect()
}

fn open(completed: &Completed) -> Document<'_> {
    Document::open(&[&completed.bytes]).expect("a file that is whole")
}

fn catalog<'a>(document: &Document<'a>) -> Dictionary<'a> {
    document
        .get_dictionary(document.root().expect("a catalog"), "a catalog")
        .expect("a catalog")
}

/// Returns every object of the document with its number.
fn objects<'a>(document: &Document<'a>) -> Vec<(ObjectNumber, Object<'a>)> {
    (1..document.size())
        .map(|number| (number, document.get(number).expect("an object")))
        .collect()
}

fn is_type(object: &Object, kind: &str) -> bool {
    let found = object.as_dictionary().and_then(|dictionary| dictionary.get("Type"));
    found.is_some_and(|found| found.is_name(kind))
}

fn data(document: &Document, object: &Object) -> Vec<u8> {
    let Object::Stream(stream) = document.resolve(object).expect("an object") else {
        panic!("not a stream")
    };
    let mut data = Vec::new();
    StreamReader::default().read(&stream, &mut data).expect("readable");
    data
}

fn metadata(completed: &Completed) -> String {
    let document = open(completed);
    let metadata = data(&document, catalog(&document).get("Metadata").expect("metadata"));
    String::from_utf8(metadata).expect("UTF-8")
}

fn information(completed: &Completed) -> Vec<(String, String)> {
    let document = open(completed);
    let information = document
        .resolve_dictionary(&document.trailer(), "Info")
        .expect("document information");
    let text = |value: &Object| decode(value.as_string().expect("text"));
    information
        .entries
        .iter()
        .map(|(key, value)| (String::from_utf8_lossy(key).into(), text(value)))
        .collect()
}

#[test]
fn metadata_and_document_information_say_the_same() {
    let completed = archived(EMPTY);
    let expected = [
        ("Title", "Größe & <b>"),
        ("Author", "A. Uthor"),
        ("Creator", "Chromium"),
        ("Producer", "Platen"),
        ("CreationDate", "D:20261121121933+00'00'"),
        ("ModDate", "D:20261121121933+00'00'"),
    ];
    assert_eq!(
        information(&completed),
        expected.map(|(key, text)| (key.to_owned(), text.to_owned()))
    );
    let metadata = metadata(&completed);
    for line in [
        "<pdfaid:part>2</pdfaid:part>",
        "<pdfaid:conformance>A</pdfaid:conformance>",
        "<pdfuaid:part>1</pdfuaid:part>",
        "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Größe &amp; &lt;b&gt;</rdf:li></rdf:Alt></dc:title>",
        "<dc:creator><rdf:Seq><rdf:li>A. Uthor</rdf:li></rdf:Seq></dc:creator>",
        "<dc:language><rdf:Bag><rdf:li>en</rdf:li></rdf:Bag></dc:language>",
        "<xmp:CreateDate>2026-11-21T12:19:33Z</xmp:CreateDate>",
        "<pdf:Producer>Platen</pdf:Producer>",
    ] {
        assert!(metadata.contains(line), "{line} in {metadata}");
    }
    assert!(!metadata.contains("Keywords"));
}

/// Found by fuzzing: the page was overwritten, so that the document had none.
#[test]
fn document_information_takes_no_other_objects_place() {
    let mut bytes = EMPTY.to_vec();
    let at = EMPTY
        .windows(11)
        .position(|window| window == b"/Info 1 0 R")
        .expect("information");
    bytes[at + 6] = b'2';
    let once = completed(&bytes, &facts(), OutputFormat::Pdf);
    let twice = completed(&once.bytes, &facts(), OutputFormat::Pdf);
    assert_eq!((once.page_count, twice.page_count), (1, 1));
    assert_eq!(
        information(&once),
        information(&completed(EMPTY, &facts(), OutputFormat::Pdf))
    );
}

#[test]
fn archive_has_an_identifier_and_an_output_intent() {
    let completed = archived(EMPTY);
    assert!(completed.bytes.starts_with(b"%PDF-1.7\n"));
    let document = open(&completed);
    let trailer = document.trailer();
    let identifiers = trailer.get("ID").and_then(Object::as_array).expect("an identifier");
    assert_eq!(identifiers[0], identifiers[1]);
    assert_eq!(identifiers[0].as_string().map(<[u8]>::len), Some(16));
    let intents = catalog(&document)
        .get("OutputIntents")
        .cloned()
        .expect("an output intent");
    let intent = intents
        .as_array()
        .and_then(|intents| intents[0].as_dictionary())
        .expect("an output intent");
    assert!(intent.get("S").is_some_and(|kind| kind.is_name("GTS_PDFA1")));
    assert_eq!(
        data(&document, intent.get("DestOutputProfile").expect("a profile")).len(),
        516
    );
}

#[test]
fn plain_pdf_gets_metadata_and_the_link_filter_only() {
    let completed = completed(LINKS, &facts(), OutputFormat::Pdf);
    assert!(!metadata(&completed).contains("pdfaid:part"));
    let document = open(&completed);
    assert!(catalog(&document).get("OutputIntents").is_none());
    assert!(!completed.bytes.windows(5).any(|window| window == b"file:"));
    // The page is too large only for PDF/A.
    assert!(complete(PAGE_HUGE, &facts(), OutputFormat::Pdf, instant()).is_ok());
}

#[test]
fn untouched_objects_stay_as_they_are() {
    let completed = archived(TABLE);
    assert_eq!(completed.page_count, 2);
    assert_eq!(completed.warnings, []);
    let mut numbered = TABLE.into();
    number_identifiers(&mut numbered);
    let (before, after) = (Document::open(&[&numbered]).expect("valid"), open(&completed));
    let plain = self::completed(TABLE, &facts(), OutputFormat::Pdf);
    let plain = open(&plain);
    let root = before.root().expect("a catalog");
    let information = before.trailer().get("Info").and_then(Object::as_reference);
    let changed = [Some(root), information, catalog(&before).reference("StructTreeRoot")];
    // Objects have other numbers, because elements are merged.
    let unnumbered = |(_, mut object): (ObjectNumber, Object)| {
        object.renumber(&|_| 1);
        format!("{object:?}")
    };
    let kept: Vec<String> = objects(&after).into_iter().map(unnumbered).collect();
    let is_merged = |object: &Object| {
        let kind = object.as_dictionary().and_then(|element| element.get("S"));
        let kinds = ["NonStruct", "H1", "H2", "P", "TH", "TD"];
        is_type(object, "StructElem") && kinds.iter().any(|merged| kind.is_some_and(|kind| kind.is_name(merged)))
    };
    for (number, object) in objects(&before) {
        if !changed.contains(&Some(number)) {
            assert_eq!(
                before.object_bytes(number),
                plain.object_bytes(number),
                "object {number}"
            );
        }
        if !is_merged(&object) && !changed.contains(&Some(number)) {
            assert!(kept.contains(&unnumbered((number, object))), "object {number}");
        }
    }
    let (before, after) = (catalog(&before), catalog(&after));
    for key in ["Pages", "StructTreeRoot", "MarkInfo", "Outlines", "ViewerPreferences"] {
        assert!(before.get(key).is_some() && after.get(key).is_some(), "{key}");
    }
    for key in ["MarkInfo", "ViewerPreferences"] {
        assert_eq!(before.get(key), after.get(key), "{key}");
    }
}

#[test]
fn language_of_the_browser_is_taken_out() {
    let silent = PageFacts {
        language: None,
        ..facts()
    };
    let archive = completed(LANGUAGE, &silent, OutputFormat::PdfA2b);
    let of_document = |completed: &Completed| {
        let languages = objects(&open(completed)).into_iter().filter_map(|(_, object)| {
            let language = object.as_dictionary()?.get("Lang")?.as_string()?.to_vec();
            Some(String::from_utf8_lossy(&language).into_owned())
        });
        languages.collect::<Vec<_>>()
    };
    assert_eq!(of_document(&archive), ["fr"]);
    assert_eq!(codes(&archive), ["language_invalid"]);
    assert!(!metadata(&archive).contains("dc:language"));

    let wrong = PageFacts {
        language: Some("english (UK)".into()),
        ..facts()
    };
    let plain = completed(LANGUAGE, &wrong, OutputFormat::Pdf);
    assert_eq!(codes(&plain), ["language_invalid"]);
    assert!(plain.warnings[0].message.contains("english (UK)"));
    assert!(catalog(&open(&plain)).get("Lang").is_none());

    let replaced = PageFacts {
        fallback_language: Some("de".into()),
        ..wrong
    };
    let plain = completed(LANGUAGE, &replaced, OutputFormat::Pdf);
    assert_eq!(codes(&plain), ["language_invalid"]);
    assert!(of_document(&plain).contains(&"de".to_owned()));

    let right = PageFacts {
        language: Some(" de ".into()),
        ..facts()
    };
    let plain = completed(LANGUAGE, &right, OutputFormat::Pdf);
    assert_eq!(
        catalog(&open(&plain)).get("Lang"),
        Some(&Object::String(Cow::Borrowed(b"de")))
    );
}

#[test]
fn what_is_not_known_to_conform_is_not_called_an_archive() {
    let mut document = Document::open(&[EMPTY]).expect("valid");
    let form = Object::Dictionary(Dictionary::default());
    document
        .change_catalog(|catalog| catalog.set("AcroForm", form))
        .expect("a catalog");
    let trailer = document.trailer();
    let printed = write_document(document, &[], trailer).expect("a file").bytes;

    let error = complete(&printed, &facts(), OutputFormat::PdfA2b, instant()).expect_err("a form to fill in");
    assert!(error.to_string().contains("/AcroForm"), "{error}");
    assert_eq!(completed(&printed, &facts(), OutputFormat::Pdf).conformance, []);
    assert_eq!(Conformance::list(&archived(EMPTY).conformance), "PDF/A-2a, PDF/UA-1");
}

#[test]
fn the_moment_of_printing_leaves_no_trace() {
    let at = LINKS
        .windows(14)
        .position(|window| window == b"/CreationDate ")
        .expect("a date")
        + b"/CreationDate (D:".len();
    let mut later = LINKS.to_vec();
    later[at..at + 4].copy_from_slice(b"2031");
    assert!(archived(LINKS).bytes == archived(&later).bytes);
    // Another document of the same instant has another identifier.
    let identifier = |completed: &Completed| {
        open(completed)
            .trailer()
            .get("ID")
            .map(|identifier| format!("{identifier:?}"))
    };
    assert_ne!(identifier(&archived(LINKS)), identifier(&archived(LANGUAGE)));
}

#[test]
fn what_was_printed_before_leaves_no_trace() {
    // In a browser whose count has advanced, the two header cells have other identifiers.
    let mut later = TABLE.to_vec();
    for at in 0..later.len() - b"(node00000040)".len() {
        if later[at..].starts_with(b"(node0000004") {
            later[at + 5..at + 10].copy_from_slice(b"00713");
        }
    }
    assert!(later != TABLE);
    assert!(archived(TABLE).bytes == archived(&later).bytes);
}

#[test]
fn completing_again_changes_nothing() {
    for printed in [EMPTY, GRAPHICS, LANGUAGE, LINKS, MISSING_GLYPHS, NUMBERS, TABLE] {
        for format in [OutputFormat::PdfA2b, OutputFormat::Pdf] {
            let mut once = completed(printed, &facts(), format);
            let mut twice = completed(&once.bytes, &facts(), format);
            if printed == LANGUAGE && format == OutputFormat::PdfA2b {
                // An element that was repaired is merged only by the next completion.
                let count = |completed: &Completed| objects(&open(completed)).len();
                assert_eq!(count(&twice), count(&once) - 1);
                once = twice;
                twice = completed(&once.bytes, &facts(), format);
            }
            assert!(once.bytes == twice.bytes);
            assert_eq!(codes(&twice), Vec::<&str>::new());
        }
    }
}
