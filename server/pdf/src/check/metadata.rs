//! Metadata: an XMP packet that declares a level of PDF/A-2 and agrees with the document information (ISO 19005-2, 6.6).

use std::collections::BTreeMap;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::standards::Conformance;
use super::{Finding, dictionary};
use crate::document::Document;
use crate::object::{Dictionary, Object};
use crate::text::{decode, information_date, is_language_tag, is_xml};
use crate::xmp::read_packet;

/// Keys of the document information and the XMP properties with which they must agree (6.6.3).
const TEXTS: [(&str, &str); 6] = [
    ("Title", "dc:title"),
    ("Author", "dc:creator"),
    ("Subject", "dc:description"),
    ("Keywords", "pdf:Keywords"),
    ("Creator", "xmp:CreatorTool"),
    ("Producer", "pdf:Producer"),
];
const DATES: [(&str, &str); 2] = [("CreationDate", "xmp:CreateDate"), ("ModDate", "xmp:ModifyDate")];

/// What the metadata says.
pub(super) struct Metadata {
    /// In the order of [`Conformance`].
    pub(super) declared: Vec<Conformance>,
    pub(super) has_title: bool,
}

pub(super) fn check_metadata(document: &Document) -> Result<Metadata, Finding> {
    let damaged = |error: crate::PdfError| Finding::new("6.6", error.to_string());
    let catalog = dictionary(document, document.root().map_err(damaged)?)?;
    let metadata = catalog
        .get("Metadata")
        .map(|metadata| document.resolve(metadata))
        .transpose()
        .map_err(damaged)?;
    let Some(Object::Stream(metadata)) = metadata else {
        return Err(Finding::new("6.6.2.1-1", "expected metadata in the catalog"));
    };
    let packet = read_packet(&metadata.data)
        .ok_or_else(|| Finding::new("6.6.2.1-4", "metadata: expected an XMP packet as Platen writes it"))?;
    let level = packet.level();
    let properties = packet.properties;
    let count = properties.len();
    let properties: BTreeMap<&str, String> = properties.into_iter().collect();
    if properties.len() < count || properties.values().any(|text| !text.chars().all(is_xml)) {
        return Err(Finding::new(
            "6.6.2.1-4",
            "metadata: expected each property once, with valid XML characters",
        ));
    }
    let level =
        level.ok_or_else(|| Finding::new("6.6.4", "metadata: expected a declaration of part 2, level B, U or A"))?;
    let accessible = packet.is_accessible.then_some(Conformance::PdfUa1);
    if properties
        .get("dc:language")
        .is_some_and(|tag| !is_language_tag(tag.as_bytes()))
    {
        return Err(Finding::new(
            "6.6.2.3.1-2",
            "metadata: dc:language is not a language tag",
        ));
    }
    let information = document
        .resolve_dictionary(&document.trailer(), "Info")
        .map_err(damaged)?;
    check_agreement(&information, &properties)?;
    Ok(Metadata {
        declared: [level].into_iter().chain(accessible).collect(),
        has_title: properties.get("dc:title").is_some_and(|title| !title.is_empty()),
    })
}

fn check_agreement(information: &Dictionary, properties: &BTreeMap<&str, String>) -> Result<(), Finding> {
    let text = |key| information.get(key).and_then(Object::as_string);
    for (key, property) in TEXTS {
        if text(key).map(decode).as_ref() != properties.get(property) {
            return Err(Finding::new(
                "6.6.3",
                format!("document information: /{key} differs from {property} of the metadata"),
            ));
        }
    }
    for (key, property) in DATES {
        let instant = properties
            .get(property)
            .map(|date| OffsetDateTime::parse(date, &Rfc3339))
            .transpose();
        let instant =
            instant.map_err(|_| Finding::new("6.6.2.3.1-2", format!("metadata: {property} is not a date")))?;
        if text(key).map(<[u8]>::to_vec) != instant.map(|instant| information_date(instant).into_bytes()) {
            return Err(Finding::new(
                "6.6.3",
                format!("document information: /{key} differs from {property} of the metadata"),
            ));
        }
    }
    let last = properties
        .get("xmp:MetadataDate")
        .map(|date| OffsetDateTime::parse(date, &Rfc3339))
        .transpose();
    last.map(|_| ())
        .map_err(|_| Finding::new("6.6.2.3.1-2", "metadata: xmp:MetadataDate is not a date"))
}
