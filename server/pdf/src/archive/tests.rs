//! What completion changes, looked at through the object layer, on documents that Chromium printed.

use std::borrow::Cow;

use time::OffsetDateTime;

use super::content_streams::mend;
use super::missing_glyphs::is_composite;

use crate::content::StreamReader;
use crate::document::Document;
use crate::identifiers::number_identifiers;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::page_tree::list_pages;
use crate::text::decode;
use crate::write::write_document;
use crate::{Completed, OutputFormat, PageFacts, PdfError, complete};

const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");
const GRAPHICS: &[u8] = include_bytes!("../../tests/fixtures/graphics.pdf");
const LANGUAGE: &[u8] = include_bytes!("../../tests/fixtures/language.pdf");
const LINKS: &[u8] = include_bytes!("../../tests/fixtures/links.pdf");
const MISSING_GLYPHS: &[u8] = include_bytes!("../../tests/fixtures/missing-glyphs.pdf");
const NUMBERS: &[u8] = include_bytes!("../../tests/fixtures/numbers.pdf");
const PAGE_HUGE: &[u8] = include_bytes!("../../tests/fixtures/page-huge.pdf");
const TABLE: &[u8] = include_bytes!("../../tests/fixtures/table.pdf");

mod levels;

/// 2026-11-21 12:19:33 UTC.
const INSTANT: i64 = 1_795_263_573;

fn facts() -> PageFacts {
    PageFacts {
        title: Some("  Größe &\n<b>\u{1} ".into()),
        language: Some("en".into()),
        author: Some("A. Uthor".into()),
        description: None,
        keywords: Some(" ".into()),
    }
}

fn completed(printed: &[u8], facts: &PageFacts, format: OutputFormat) -> Completed {
    complete(printed, facts, format, instant()).expect("a document that can be completed")
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

/// Every object of the document with its number.
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
        "<pdfaid:conformance>B</pdfaid:conformance>",
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

/// Found by fuzzing: the page was overwritten, so that there was none.
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
    // Too large for PDF/A only.
    assert!(complete(PAGE_HUGE, &facts(), OutputFormat::Pdf, instant()).is_ok());
}

#[test]
fn untouched_objects_stay_as_they_are() {
    let completed = archived(TABLE);
    assert_eq!(completed.page_count, 2);
    assert_eq!(completed.warnings, []);
    let numbered = number_identifiers(TABLE);
    let (before, after) = (Document::open(&[&numbered]).expect("valid"), open(&completed));
    let root = before.root().expect("a catalog");
    let information = before.trailer().get("Info").and_then(Object::as_reference);
    let structure = catalog(&before).reference("StructTreeRoot");
    let changed = [Some(root), information, structure];
    for number in (1..before.size()).filter(|number| !changed.contains(&Some(*number))) {
        assert_eq!(
            before.object_bytes(number),
            after.object_bytes(number),
            "object {number}"
        );
    }
    let (before, after) = (catalog(&before), catalog(&after));
    for key in ["Pages", "StructTreeRoot", "MarkInfo", "Outlines", "ViewerPreferences"] {
        assert!(before.get(key).is_some(), "{key}");
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
fn unsafe_links_leave_no_trace() {
    let completed = archived(LINKS);
    let messages: Vec<&str> = completed
        .warnings
        .iter()
        .filter(|warning| warning.code == "link_removed")
        .map(|warning| warning.message.as_str())
        .collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    for address in [
        "“file:///etc/passwd”",
        "“javascript:alert(1)”",
        "“https://example.com/?q=aaa",
    ] {
        let found = messages
            .iter()
            .find(|message| message.starts_with("Page 1: ") && message.contains(address));
        assert!(
            found.is_some_and(|message| message.len() < 250),
            "{address} in {messages:?}"
        );
    }
    for forbidden in [
        b"file:".as_slice(),
        b"javascript:",
        b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ] {
        assert!(
            !completed
                .bytes
                .windows(forbidden.len())
                .any(|window| window == forbidden)
        );
    }

    let document = open(&completed);
    let page = list_pages(&document, document.root().expect("a catalog")).expect("pages")[0];
    let page = document.get_dictionary(page, "a page").expect("a page");
    let annotations = page.get("Annots").and_then(Object::as_array).expect("the good links");
    let addresses: Vec<Vec<u8>> = annotations
        .iter()
        .filter_map(|annotation| {
            let annotation = document.resolve(annotation).expect("an annotation");
            let action = document
                .resolve_dictionary(annotation.as_dictionary()?, "A")
                .expect("an action");
            Some(action.get("URI")?.as_string()?.to_vec())
        })
        .collect();
    assert!(addresses.contains(&b"https://example.com/".to_vec()));
    assert!(addresses.contains(&b"mailto:someone@example.com".to_vec()));

    // The structure tree refers to annotations that exist, and the parent tree to nothing else.
    let mut link_elements = 0;
    for (_, object) in objects(&document) {
        let Some(element) = object.as_dictionary().filter(|_| is_type(&object, "StructElem")) else {
            continue;
        };
        let kids = element.get("K").and_then(Object::as_array).unwrap_or_default();
        let references: Vec<&Object> = kids.iter().filter(|kid| is_type(kid, "OBJR")).collect();
        let is_link = element.get("S").is_some_and(|kind| kind.is_name("Link"));
        assert_eq!(is_link, !references.is_empty());
        link_elements += usize::from(is_link);
        for reference in references {
            let target = reference
                .as_dictionary()
                .and_then(|reference| reference.get("Obj"))
                .expect("a target");
            assert!(annotations.contains(target), "{target:?}");
        }
    }
    assert_eq!(link_elements, 3);
    let structure = document
        .resolve_dictionary(&catalog(&document), "StructTreeRoot")
        .expect("a structure tree");
    let tree = document
        .resolve_dictionary(&structure, "ParentTree")
        .expect("a parent tree");
    // The page and the annotations.
    assert_eq!(
        tree.get("Nums").and_then(Object::as_array).map(<[_]>::len),
        Some(2 * (1 + annotations.len()))
    );
}

#[test]
fn long_destination_names_are_shortened_alike_everywhere() {
    let completed = archived(LINKS);
    assert!(codes(&completed).contains(&"name_shortened"));
    let document = open(&completed);
    let destinations = document
        .resolve_dictionary(&catalog(&document), "Dests")
        .expect("destinations");
    let names: Vec<&[u8]> = destinations.entries.iter().map(|(name, _)| name.as_ref()).collect();
    assert!(names.iter().all(|name| name.len() <= 127));
    let targets: Vec<Object> = objects(&document)
        .into_iter()
        .filter(|(_, object)| is_type(object, "Annot"))
        .filter_map(|(_, object)| object.as_dictionary()?.get("Dest").cloned())
        .collect();
    assert!(!targets.is_empty());
    for target in targets {
        assert!(
            matches!(&target, Object::Name(name) if names.contains(&name.as_ref())),
            "{target:?}"
        );
    }
}

#[test]
fn missing_glyphs_are_drawn_by_a_stand_in() {
    let completed = archived(MISSING_GLYPHS);
    assert_eq!(codes(&completed), ["missing_glyph"]);
    let message = &completed.warnings[0].message;
    for expected in ["page 1", "U+E124", "U+E125", "U+E126"] {
        assert!(message.contains(expected), "{expected} in {message}");
    }

    let document = open(&completed);
    let mut users = 0;
    for (number, object) in objects(&document) {
        let Some(dictionary) = object.as_dictionary() else {
            continue;
        };
        let resources = document.resolve_dictionary(dictionary, "Resources").expect("resources");
        let fonts = document.resolve_dictionary(&resources, "Font").expect("fonts");
        let content = if is_type(&object, "Page") {
            dictionary.get("Contents").cloned()
        } else {
            Some(object.clone())
        };
        let Some(content) = content.filter(|_| !fonts.entries.is_empty()) else {
            continue;
        };
        let content = data(&document, &content);
        let composite_fonts = fonts.entries.iter().filter_map(|(name, font)| {
            let number = font.as_reference().expect("a reference");
            let is_composite = is_composite(&document, number).expect("a font");
            is_composite.then(|| (name.to_vec(), number))
        });
        let left = mend(&content, &composite_fonts.collect()).expect("valid");
        assert!(left.is_none(), "object {number}");
        for (name, font) in fonts
            .entries
            .iter()
            .filter(|(name, _)| name.starts_with(b"PlatenMissing"))
        {
            users += 1;
            let used = [b"/".as_slice(), name, b" "].concat();
            assert!(
                content.windows(used.len()).any(|window| window == used),
                "object {number}"
            );
            let font = document.resolve(font).expect("a font");
            let font = font.as_dictionary().expect("a font");
            let procedures = document.resolve_dictionary(font, "CharProcs").expect("procedures");
            let procedure = String::from_utf8(data(&document, procedures.get("missing").expect("a procedure")));
            let procedure = procedure.expect("ASCII");
            // Liberation Serif's box: an outer and an inner rectangle.
            let width = font
                .get("Widths")
                .and_then(Object::as_array)
                .and_then(|widths| widths[0].as_number());
            assert!(
                procedure.starts_with(&format!("{} 0 ", width.expect("a width"))),
                "{procedure}"
            );
            assert_eq!(procedure.matches(" m\n").count(), 2, "{procedure}");
            assert!(procedure.ends_with("h\nf\n"), "{procedure}");
        }
    }
    // The page, and the form XObject of the half-transparent paragraph.
    assert_eq!(users, 2);
}

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
    let printed = write_document(document, trailer).expect("valid");

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
            page: 1,
            width: 28_800.0,
            height: 28_800.0
        }
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
    let printed = write_document(document, trailer).expect("a file");

    let error = complete(&printed, &facts(), OutputFormat::PdfA2b, instant()).expect_err("a form to fill in");
    assert!(error.to_string().contains("/AcroForm"), "{error}");
    assert_eq!(completed(&printed, &facts(), OutputFormat::Pdf).conformance, None);
    assert_eq!(
        archived(EMPTY)
            .conformance
            .map(|conformance| conformance.to_string())
            .as_deref(),
        Some("PDF/A-2b")
    );
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
    // Another document, of the same moment, has another identifier.
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
    // In a browser that counts from elsewhere the two header cells have other names.
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
            let once = completed(printed, &facts(), format);
            let twice = completed(&once.bytes, &facts(), format);
            assert!(once.bytes == twice.bytes);
            assert_eq!(codes(&twice), Vec::<&str>::new());
        }
    }
}
