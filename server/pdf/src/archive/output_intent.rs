//! Defines RGB and grey in the document (ISO 19005-2, 6.2.4.3) as sRGB, as in a browser.

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, Stream};

/// ICC v4.2, made for this project: matrix and one parametric curve of IEC 61966-2-1, adapted to D50; 516 bytes.
const PROFILE: &[u8] = include_bytes!("../../data/srgb.icc");
const CONDITION: &[u8] = b"sRGB IEC61966-2.1";

pub(super) fn add_output_intent(document: &mut Document) -> Result<(), PdfError> {
    let root = document.root()?;
    let mut catalog = document.get_dictionary(root, "expected a catalog")?;
    let profile = Stream::plain(Dictionary::new([("N", Object::Integer(3))]), PROFILE);
    let profile = document.add(Object::Stream(profile));
    let intent = Dictionary::new([
        ("Type", Object::name("OutputIntent")),
        ("S", Object::name("GTS_PDFA1")),
        ("OutputConditionIdentifier", Object::String(CONDITION.into())),
        ("Info", Object::String(CONDITION.into())),
        ("DestOutputProfile", Object::Reference(profile)),
    ]);
    catalog.set("OutputIntents", Object::Array(vec![Object::Dictionary(intent)]));
    document.set(root, Object::Dictionary(catalog));
    Ok(())
}
