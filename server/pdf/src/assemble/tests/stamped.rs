use super::documents::*;
use crate::object::Dictionary;
use crate::{Assembly, PageSelection, PdfError, Stamps, assemble};

fn stamped(pages: &[usize]) -> Assembly<'static> {
    Assembly {
        stamps: vec![Stamps {
            bytes: STAMPS,
            pages: pages.to_vec(),
        }],
        ..three_parts()
    }
}

/// By page: what its stamps draw.
fn drawn_over(bytes: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let document = open(bytes);
    let of_page = |page| {
        let resources = document.resolve_dictionary(&dictionary(&document, page), "Resources");
        let drawings = document.resolve_dictionary(&resources.expect("resources"), "XObject");
        let drawings = drawings.expect("drawings").entries;
        let stamps = drawings.iter().filter(|(name, _)| name.starts_with(b"PlatenStamp"));
        stamps.map(|(_, form)| data(&document, form)).collect()
    };
    pages(&document).into_iter().map(of_page).collect()
}

#[test]
fn stamps_are_drawn_on_their_pages_as_artifacts() {
    let completed = assembled(&stamped(&[1, 2, 5, 7]));
    let stamps = contents(&open(STAMPS));
    let expected = [Some(0), Some(1), None, None, Some(2), None, Some(3)];
    let expected = expected.map(|stamp| {
        stamp
            .into_iter()
            .map(|index: usize| stamps[index].clone())
            .collect::<Vec<_>>()
    });
    assert!(drawn_over(&completed.bytes) == expected);
    let document = open(&completed.bytes);
    check_references(&document);
    elements(&document);
    let before = contents(&open(&assembled(&three_parts()).bytes));
    for ((before, after), stamps) in before.iter().zip(contents(&document)).zip(expected) {
        let artifact: &[u8] = b"\nQ\n/Artifact <</Type /Pagination>> BDC q /PlatenStamp1 Do Q EMC\n";
        let whole = if stamps.is_empty() {
            before.clone()
        } else {
            [b"q\n", before.as_slice(), artifact].concat()
        };
        assert_eq!(String::from_utf8_lossy(&after), String::from_utf8_lossy(&whole));
    }
}

#[test]
fn links_of_a_stamp_work() {
    let completed = assembled(&stamped(&[4, 5, 6, 7]));
    let document = open(&completed.bytes);
    let leads_on = |page| {
        dictionary(&document, page).items("Annots").iter().any(|annotation| {
            let annotation = dictionary(&document, annotation.as_reference().expect("a link"));
            let action = document.resolve_dictionary(&annotation, "A").expect("an action");
            name(&action, "URI") == "https://example.com/stamp"
        })
    };
    let leading: Vec<bool> = pages(&document).into_iter().map(leads_on).collect();
    assert_eq!(leading, [false, false, false, true, false, false, false]);
}

#[test]
fn stamps_number_pages_before_selection() {
    let mut assembly = stamped(&[1, 2, 5, 7]);
    assembly.selection = Some(PageSelection::parse("3,5").expect("valid"));
    let completed = assembled(&assembly);
    assert!(drawn_over(&completed.bytes) == [vec![], vec![contents(&open(STAMPS))[2].clone()]]);
    check_references(&open(&completed.bytes));
}

#[test]
fn one_part_and_several_sets_of_stamps() {
    let mut assembly = stamped(&[1, 2, 3, 4]);
    assembly.parts.truncate(1);
    assembly.stamps.push(assembly.stamps[0].clone());
    let completed = assembled(&assembly);
    let drawn = drawn_over(&completed.bytes);
    assert!(drawn.iter().all(|stamps| stamps.len() == 2 && stamps[0] == stamps[1]));
    let document = open(&completed.bytes);
    check_references(&document);
    assert_eq!(count_kinds(&elements(&document)), count_kinds(&elements(&open(REPORT))));
}

#[test]
fn stamps_must_fit_the_document() {
    let beyond = |page| Err(PdfError::PageBeyondEnd { page, page_count: 7 });
    assert_eq!(assemble(&stamped(&[5, 6, 7, 8])), beyond(8));
    assert_eq!(assemble(&stamped(&[0, 5, 6, 7])), beyond(0));
    let count = PdfError::StampCount { stamps: 4, pages: 2 };
    assert_eq!(assemble(&stamped(&[5, 6])), Err(count));
}

#[test]
fn characters_that_no_font_has_are_mended_below_stamps_and_in_them() {
    let mut assembly = stamped(&[1]);
    assembly.parts.truncate(1);
    assembly.parts[0].bytes = include_bytes!("../../../tests/fixtures/missing-glyphs.pdf");
    assembly.stamps[0].bytes = assembly.parts[0].bytes;
    let completed = assembled(&assembly);
    let codes: Vec<&str> = completed.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["missing_glyph"]);
    let document = open(&completed.bytes);
    let page = dictionary(&document, pages(&document)[0]);
    let has_stand_in = |owner: &Dictionary| {
        let resources = document.resolve_dictionary(owner, "Resources").expect("resources");
        let fonts = document.resolve_dictionary(&resources, "Font").expect("fonts");
        fonts.entries.iter().any(|(name, _)| name.starts_with(b"PlatenMissing"))
    };
    assert!(has_stand_in(&page));
    let resources = document.resolve_dictionary(&page, "Resources").expect("resources");
    let drawings = document.resolve_dictionary(&resources, "XObject").expect("drawings");
    let stamp = drawings.reference("PlatenStamp1").expect("a stamp");
    assert!(has_stand_in(&dictionary(&document, stamp)));
}
