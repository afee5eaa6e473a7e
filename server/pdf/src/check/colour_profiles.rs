//! Colour profiles: the output intent defines RGB and grey (ISO 19005-2, 6.2.3, 6.2.4).

use super::{Finding, dictionary};
use crate::content::StreamReader;
use crate::document::Document;
use crate::object::{Object, ObjectNumber};

/// Header of a profile (ISO 15076-1, 7.2).
struct Header {
    version: u8,
    class: [u8; 4],
    space: [u8; 4],
}

/// Checks that there is one output intent and that it is RGB: only RGB covers `DeviceRGB`, and it covers `DeviceGray`
/// too.
pub(super) fn check_output_intent(document: &Document) -> Result<(), Finding> {
    let root = document
        .root()
        .map_err(|error| Finding::new("6.1", error.to_string()))?;
    let catalog = dictionary(document, root)?;
    let intents = catalog
        .get("OutputIntents")
        .and_then(Object::as_array)
        .unwrap_or_default();
    let profile = match intents {
        [intent] => intent
            .as_dictionary()
            .and_then(|intent| intent.get("DestOutputProfile")),
        _ => None,
    };
    let profile = profile
        .and_then(Object::as_reference)
        .ok_or_else(|| Finding::new("6.2.3", "expected exactly one output intent"))?;
    let header = header(document, profile)?;
    if &header.space == b"RGB " && matches!(&header.class, b"mntr" | b"prtr") {
        Ok(())
    } else {
        Err(Finding::new(
            "6.2.4.3-2",
            "output intent: expected a profile of an RGB screen or printer",
        ))
    }
}

pub(super) fn check_colour_profile(document: &Document, number: ObjectNumber) -> Result<(), Finding> {
    let components = dictionary(document, number)?.get("N").and_then(Object::as_integer);
    let header = header(document, number)?;
    let fits = matches!((&header.space, components), (b"RGB ", Some(3)) | (b"GRAY", Some(1)));
    let is_input = matches!(&header.class, b"mntr" | b"prtr" | b"scnr" | b"spac");
    if fits && is_input && header.version < 5 {
        Ok(())
    } else {
        Err(Finding::new(
            "6.2.4.2-1",
            "colour profile: expected RGB or grey, with a version before 5",
        ))
    }
}

fn header(document: &Document, number: ObjectNumber) -> Result<Header, Finding> {
    let mut profile = Vec::new();
    match document.get(number) {
        Ok(Object::Stream(stream)) => {
            StreamReader::default()
                .read(&stream, &mut profile)
                .map_err(|what| Finding::new("6.2.4.2", format!("colour profile: {what}")))?;
        }
        _ => return Err(Finding::new("6.2.4.2", "colour profile: expected a stream")),
    }
    let field = |at: usize| {
        profile
            .get(at..at + 4)
            .and_then(|field| <[u8; 4]>::try_from(field).ok())
    };
    match (field(8), field(12), field(16), field(36)) {
        (Some([version, ..]), Some(class), Some(space), Some(signature)) if &signature == b"acsp" => {
            Ok(Header { version, class, space })
        }
        _ => Err(Finding::new(
            "6.2.4.2-1",
            "colour profile: expected a header as specified by ISO 15076-1",
        )),
    }
}
