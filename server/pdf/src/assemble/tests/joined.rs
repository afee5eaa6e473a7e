use std::collections::{BTreeMap, BTreeSet};

use super::documents::*;
use crate::check::standards::Conformance;
use crate::object::Object;
use crate::{Assembly, OutputFormat, PageSelection, PdfError, PrintedPart, assemble, page_sizes};

#[test]
fn pages_follow_each_other_as_they_were() {
    let joined = assembled(&three_parts());
    assert_eq!(joined.page_count, REPORT_PAGES + LETTER_PAGES + 1);
    assert_eq!(joined.pages_by_part, [REPORT_PAGES, LETTER_PAGES, 1]);
    assert_eq!(codes(&joined), ["image_low_resolution"]);
    let sizes = page_sizes(&[REPORT, LETTER, NOTE], 7).expect("sizes");
    assert_eq!(page_sizes(&[&joined.bytes], 7), Ok(vec![sizes.concat()]));
    let drawn = [REPORT, LETTER, NOTE].map(|part| contents(&open(part))).concat();
    assert!(contents(&open(&joined.bytes)) == drawn);
    check_references(&open(&joined.bytes));
}

#[test]
fn the_part_that_is_to_blame_is_named() {
    let limited = |page_limit| Assembly {
        page_limit,
        selection: PageSelection::parse("1").ok(),
        ..three_parts()
    };
    assert_eq!(assembled(&limited(7)).page_count, 1);
    for (limit, part) in [(6, 2), (5, 1), (4, 1), (3, 0)] {
        let error = PdfError::TooManyPages { part, pages: 7, limit };
        assert_eq!(assemble(limited(limit)), Err(error.clone()));
        assert_eq!(page_sizes(&[REPORT, LETTER, NOTE], limit), Err(error));
    }
    let mut assembly = three_parts();
    assembly.parts.swap(1, 2);
    assembly.parts.push(PrintedPart {
        bytes: include_bytes!("../../../tests/fixtures/page-huge.pdf").into(),
        ..assembly.parts[0].clone()
    });
    assembly.selection = PageSelection::parse("2, 8").ok();
    let error = assemble(assembly).expect_err("a page that is too large");
    assert!(
        matches!(error, PdfError::PageSize { part: 3, page: 2, .. }),
        "{error:?}"
    );
}

#[test]
fn links_stay_within_their_part() {
    let of_report = inner_links(&open(REPORT));
    let of_letter = inner_links(&open(LETTER));
    assert!(!of_report.is_empty() && !of_letter.is_empty());
    let moved = |(page, target, place)| (page + REPORT_PAGES, target + REPORT_PAGES, place);
    let expected: Vec<_> = of_report.into_iter().chain(of_letter.into_iter().map(moved)).collect();
    let joined = assembled(&three_parts());
    assert_eq!(inner_links(&open(&joined.bytes)), expected);
}

#[test]
fn outlines_stand_under_the_titles_of_their_parts() {
    let joined = assembled(&three_parts());
    assert_eq!(
        outline(&open(&joined.bytes)),
        [
            outline_entry(0, "Report", 0),
            outline_entry(1, "Summary", 0),
            outline_entry(2, "Table", 1),
            outline_entry(3, "Notes", 2),
            outline_entry(2, "End", 3),
            outline_entry(0, "Lettre", 4),
            outline_entry(1, "Summary", 4),
            outline_entry(2, "End", 5),
            outline_entry(0, "Part 3", 6),
        ]
    );
}

#[test]
fn every_tag_is_kept_under_its_part() {
    let joined = assembled(&three_parts());
    let document = open(&joined.bytes);
    let all = elements(&document);
    let mut expected = BTreeMap::from([("Document".to_owned(), 1)]);
    for part in [REPORT, LETTER, NOTE] {
        for (kind, count) in count_written_kinds(&open(part)) {
            let kind = if kind == "Document" { "Part".into() } else { kind };
            *expected.entry(kind).or_default() += count;
        }
    }
    assert_eq!(count_kinds(&all), expected);
    let parts = all.iter().filter(|element| name(element, "S") == "Part");
    let parts: Vec<(String, String)> = parts.map(|part| (name(part, "Lang"), name(part, "T"))).collect();
    let part = |language: &str, title: &str| (language.to_owned(), title.to_owned());
    assert_eq!(parts, [part("en", "Report"), part("fr", "Lettre"), part("", "")]);
    let marks = document
        .resolve_dictionary(&catalog(&document), "MarkInfo")
        .expect("marks");
    assert_eq!(marks.get("Marked"), Some(&Object::Boolean(true)));
}

#[test]
fn a_part_without_a_language_inherits_none() {
    let mut assembly = three_parts();
    let completed = assembled(&assembly);
    let page_of = |clause| {
        let prevents = (Conformance::PdfUa1, clause);
        let mut findings = completed.findings.iter();
        let found = findings.find(|finding| finding.rule.prevents.contains(&prevents));
        found.map(|finding| finding.page)
    };
    assert_eq!(page_of("7.2-33"), Some(None));
    assert_eq!(page_of("7.2-34"), Some(Some(7)));
    assert_eq!(completed.conformance, [Conformance::PdfA2a]);
    let language = |assembly: &Assembly| name(&catalog(&open(&assembled(assembly).bytes)), "Lang");
    assert_eq!(language(&assembly), "");
    for (pages, expected) in [("1-6", "en"), ("5", "fr"), ("6,7", "")] {
        assembly.selection = PageSelection::parse(pages).ok();
        assert_eq!(language(&assembly), expected, "{pages}");
    }
    // The language of the request applies to all parts that name none.
    assembly.selection = None;
    assembly.parts[2].facts.fallback_language = Some("de".into());
    let completed = assembled(&assembly);
    let document = open(&completed.bytes);
    assert_eq!(name(&catalog(&document), "Lang"), "en");
    let all = elements(&document);
    let parts = all.iter().filter(|element| name(element, "S") == "Part");
    let languages: Vec<String> = parts.map(|part| name(part, "Lang")).collect();
    assert_eq!(languages, ["en", "fr", "de"]);
}

#[test]
fn equal_pictures_and_fonts_are_there_once() {
    let mut twice = three_parts();
    twice.parts.insert(1, twice.parts[0].clone());
    let (once, twice) = (assembled(&three_parts()), assembled(&twice));
    let shareable = |bytes: &[u8]| {
        let document = open(bytes);
        let of_pages: BTreeSet<Vec<u8>> = contents(&document).into_iter().collect();
        let streams = (1..document.size()).filter_map(|number| {
            let object = document.get(number).expect("an object");
            let Object::Stream(stream) = &object else { return None };
            let is_content = stream
                .dictionary
                .get("Filter")
                .is_none_or(|filter| filter.is_name("FlateDecode"))
                && of_pages.contains(&data(&document, &object));
            let is_tagged = stream.dictionary.get("StructParents").is_some();
            (!is_content && !is_tagged).then(|| stream.data.to_vec())
        });
        streams.collect::<Vec<_>>()
    };
    let streams = shareable(&once.bytes);
    assert_eq!(streams.iter().collect::<BTreeSet<_>>().len(), streams.len());
    assert_eq!(shareable(&twice.bytes).len(), streams.len());
    assert!(twice.bytes.len() < once.bytes.len() + REPORT.len() / 2);
    check_references(&open(&twice.bytes));
}

#[test]
fn joined_document_is_hardly_larger_than_its_parts() {
    let joined = assembled(&three_parts());
    assert!(joined.bytes.len() < REPORT.len() + LETTER.len() + NOTE.len() + 3 * 1024);
}

#[test]
fn many_parts_make_trees_of_several_levels() {
    let mut assembly = three_parts();
    let part_count = 30;
    assembly.parts = vec![assembly.parts[0].clone(); part_count];
    let joined = assembled(&assembly);
    let document = open(&joined.bytes);
    assert_eq!(pages(&document).len(), part_count * REPORT_PAGES);
    assert_eq!(
        elements(&document).len(),
        1 + part_count * count_written_kinds(&open(REPORT)).values().sum::<usize>()
    );
    let links = inner_links(&document);
    assert_eq!(links.len(), part_count * inner_links(&open(REPORT)).len());
    assert!(
        links
            .iter()
            .all(|(page, target, _)| page / REPORT_PAGES == target / REPORT_PAGES)
    );
    let tree = document
        .resolve_dictionary(&catalog(&document), "Pages")
        .expect("a page tree");
    assert!(
        tree.get("Kids")
            .and_then(Object::as_array)
            .is_some_and(|kids| kids.len() < 10)
    );
}

#[test]
fn document_says_of_itself_what_the_first_part_says() {
    let mut assembly = three_parts();
    assembly.parts[0].facts.author = Some("A. Uthor".into());
    assembly.parts[1].facts.author = Some("Else".into());
    assembly.parts[1].facts.language = Some("no language".into());
    let joined = assembled(&assembly);
    let document = open(&joined.bytes);
    let information = document
        .resolve_dictionary(&document.trailer(), "Info")
        .expect("document information");
    assert_eq!(name(&information, "Title"), "Report");
    assert_eq!(name(&information, "Author"), "A. Uthor");
    assert_eq!(codes(&joined), ["language_invalid", "image_low_resolution"]);
}

#[test]
fn same_parts_give_the_same_bytes_and_others_another_identifier() {
    let assembly = three_parts();
    let first = assembled(&assembly);
    assert!(first.bytes == assembled(&assembly).bytes);
    let mut selected = assembly.clone();
    selected.selection = Some(PageSelection::parse("1").expect("valid"));
    let identifier = |bytes: &[u8]| {
        open(bytes)
            .trailer()
            .get("ID")
            .map(|identifier| format!("{identifier:?}"))
    };
    assert_ne!(identifier(&first.bytes), identifier(&assembled(&selected).bytes));
}

#[test]
fn joined_documents_can_be_joined() {
    let mut assembly = three_parts();
    let joined = assembled(&assembly);
    assembly.parts[1].bytes = joined.bytes.as_slice().into();
    assembly.format = OutputFormat::Pdf;
    let again = assembled(&assembly);
    let document = open(&again.bytes);
    assert_eq!(pages(&document).len(), REPORT_PAGES + joined.page_count + 1);
    check_references(&document);
    elements(&document);
    assert_eq!(outline(&document).iter().filter(|(depth, ..)| *depth == 0).count(), 3);
}

#[test]
fn damaged_part_is_refused() {
    let mut assembly = three_parts();
    assembly.parts[2].bytes = NOTE[..NOTE.len() / 2].into();
    assert!(matches!(assemble(assembly.clone()), Err(PdfError::Damaged { .. })));
    assembly.parts.clear();
    assert!(matches!(assemble(assembly), Err(PdfError::Damaged { .. })));
}
