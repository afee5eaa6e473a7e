//! Fonts, images, tags and links among all objects.

use std::collections::{BTreeMap, BTreeSet};

use super::{Font, Image, Links};
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Length of the prefix of an embedded subset's name, letters and `+` (ISO 32000-1, 9.6.4).
const SUBSET_MARK_LENGTH: usize = 7;

#[derive(Default)]
pub(super) struct Found {
    pub(super) fonts: Vec<Font>,
    pub(super) images: Vec<Image>,
    pub(super) tags: BTreeMap<String, usize>,
    pub(super) links: Links,
}

pub(super) fn read_objects(document: &Document) -> Result<Found, PdfError> {
    let mut found = Found::default();
    let mut images = Vec::new();
    let mut masks: BTreeSet<ObjectNumber> = BTreeSet::new();
    for number in 1..document.size() {
        let object = document.get(number)?;
        let Some(dictionary) = object.as_dictionary() else {
            continue;
        };
        match (name(dictionary, "Type").as_str(), name(dictionary, "Subtype").as_str()) {
            ("StructElem", _) => *found.tags.entry(name(dictionary, "S")).or_default() += 1,
            // Part of a composite font, which is listed.
            ("Font", "CIDFontType0" | "CIDFontType2") => {}
            ("Font", _) => found.fonts.push(font(document, dictionary)?),
            (_, "Image") => {
                masks.extend(dictionary.reference("SMask"));
                masks.extend(dictionary.reference("Mask"));
                images.push((number, image(document, dictionary)?));
            }
            ("Annot", "Link") if dictionary.get("A").is_some() => found.links.external += 1,
            ("Annot", "Link") => found.links.internal += 1,
            _ => {}
        }
    }
    let pictures = images.into_iter().filter(|(number, _)| !masks.contains(number));
    found.images = pictures.map(|(_, image)| image).collect();
    Ok(found)
}

fn font(document: &Document, font: &Dictionary) -> Result<Font, PdfError> {
    let descendant = document.descendant_font(font)?;
    let inner = descendant.as_ref().unwrap_or(font);
    let descriptor = document.resolve_dictionary(inner, "FontDescriptor")?;
    let full_name = match name(font, "BaseFont") {
        base if base.is_empty() => name(&descriptor, "FontName"),
        base => base,
    };
    let mark = full_name
        .get(..SUBSET_MARK_LENGTH)
        .and_then(|mark| mark.strip_suffix('+'));
    let is_subset = mark.is_some_and(|mark| mark.bytes().all(|byte| byte.is_ascii_uppercase()));
    let own_name = if is_subset {
        &full_name[SUBSET_MARK_LENGTH..]
    } else {
        &full_name
    };
    let kind = match name(inner, "Subtype").as_str() {
        "Type3" => "Type 3",
        "TrueType" | "CIDFontType2" => "TrueType",
        _ if descriptor.get("FontFile3").is_some() => "CFF",
        _ => "Type 1",
    };
    let has_program = ["FontFile", "FontFile2", "FontFile3"]
        .into_iter()
        .any(|key| descriptor.get(key).is_some());
    Ok(Font {
        name: own_name.to_owned(),
        kind,
        is_embedded: has_program || kind == "Type 3",
        is_subset,
    })
}

fn image(document: &Document, image: &Dictionary) -> Result<Image, PdfError> {
    let size = |key| image.get(key).and_then(Object::as_integer).unwrap_or_default();
    let value = |key| image.get(key).map(|value| document.resolve(value)).transpose();
    Ok(Image {
        width: size("Width"),
        height: size("Height"),
        colours: names(value("ColorSpace")?).next().unwrap_or_default(),
        // The last of several is that of the image itself.
        filter: names(value("Filter")?).last().unwrap_or_default(),
        has_mask: image.get("SMask").is_some() || image.get("Mask").is_some(),
    })
}

/// Returns a name, or those in an array.
fn names(value: Option<Object>) -> impl Iterator<Item = String> {
    let items = match value {
        Some(Object::Array(items)) => items,
        value => value.into_iter().collect(),
    };
    items.into_iter().filter_map(|item| as_name(&item))
}

/// Returns the name under a key; empty if there is none.
fn name(dictionary: &Dictionary, key: &str) -> String {
    dictionary.get(key).and_then(as_name).unwrap_or_default()
}

fn as_name(object: &Object) -> Option<String> {
    match object {
        Object::Name(name) => Some(String::from_utf8_lossy(name).into_owned()),
        _ => None,
    }
}
