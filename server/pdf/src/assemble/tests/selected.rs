use super::documents::*;
use crate::object::Object;
use crate::{Assembly, Completed, PageSelection, PdfError, assemble};

fn selected(pages: &str) -> Completed {
    assembled(&Assembly {
        selection: Some(PageSelection::parse(pages).expect("valid")),
        ..three_parts()
    })
}

#[test]
fn selected_pages_stay_as_they_were() {
    let all = contents(&open(&assembled(&three_parts()).bytes));
    for (pages, expected) in [
        ("1", vec![0]),
        ("3,5", vec![2, 4]),
        ("7, 2-4", vec![1, 2, 3, 6]),
        ("1-7", (0..7).collect()),
    ] {
        let completed = selected(pages);
        assert_eq!(completed.page_count, expected.len());
        let document = open(&completed.bytes);
        let expected: Vec<Vec<u8>> = expected.into_iter().map(|index| all[index].clone()).collect();
        assert!(contents(&document) == expected, "{pages}");
        check_references(&document);
        elements(&document);
    }
}

#[test]
fn what_only_dropped_pages_use_is_gone() {
    let completed = selected("7");
    let document = open(&completed.bytes);
    // In addition to the note's objects: `Document` above its part, outline with an entry, metadata, profile.
    let allowed = open(NOTE).size() + 5;
    assert!(document.size() <= allowed, "{} objects, not {allowed}", document.size());
    assert!(completed.bytes.len() < NOTE.len() + 5 * 1024);
    assert_eq!(outline(&document), [(0, "Part 3".to_owned(), 0)]);
}

#[test]
fn links_to_dropped_pages_become_text() {
    // Page 1 links to page 4 and to an address, page 3 to page 1.
    let completed = selected("1,3");
    let document = open(&completed.bytes);
    let links = inner_links(&document);
    let links: Vec<(usize, usize)> = links.into_iter().map(|(page, target, _)| (page, target)).collect();
    assert!(
        !links.is_empty() && links.iter().all(|link| *link == (1, 0)),
        "{links:?}"
    );
    let kinds = count_kinds(&elements(&document));
    assert_eq!((kinds.get("Link"), kinds.get("Span")), (Some(&2), Some(&1)));
    let names = document
        .resolve_dictionary(&catalog(&document), "Dests")
        .expect("destinations");
    assert_eq!(names.entries.len(), 1);
    assert_eq!(codes(&completed), ["image_low_resolution"]);
}

#[test]
fn outline_keeps_what_is_above_a_kept_entry() {
    assert_eq!(
        outline(&open(&selected("3,6").bytes)),
        [
            outline_entry(0, "Report", 0),
            outline_entry(1, "Summary", 0),
            outline_entry(2, "Table", 0),
            outline_entry(3, "Notes", 0),
            outline_entry(0, "Lettre", 1),
            outline_entry(1, "Summary", 1),
            outline_entry(2, "End", 1),
        ]
    );
}

#[test]
fn rows_of_a_table_keep_their_columns() {
    // The table runs over pages 2 and 3; its header cells are on both.
    let completed = selected("3");
    let document = open(&completed.bytes);
    let is_row = |element: &&crate::object::Dictionary| name(element, "S") == "TR";
    let all = elements(&document);
    let columns: Vec<usize> = all.iter().filter(is_row).map(|row| row.items("K").len()).collect();
    assert!(
        columns.len() > 2 && columns.iter().all(|count| *count == 2),
        "{columns:?}"
    );
    assert!(columns.len() < elements(&open(REPORT)).iter().filter(is_row).count());
}

#[test]
fn cells_that_span_pages_are_adjusted_to_those_selected() {
    let printed = include_bytes!("../../../tests/fixtures/spans.pdf");
    let page_count = pages(&open(printed)).len();
    for page in 1..=page_count {
        let mut assembly = three_parts();
        assembly.parts.truncate(1);
        assembly.parts[0].bytes = printed.into();
        assembly.selection = PageSelection::parse(&page.to_string()).ok();
        let completed = assembled(&assembly);
        assert_eq!(completed.findings, [], "page {page}");
        let document = open(&completed.bytes);
        check_references(&document);
        elements(&document);
    }
    assert!(page_count > 2);
}

#[test]
fn one_part_is_selected_from_alike() {
    let mut assembly = three_parts();
    assembly.parts.truncate(1);
    assembly.selection = Some(PageSelection::parse("2-3").expect("valid"));
    let completed = assembled(&assembly);
    let document = open(&completed.bytes);
    assert!(contents(&document) == contents(&open(REPORT))[1..3]);
    check_references(&document);
    assert_eq!(name(&elements(&document)[0], "S"), "Document");
    let titles: Vec<String> = outline(&document).into_iter().map(|(_, title, _)| title).collect();
    assert_eq!(titles, ["Summary", "Table", "Notes"]);
}

#[test]
fn page_beyond_the_end_is_named() {
    let assembly = Assembly {
        selection: Some(PageSelection::parse("2, 6-9").expect("valid")),
        ..three_parts()
    };
    let expected = PdfError::PageBeyondEnd { page: 9, page_count: 7 };
    assert_eq!(assemble(assembly), Err(expected));
}

#[test]
fn pages_without_tags_leave_none() {
    let mut assembly = three_parts();
    assembly.parts[2].bytes = STAMPS.into();
    assembly.selection = Some(PageSelection::parse("7-8").expect("valid"));
    let completed = assembled(&assembly);
    let document = open(&completed.bytes);
    assert!(elements(&document).is_empty());
    let is_element = |number| {
        let object = document.get(number).expect("an object");
        let kind = object.as_dictionary().and_then(|dictionary| dictionary.get("Type"));
        kind == Some(&Object::name("StructElem"))
    };
    assert!(!(1..document.size()).any(is_element));
    check_references(&document);
}
