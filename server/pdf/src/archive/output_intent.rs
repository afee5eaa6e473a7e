//! Defines RGB and grey in the document (ISO 19005-2, 6.2.4.3) as sRGB, as in a browser.

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};

/// ICC v4.2, made for this project: matrix and one parametric curve of IEC 61966-2-1, adapted to D50; 516 bytes.
const PROFILE: &[u8] = include_bytes!("../../data/srgb.icc");
const CONDITION: &[u8] = b"sRGB IEC61966-2.1";

pub(super) fn add_output_intent(document: &mut Document) -> Result<(), PdfError> {
    let profile = document.add(profile());
    document.change_catalog(|catalog| catalog.set("OutputIntents", output_intents(profile)))
}

/// Returns the stream of the colour profile.
pub(crate) fn profile() -> Object<'static> {
    Object::Stream(Stream::plain(Dictionary::new([("N", Object::Integer(3))]), PROFILE))
}

/// Returns the catalog's output intents, given the number of the profile.
pub(crate) fn output_intents(profile: ObjectNumber) -> Object<'static> {
    let intent = Dictionary::new([
        ("Type", Object::name("OutputIntent")),
        ("S", Object::name("GTS_PDFA1")),
        ("OutputConditionIdentifier", Object::String(CONDITION.into())),
        ("Info", Object::String(CONDITION.into())),
        ("DestOutputProfile", Object::Reference(profile)),
    ]);
    Object::Array(vec![Object::Dictionary(intent)])
}
