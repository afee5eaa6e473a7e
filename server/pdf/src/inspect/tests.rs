use time::OffsetDateTime;

use super::structure::read_structure;
use super::{Font, Image, Links, Outline, declared, inspect};
use crate::check::standards::Conformance;
use crate::{OutputFormat, PageFacts, PdfError, complete};

const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");
const GRAPHICS: &[u8] = include_bytes!("../../tests/fixtures/graphics.pdf");

#[test]
fn tells_what_a_document_holds() {
    let facts = PageFacts {
        title: Some("Graphics".into()),
        language: Some("en".into()),
        ..PageFacts::default()
    };
    let archive = complete(GRAPHICS, &facts, OutputFormat::PdfA2b, OffsetDateTime::UNIX_EPOCH).expect("an archive");
    let inspection = inspect(&archive.bytes).expect("readable");
    assert_eq!(inspection.version, "1.7");
    assert_eq!(inspection.title.as_deref(), Some("Graphics"));
    assert_eq!(inspection.language.as_deref(), Some("en"));
    assert_eq!(inspection.page_sizes, [(612.0, 792.0)]);
    let serif = Font {
        name: "LiberationSerif".into(),
        kind: "TrueType",
        is_embedded: true,
        is_subset: true,
    };
    assert!(inspection.fonts.contains(&serif), "{:?}", inspection.fonts);
    assert!(
        inspection
            .fonts
            .iter()
            .any(|font| font.kind == "Type 3" && font.name.contains("CJK"))
    );
    let square = Image {
        width: 4,
        height: 4,
        colours: "ICCBased".into(),
        filter: "FlateDecode".into(),
        has_mask: true,
    };
    assert!(inspection.images.contains(&square), "{:?}", inspection.images);
    assert!(
        inspection
            .images
            .iter()
            .any(|image| image.filter == "DCTDecode" && image.colours == "DeviceGray")
    );
    assert_eq!(inspection.tags.get("H1"), Some(&1));
    assert_eq!(inspection.outline, Outline { count: 2, depth: 2 });
    assert_eq!(
        inspection.links,
        Links {
            internal: 1,
            external: 1
        }
    );
    let examination = inspection.verdict.expect("an archive");
    assert_eq!(inspection.declared, Some(Conformance::list(&examination.earned)));
    assert_eq!(examination.declared, examination.earned);
}

#[test]
fn tells_why_a_document_does_not_conform() {
    let inspection = inspect(EMPTY).expect("readable");
    assert_eq!(inspection.declared, None);
    let violations = inspection.verdict.expect_err("a plain PDF");
    assert!(
        violations
            .iter()
            .any(|violation| violation.message.contains("/Metadata is missing")),
        "{violations:?}"
    );
    assert!(matches!(inspect(b"%PDF-1.7\nnothing"), Err(PdfError::Damaged { .. })));
}

#[test]
fn titles_declare_nothing() {
    let facts = PageFacts {
        title: Some("pdfuaid:part1".into()),
        ..PageFacts::default()
    };
    let archive = complete(GRAPHICS, &facts, OutputFormat::PdfA2b, OffsetDateTime::UNIX_EPOCH).expect("an archive");
    let inspection = inspect(&archive.bytes).expect("readable");
    let examination = inspection.verdict.expect("an archive");
    assert!(!examination.declared.contains(&Conformance::PdfUa1), "no language");
    assert_eq!(inspection.declared, Some(Conformance::list(&examination.declared)));
    let packet = "<dc:title>pdfuaid:part1 pdfuaid:part='1' &lt;pdfuaid:part>1</dc:title><pdfaid:part>3</pdfaid:part><x\npdfaid:conformance='B'/>";
    assert_eq!(declared(packet).as_deref(), Some("PDF/A-3b"));
}

#[test]
fn structure_is_listed_in_reading_order() {
    let tree = read_structure(GRAPHICS).expect("readable");
    let kinds: Vec<_> = tree
        .elements
        .iter()
        .map(|element| (element.depth, element.kind.as_str()))
        .collect();
    assert_eq!(kinds[0], (0, "Document"));
    let place = |kind: &str| kinds.iter().position(|(_, found)| *found == kind);
    assert!(place("H1") < place("H2") && place("H1").is_some(), "{kinds:?}");
    // Each element is at most one level deeper than the one before it.
    assert!(kinds.windows(2).all(|pair| pair[1].0 <= pair[0].0 + 1), "{kinds:?}");
    let count: usize = inspect(GRAPHICS).expect("readable").tags.values().sum();
    assert!(tree.elements.len() == count && !tree.is_cut);
    let heading = tree
        .elements
        .iter()
        .position(|element| element.kind == "H1")
        .expect("a heading");
    // The text is in an element of its own.
    let texts: Vec<_> = tree.elements[heading..]
        .iter()
        .filter_map(|element| element.text.as_deref())
        .collect();
    assert!(texts.first().is_some_and(|text| !text.trim().is_empty()), "{texts:?}");
    let pages: Vec<_> = tree.elements.iter().filter_map(|element| element.page).collect();
    assert!(pages.contains(&1) && pages.is_sorted(), "{pages:?}");
    assert!(read_structure(EMPTY).expect("readable").elements.len() <= 1);
}
