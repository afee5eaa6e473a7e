use super::documents::*;
use crate::check::standards::Conformance;
use crate::object::Dictionary;
use crate::raster::{PageView, rasterise};
use crate::{Assembly, PageSelection, PdfError, StampLayout, Stamps, assemble};

fn stamped(pages: &[usize]) -> Assembly<'static> {
    Assembly {
        stamps: vec![Stamps {
            bytes: STAMPS,
            layout: StampLayout::Pages,
            pages: pages.to_vec(),
        }],
        ..three_parts()
    }
}

/// Returns, for each page, the content of its stamps.
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

fn stamped_from_a_column(pages: &[usize], pitch: f64) -> Assembly<'static> {
    let mut assembly = stamped(pages);
    assembly.stamps[0].bytes = COLUMN;
    assembly.stamps[0].layout = StampLayout::Column { pitch };
    assembly
}

#[test]
fn a_column_is_cut_into_its_stamps() {
    let completed = assembled(&stamped_from_a_column(&[1, 2, 4, 3], COLUMN_PITCH));
    assert_eq!(completed.conformance.first(), Some(&Conformance::PdfA2a));
    check_references(&open(&completed.bytes));
    let texts: Vec<usize> = drawn_over(&completed.bytes)
        .iter()
        .map(|stamps| {
            stamps
                .iter()
                .map(|stamp| stamp.windows(2).filter(|word| *word == b"BT").count())
                .sum()
        })
        .collect();
    // The fourth page has the third stamp, which is empty.
    assert!(texts[..3].iter().all(|count| *count > 0), "{texts:?}");
    assert_eq!(texts[3..], [0; 4]);
    // It has the same position as on a page of its own, in the upper left corner.
    for page in 1..=4 {
        let view = PageView {
            page,
            dots_per_inch: 72,
        };
        let picture = |bytes: &[u8]| rasterise(bytes, view).expect("a picture");
        let (before, after) = (picture(&assembled(&three_parts()).bytes), picture(&completed.bytes));
        let changed = before.pixels.iter().zip(&after.pixels).enumerate();
        let rows: Vec<usize> = changed
            .filter(|(_, (was, is))| was != is)
            .map(|(index, _)| index / 3 / before.width)
            .collect();
        if page == 4 {
            assert!(rows.is_empty());
        } else {
            assert!(
                rows.iter().any(|row| *row < 60) && rows.iter().any(|row| *row > 570),
                "page {page}"
            );
        }
    }
}

#[test]
fn a_column_with_content_beside_its_boxes_is_refused() {
    for (pages, pitch) in [
        (vec![1, 2], COLUMN_PITCH),
        (vec![1, 2, 3, 4], 300.0),
        (vec![1, 2, 3, 4], 0.0),
    ] {
        let result = assemble(stamped_from_a_column(&pages, pitch));
        assert!(matches!(result, Err(PdfError::Damaged { .. })), "{result:?}");
    }
}

#[test]
fn links_of_a_stamp_work() {
    for assembly in [
        stamped(&[4, 5, 6, 7]),
        stamped_from_a_column(&[4, 5, 6, 7], COLUMN_PITCH),
    ] {
        check_links_of_a_stamp(&assembly);
    }
}

fn check_links_of_a_stamp(assembly: &Assembly) {
    let completed = assembled(assembly);
    let document = open(&completed.bytes);
    let leads_on = |page| {
        dictionary(&document, page).items("Annots").iter().any(|annotation| {
            let annotation = dictionary(&document, annotation.as_reference().expect("a link"));
            let action = document.resolve_dictionary(&annotation, "A").expect("an action");
            let top = annotation.items("Rect")[3].as_number();
            let is_at_the_top = top.is_some_and(|top| (540.0..595.0).contains(&top));
            name(&action, "URI") == "https://example.com/stamp" && is_at_the_top
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
    // Each set of stamps has one link.
    let mut expected = count_written_kinds(&open(REPORT));
    *expected.entry("Link".to_owned()).or_default() += 2;
    assert_eq!(count_kinds(&elements(&document)), expected);
}

#[test]
fn stamps_must_fit_the_document() {
    let beyond = |page| Err(PdfError::PageBeyondEnd { page, page_count: 7 });
    assert_eq!(assemble(stamped(&[5, 6, 7, 8])), beyond(8));
    assert_eq!(assemble(stamped(&[0, 5, 6, 7])), beyond(0));
    let count = PdfError::StampCount { stamps: 4, pages: 2 };
    assert_eq!(assemble(stamped(&[5, 6])), Err(count));
}

#[test]
fn characters_that_no_font_has_are_repaired_below_stamps_and_in_them() {
    let mut assembly = stamped(&[1]);
    assembly.parts.truncate(1);
    assembly.stamps[0].bytes = include_bytes!("../../../tests/fixtures/missing-glyphs.pdf");
    assembly.parts[0].bytes = assembly.stamps[0].bytes.into();
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
