use std::collections::BTreeSet;

use super::documents::*;
use crate::check::standards::Conformance;
use crate::raster::{PageView, Picture, rasterise};
use crate::{Assembly, OutputFormat, PageSelection, PrintedPart, StampLayout, Stamps, Watermark};

const EMPTY: &[u8] = include_bytes!("../../../tests/fixtures/empty.pdf");
const GRAPHICS: &[u8] = include_bytes!("../../../tests/fixtures/graphics.pdf");
const DRAWN: &str = "/Artifact <</Type /Pagination /Subtype /Watermark>> BDC q /PlatenWatermark Do Q EMC\n";

fn watermarked(assembly: Assembly<'static>) -> Assembly<'static> {
    Assembly {
        watermark: Some(Watermark::Preview),
        ..assembly
    }
}

fn only(bytes: &[u8], watermark: Option<Watermark>, format: OutputFormat) -> Assembly<'_> {
    let mut assembly = three_parts();
    assembly.parts.truncate(1);
    Assembly {
        parts: vec![PrintedPart {
            bytes: bytes.into(),
            ..assembly.parts.remove(0)
        }],
        watermark,
        format,
        ..assembly
    }
}

fn picture(bytes: &[u8], page: usize) -> Picture {
    let view = PageView {
        page,
        dots_per_inch: 48,
    };
    rasterise(bytes, view).expect("a picture")
}

/// A pixel that the watermark changes.
struct Change {
    column: usize,
    row: usize,
    was: [u8; 3],
    is: [u8; 3],
}

fn changes(before: &Picture, after: &Picture) -> Vec<Change> {
    assert_eq!((before.width, before.height), (after.width, after.height));
    let [before_pixels, after_pixels] = [before, after].map(|picture| picture.pixels.as_chunks::<3>().0);
    let pixels = before_pixels.iter().zip(after_pixels).enumerate();
    let changed = pixels.filter(|(_, (was, is))| was != is);
    let change = |(index, (was, is)): (usize, (&[u8; 3], &[u8; 3]))| Change {
        column: index % before.width,
        row: index / before.width,
        was: *was,
        is: *is,
    };
    changed.map(change).collect()
}

#[test]
fn every_selected_page_has_one_and_pages_of_one_size_share_it() {
    let mut assembly = watermarked(three_parts());
    assembly.stamps = vec![Stamps {
        bytes: STAMPS,
        layout: StampLayout::Pages,
        pages: vec![1, 2, 5, 7],
    }];
    assembly.selection = Some(PageSelection::parse("2-7").expect("valid"));
    let completed = assembled(&assembly);
    assert_eq!(completed.conformance.first(), Some(&Conformance::PdfA2a));
    let document = open(&completed.bytes);
    check_references(&document);
    let mut forms = BTreeSet::new();
    for (page, content) in pages(&document).into_iter().zip(contents(&document)) {
        let content = String::from_utf8_lossy(&content).into_owned();
        assert_eq!(content.matches(DRAWN).count(), 1);
        assert!(content.starts_with("q\n") && content.ends_with(DRAWN), "drawn last");
        let page = dictionary(&document, page);
        let resources = document.resolve_dictionary(&page, "Resources").expect("resources");
        let drawings = document.resolve_dictionary(&resources, "XObject").expect("drawings");
        forms.insert((
            format!("{:?}", page.items("MediaBox")),
            drawings.reference("PlatenWatermark"),
        ));
    }
    // The report's, the letter's and the note's.
    assert_eq!(forms.len(), 3, "{forms:?}");
    let before = elements(&open(&assembled(&three_parts()).bytes)).len();
    let after = elements(&open(&assembled(&watermarked(three_parts())).bytes)).len();
    assert_eq!(after, before, "no content of its own");
}

#[test]
fn what_is_below_can_be_read() {
    for watermark in [Watermark::Test, Watermark::Preview] {
        let made = |bytes, watermark| assembled(&only(bytes, watermark, OutputFormat::Pdf)).bytes;
        for fixture in [REPORT, GRAPHICS] {
            let before = picture(&made(fixture, None), 1);
            let after = picture(&made(fixture, Some(watermark)), 1);
            let changes = changes(&before, &after);
            let share = changes.len() as f64 / (before.width * before.height) as f64;
            assert!((0.04..0.2).contains(&share), "{share} of the page changes");
            for Change { column, row, was, is } in changes {
                let is_faded = was.iter().zip(is).all(|(was, is)| was.abs_diff(is) <= 40);
                assert!(is_faded, "{column}, {row}: {was:?} → {is:?}");
            }
        }
    }
}

#[test]
fn it_lies_in_the_middle_of_pages_of_every_shape() {
    for (box_text, width, height) in [
        ("[0 0 612 792]", 612.0, 792.0),
        ("[0 0 792 612]", 792.0, 612.0),
        ("[0 0 2000 90]", 2000.0, 90.0),
        ("[0 0 90 2000]", 90.0, 2000.0),
        ("[-9 -9 591 9]", 600.0, 18.0),
        ("[612 792 0 0]", 612.0, 792.0),
    ] {
        let mut bytes = EMPTY.to_vec();
        let at = EMPTY
            .windows(13)
            .position(|window| window == b"[0 0 612 792]")
            .expect("a box");
        bytes[at..at + 13].copy_from_slice(box_text.as_bytes());
        let completed = assembled(&only(&bytes, Some(Watermark::Test), OutputFormat::PdfA2b));
        assert_eq!(completed.conformance.first(), Some(&Conformance::PdfA2a), "{box_text}");
        let blank = assembled(&only(&bytes, None, OutputFormat::PdfA2b));
        let changes = changes(&picture(&blank.bytes, 1), &picture(&completed.bytes, 1));
        // The first letter has no foot, so the word is not quite symmetric.
        let check = |values: Vec<usize>, side: f64| {
            let (least, most) = (values.iter().min().expect("drawn"), values.iter().max().expect("drawn"));
            let (middle, side) = ((least + most + 1) as f64 / 2.0, side * 48.0 / 72.0);
            assert!(
                (middle - side / 2.0).abs() < 0.05 * side,
                "{box_text}: {middle} of {side}"
            );
        };
        check(changes.iter().map(|change| change.column).collect(), width);
        check(changes.iter().map(|change| change.row).collect(), height);
    }
}

#[test]
fn a_document_with_and_one_without_are_not_taken_for_the_same() {
    let identifier = |watermark| {
        let completed = assembled(&only(REPORT, watermark, OutputFormat::PdfA2b));
        format!("{:?}", open(&completed.bytes).trailer().get("ID"))
    };
    let identifiers = BTreeSet::from([None, Some(Watermark::Test), Some(Watermark::Preview)].map(identifier));
    assert_eq!(identifiers.len(), 3);
}
