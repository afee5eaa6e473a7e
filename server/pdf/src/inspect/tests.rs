use time::OffsetDateTime;

use super::{Font, Image, Links, Outline, inspect};
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
