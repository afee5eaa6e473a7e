//! Comparison of the check with veraPDF: every file that veraPDF refuses must be refused here.

use time::OffsetDateTime;

use super::{check_basic, examine};
use crate::document::Document;
use crate::object::{Object, ObjectNumber, Stream};
use crate::object_streams::tests::{in_the_open, packed};
use crate::written_file::write_document;
use crate::xmp::{read_packet, write_packet};
use crate::{OutputFormat, PageFacts};

mod damages;
mod levels;
mod mutations;
mod places;
mod tag_damages;
mod tag_edits;
#[path = "../../tests/support/verapdf.rs"]
pub(crate) mod verapdf;

const ICONS: &[u8] = include_bytes!("../../tests/fixtures/icons.pdf");
const MISSING_GLYPHS: &[u8] = include_bytes!("../../tests/fixtures/missing-glyphs.pdf");
const FIXTURES: [(&str, &[u8]); 8] = [
    ("empty", include_bytes!("../../tests/fixtures/empty.pdf")),
    ("graphics", include_bytes!("../../tests/fixtures/graphics.pdf")),
    ("language", include_bytes!("../../tests/fixtures/language.pdf")),
    ("links", include_bytes!("../../tests/fixtures/links.pdf")),
    ("missing-glyphs", MISSING_GLYPHS),
    ("numbers", include_bytes!("../../tests/fixtures/numbers.pdf")),
    ("table", include_bytes!("../../tests/fixtures/table.pdf")),
    ("icons", ICONS),
];

/// Runs veraPDF once over all files, because most of its time is the startup of Java.
#[test]
fn check_is_never_milder_than_verapdf() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut files = Vec::new();
    let mut write = |name: String, bytes: &[u8]| {
        let path = folder.path().join(format!("{name}.pdf"));
        std::fs::write(&path, bytes).expect("room on the disk");
        files.push(path.clone());
        path
    };
    let mut passing = Vec::new();
    for (name, bytes) in FIXTURES {
        let archive = archived(bytes);
        assert!(examine(&archive).is_ok() && check_basic(&archive).is_ok(), "{name}");
        let packed = packed(&archive);
        assert_eq!(examine(&packed), examine(&archive), "{name}");
        passing.push(write(name.to_owned(), &archive));
        passing.push(write(format!("packed-{name}"), &packed));
    }
    let (mut failing, mut unnoticed) = (Vec::new(), Vec::new());
    for (name, bytes, is_for_verapdf) in damages::damaged_archives() {
        if examine(&bytes).is_ok() || check_basic(&bytes).is_ok() {
            unnoticed.push(name.clone());
        }
        if is_for_verapdf {
            failing.push(write(name.replace(' ', "-"), &bytes));
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
    for (index, bytes) in mutations::accepted_mutations().into_iter().enumerate() {
        passing.push(write(format!("mutation-{index}"), &bytes));
    }
    let refusals = verapdf::refusals("2b", &files);
    passing.retain(|file| !refusals[file].is_empty());
    assert!(passing.is_empty(), "refused by veraPDF alone: {passing:?}");
    failing.retain(|file| refusals[file].is_empty());
    assert!(failing.is_empty(), "no damage to veraPDF: {failing:?}");
}

#[test]
fn files_that_are_none_are_refused() {
    for bytes in [b"".as_slice(), b"%PDF-1.7\n", FIXTURES[0].1, b"<!DOCTYPE html>"] {
        let violations = examine(bytes).expect_err("nothing that conforms");
        assert!(!violations.is_empty());
    }
}

/// Elements that differ only in numbers are compared instead of parsed.
#[test]
fn a_fault_among_objects_that_are_alike_is_found() {
    let archive = archived(FIXTURES[6].1);
    let document = Document::open(&[&archive]).expect("an archive");
    let is_element = |number: &ObjectNumber| {
        let object = document.get(*number).expect("an object");
        let kind = object.as_dictionary().and_then(|dictionary| dictionary.get("Type"));
        kind.is_some_and(|kind| kind.is_name("StructElem"))
    };
    let elements: Vec<ObjectNumber> = (1..document.size()).filter(is_element).step_by(7).collect();
    assert!(elements.len() > 20);
    for element in elements {
        for (key, fault) in [
            ("K", Object::Integer(3_000_000_000)),
            ("K", Object::Reference(99_999)),
            ("P", Object::Reference(99_999)),
            ("P", Object::Integer(1)),
            ("S", Object::String(b"P".into())),
        ] {
            let damaged = edited(&archive, |document| {
                let mut dictionary = document.get_dictionary(element, "an element").expect("an element");
                dictionary.set(key, fault.clone());
                document.set(element, Object::Dictionary(dictionary));
            });
            assert!(examine(&damaged).is_err(), "object {element}: /{key} {fault:?}");
        }
    }
}

/// Completes a printed document as PDF/A-2b and unpacks it.
fn archived(printed: &[u8]) -> Vec<u8> {
    let facts = PageFacts {
        title: Some("Title & more".into()),
        language: Some("en".into()),
        ..PageFacts::default()
    };
    let completed = crate::complete(printed, &facts, OutputFormat::PdfA2b, OffsetDateTime::UNIX_EPOCH);
    in_the_open(completed.expect("a document that can be completed")).bytes
}

/// Returns a document that declares PDF/A-2b only.
fn declared_as_2b(archive: &[u8]) -> Vec<u8> {
    edited(archive, |document| {
        let number = find(document, "Type", "Metadata");
        let Object::Stream(metadata) = document.get(number).expect("metadata") else {
            panic!("no metadata");
        };
        let packet = read_packet(&metadata.data).expect("a packet");
        let text = |name: &str| {
            let property = packet.properties.iter().find(|(property, _)| *property == name)?;
            let is_level = name == "pdfaid:conformance";
            Some(if is_level { "B".to_owned() } else { property.1.clone() })
        };
        let data = write_packet(false, text).into_bytes();
        document.set(number, Object::Stream(Stream::plain(metadata.dictionary, data)));
    })
}

/// Returns a document with some of its objects changed.
fn edited<'a>(archive: &'a [u8], edit: impl FnOnce(&mut Document<'a>)) -> Vec<u8> {
    let mut document = Document::open(&[archive]).expect("an archive");
    let trailer = document.trailer();
    edit(&mut document);
    write_document(document, &[], trailer)
        .expect("a document that can be written")
        .bytes
}

/// Returns the first object whose dictionary has this name under this key.
fn find(document: &Document, key: &str, name: &str) -> ObjectNumber {
    let has = |number: &ObjectNumber| {
        let object = document.get(*number).expect("an object");
        object
            .as_dictionary()
            .and_then(|dictionary| dictionary.get(key))
            .is_some_and(|value| value.is_name(name))
    };
    (1..document.size())
        .find(has)
        .unwrap_or_else(|| panic!("no /{key} /{name}"))
}
