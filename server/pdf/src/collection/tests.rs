//! Collections, checked at the object level, for documents that Chromium printed.

use time::OffsetDateTime;

use super::{Collection, MAX_PAGES, memory_of};
use crate::assemble::tests::documents::*;
use crate::check::examine;
use crate::check::standards::Conformance;
use crate::check::tests::verapdf;
use crate::object::Object;
use crate::text::decode;
use crate::{Assembly, OutputFormat, PageFacts, PdfError, complete, unpack};

const LINKS: &[u8] = include_bytes!("../../tests/fixtures/links.pdf");
const TABLE: &[u8] = include_bytes!("../../tests/fixtures/table.pdf");

/// Completes a printed document, with a title and a language unless it is the note.
fn completed(printed: &[u8], title: Option<&str>, format: OutputFormat) -> Vec<u8> {
    let facts = PageFacts {
        title: title.map(Into::into),
        language: title.map(|_| "en".into()),
        ..PageFacts::default()
    };
    let completed = complete(printed, &facts, format, OffsetDateTime::UNIX_EPOCH);
    completed.expect("a document that can be completed").bytes
}

fn archived(printed: &[u8], title: &str) -> Vec<u8> {
    completed(printed, Some(title), OutputFormat::PdfA2b)
}

/// Documents with links, outlines and tables; the note has no title.
fn documents() -> Vec<Vec<u8>> {
    vec![
        archived(REPORT, "Report"),
        archived(LETTER, "Lettre"),
        completed(NOTE, None, OutputFormat::PdfA2b),
        archived(LINKS, "Links"),
        archived(TABLE, "Table"),
        archived(REPORT, "Report"),
    ]
}

/// Returns the collection of documents, and the lengths of its pieces.
fn collected(documents: &[Vec<u8>]) -> (Vec<u8>, Vec<usize>) {
    let mut collection = Collection::new("All of them", OffsetDateTime::UNIX_EPOCH);
    let mut pieces = Vec::new();
    for (number, document) in (1..).zip(documents) {
        let piece = collection.add(document, &format!("Row {number}"));
        pieces.push(piece.expect("a document as we complete it"));
    }
    pieces.push(collection.finish().expect("a small file"));
    (pieces.concat(), pieces.iter().map(Vec::len).collect())
}

fn open_collection(documents: &[Vec<u8>]) -> Vec<u8> {
    unpack(&collected(documents).0).expect("packed as we do").into_owned()
}

fn unpacked(documents: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let unpack = |document: &Vec<u8>| unpack(document).expect("packed as we do").into_owned();
    documents.iter().map(unpack).collect()
}

#[test]
fn pages_links_and_tags_are_those_of_the_documents() {
    let documents = documents();
    let bytes = open_collection(&documents);
    let collection = open(&bytes);
    check_references(&collection);
    let (mut drawn, mut links, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    for document in &unpacked(&documents) {
        let document = open(document);
        let first = drawn.len();
        let moved = |(page, target, place)| (page + first, target + first, place);
        links.extend(inner_links(&document).into_iter().map(moved));
        drawn.extend(contents(&document));
        kinds.extend(elements(&document).iter().map(|element| name(element, "S")));
    }
    assert!(contents(&collection) == drawn);
    assert!(links.len() > 3);
    assert_eq!(inner_links(&collection), links);
    let found: Vec<String> = elements(&collection).iter().map(|element| name(element, "S")).collect();
    let expected = kinds
        .into_iter()
        .map(|kind| if kind == "Document" { "Part".into() } else { kind });
    assert_eq!(
        found,
        ["Document".to_owned()].into_iter().chain(expected).collect::<Vec<_>>()
    );
    let parts = elements(&collection)
        .into_iter()
        .filter(|element| name(element, "S") == "Part");
    let titles: Vec<String> = parts.map(|part| name(&part, "T")).collect();
    assert_eq!(titles, ["Report", "Lettre", "", "Links", "Table", "Report"]);
}

#[test]
fn outline_has_an_entry_for_each_document() {
    let documents = &documents()[..3];
    let bytes = open_collection(documents);
    assert_eq!(
        outline(&open(&bytes)),
        [
            outline_entry(0, "Report", 0),
            outline_entry(1, "Summary", 0),
            outline_entry(2, "Table", 1),
            outline_entry(3, "Notes", 2),
            outline_entry(2, "End", 3),
            outline_entry(0, "Lettre", 4),
            outline_entry(1, "Summary", 4),
            outline_entry(2, "End", 5),
            outline_entry(0, "Row 3", 6),
        ]
    );
}

#[test]
fn file_declares_what_all_documents_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut files = Vec::new();
    let letter = archived(LETTER, "Letter");
    let documents = documents();
    let accessible = vec![letter.clone(), letter.clone()];
    for (index, documents) in [accessible, vec![letter.clone(), documents[2].clone()], documents]
        .iter()
        .enumerate()
    {
        let (bytes, _) = collected(documents);
        let declared = |document: &Vec<u8>| examine(document).expect("a document that conforms").declared;
        let by_document: Vec<Vec<Conformance>> = documents.iter().map(declared).collect();
        let lowest = by_document.iter().map(|standards| standards[0]).min();
        let is_accessible = by_document
            .iter()
            .all(|standards| standards.contains(&Conformance::PdfUa1));
        let expected = lowest.into_iter().chain(is_accessible.then_some(Conformance::PdfUa1));
        assert_eq!(declared(&bytes), expected.collect::<Vec<_>>(), "collection {index}");
        let file = folder.path().join(format!("{index}.pdf"));
        std::fs::write(&file, &bytes).expect("written");
        files.push(file);
    }
    let first = &std::fs::read(&files[0]).expect("read");
    assert_eq!(
        examine(first).expect("conforms").declared,
        [Conformance::PdfA2a, Conformance::PdfUa1]
    );
    for (flavour, files) in [("2b", &files[..]), ("2a", &files[..1]), ("ua1", &files[..1])] {
        for (file, refusals) in verapdf::refusals(flavour, files) {
            assert!(refusals.is_empty(), "{flavour}, {}: {refusals:?}", file.display());
        }
    }
}

#[test]
fn headings_without_a_level_are_accessible_in_a_single_document_only() {
    let edited = |from: &[u8], to: &[u8], bytes: &[u8]| {
        let start = memchr::memmem::find(bytes, from).expect("an element");
        [&bytes[..start], to, &bytes[start + from.len()..]].concat()
    };
    let printed = edited(b"/S /H1", b"/S /H ", &edited(b"/S /H2", b"/S /P ", LETTER));
    let letter = archived(&printed, "Letter");
    let declared = |documents: &[Vec<u8>]| {
        examine(&collected(documents).0)
            .expect("a document that conforms")
            .declared
    };
    let accessible = [Conformance::PdfA2a, Conformance::PdfUa1];
    assert_eq!(declared(std::slice::from_ref(&letter)), accessible);
    assert_eq!(declared(&[letter.clone(), letter.clone()]), accessible[..1]);
    assert_eq!(declared(&[archived(LETTER, "Letter"), letter]), accessible[..1]);
}

#[test]
fn documents_without_a_language_get_none_of_another() {
    let note = || completed(NOTE, None, OutputFormat::PdfA2b);
    let letter = || archived(LETTER, "Letter");
    for (documents, expected) in [
        (vec![letter(), letter()], Some("en")),
        (vec![letter(), note(), letter()], None),
        (vec![note(), letter()], None),
    ] {
        let bytes = open_collection(&documents);
        let language = catalog(&open(&bytes))
            .get("Lang")
            .and_then(Object::as_string)
            .map(decode);
        assert_eq!(language.as_deref(), expected);
    }
}

#[test]
fn one_plain_document_makes_the_file_plain() {
    let mut documents = documents();
    documents.insert(1, completed(REPORT, Some("Plain"), OutputFormat::Pdf));
    let bytes = open_collection(&documents);
    let collection = open(&bytes);
    check_references(&collection);
    elements(&collection);
    assert_eq!(outline(&collection).iter().filter(|(depth, ..)| *depth == 0).count(), 7);
    assert_eq!(catalog(&collection).get("OutputIntents"), None);
    assert!(!String::from_utf8_lossy(&bytes).contains("pdfaid:part"));
}

#[test]
fn documents_without_tags_are_collected() {
    let documents = vec![completed(COLUMN, Some("Column"), OutputFormat::Pdf); 2];
    let bytes = open_collection(&documents);
    let collection = open(&bytes);
    check_references(&collection);
    assert_eq!(catalog(&collection).get("StructTreeRoot"), None);
    assert_eq!(pages(&collection).len(), 2);
}

#[test]
fn equal_fonts_and_pictures_are_written_once() {
    let documents = vec![archived(REPORT, "Report"); 3];
    let count = |bytes: &[u8], key: &str| memchr::memmem::find_iter(bytes, key).count();
    let (once, thrice) = (open_collection(&documents[..1]), open_collection(&documents));
    for key in ["/FontFile2 ", "/Subtype /Image"] {
        assert!(count(&once, key) > 0, "{key}");
        assert_eq!(count(&thrice, key), count(&once, key), "{key}");
    }
    // The first piece contains them.
    let (_, lengths) = collected(&documents);
    assert!(lengths[1] < lengths[0] / 2, "{lengths:?}");
}

/// Neither time nor memory depends on the number of documents that were added before.
#[test]
fn each_document_costs_the_same() {
    let document = archived(LETTER, "Letter");
    let mut collection = Collection::new("Letters", OffsetDateTime::UNIX_EPOCH);
    let mut costs = Vec::new();
    for _ in 0..300 {
        let former = collection.memory();
        let piece = collection.add(&document, "Row").expect("a small file");
        costs.push((piece.len(), collection.memory() - former));
    }
    let (length, memory) = costs[1];
    for (later_length, later_memory) in &costs[2..] {
        // Numbers of objects have more digits.
        assert!(
            later_length.abs_diff(length) < length / 20,
            "{later_length} bytes instead of {length}"
        );
        assert!(
            later_memory.abs_diff(memory) < 100,
            "{later_memory} bytes instead of {memory}"
        );
    }
    assert!(memory < document.len());
    assert!(memory_of(&document).expect("valid") > document.len());
    assert!(collection.finish().is_ok());
}

#[test]
fn many_documents_make_trees_of_several_levels() {
    let documents = vec![completed(NOTE, None, OutputFormat::PdfA2b); 250];
    let (bytes, _) = collected(&documents);
    assert!(examine(&bytes).is_ok());
    let bytes = unpack(&bytes).expect("packed as we do");
    let collection = open(&bytes);
    check_references(&collection);
    elements(&collection);
    assert_eq!(pages(&collection).len(), 250);
    let tree = collection.resolve_dictionary(&catalog(&collection), "Pages");
    let tree = tree.expect("a page tree");
    assert_eq!(tree.get("Kids").and_then(Object::as_array).map(<[_]>::len), Some(3));
}

#[test]
fn pages_are_limited() {
    let mut assembly = three_parts();
    assembly.parts = vec![assembly.parts[2].clone(); 1_000];
    let large = assembled(&Assembly {
        format: OutputFormat::Pdf,
        ..assembly
    });
    let mut collection = Collection::new("Notes", OffsetDateTime::UNIX_EPOCH);
    let limit = usize::from(MAX_PAGES);
    for _ in 0..limit / large.page_count {
        assert!(collection.add(&large.bytes, "Row").is_ok());
    }
    let error = PdfError::TooLarge {
        what: "pages",
        found: limit + 1,
        limit,
    };
    let note = completed(NOTE, None, OutputFormat::Pdf);
    assert_eq!(collection.add(&note, "Row"), Err(error));
}

#[test]
fn damaged_documents_and_no_documents_are_refused() {
    let document = archived(LETTER, "Letter");
    let new = || Collection::new("Letters", OffsetDateTime::UNIX_EPOCH);
    for damaged in [&document[..document.len() / 2], b"no PDF"] {
        assert!(matches!(new().add(damaged, "Row"), Err(PdfError::Damaged { .. })));
    }
    assert!(matches!(new().finish(), Err(PdfError::Damaged { .. })));
}

#[test]
fn collections_are_told_apart() {
    let documents = documents();
    let identifier = |bytes: &[u8]| format!("{:?}", open(bytes).trailer().get("ID"));
    let (one, other) = (open_collection(&documents[..1]), open_collection(&documents[..2]));
    assert!(one == open_collection(&documents[..1]));
    assert_ne!(identifier(&one), identifier(&other));
}
