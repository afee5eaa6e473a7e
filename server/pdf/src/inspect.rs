//! Tells what a PDF holds, for people who wonder: pages, fonts, pictures, tags, outline, links, conformance.

mod objects;
mod outline;

use std::collections::BTreeMap;

use crate::PdfError;
use crate::check::{Conformance, Violation, check};
use crate::document::Document;
use crate::object::Object;
use crate::object_streams::unpack;
use crate::page_tree::{list_pages, page_size};
use crate::text::decode;

/// What a PDF holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Of PDF, by the file's first line: `1.7`.
    pub version: String,
    /// Of the document information.
    pub title: Option<String>,
    /// The catalog's language tag.
    pub language: Option<String>,
    /// In points, of each page.
    pub page_sizes: Vec<(f64, f64)>,
    /// In the order in which they stand in the file.
    pub fonts: Vec<Font>,
    /// In the order in which they stand in the file, without the masks of others.
    pub images: Vec<Image>,
    /// How many structure elements there are of each type.
    pub tags: BTreeMap<String, usize>,
    /// Entries of the outline.
    pub outline: Outline,
    /// Links of the pages.
    pub links: Links,
    /// What the file says that it conforms to, for instance `PDF/A-2b`.
    pub declared: Option<String>,
    /// What our check says.
    pub verdict: Result<Conformance, Vec<Violation>>,
}

/// A font.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Font {
    /// Without the letters that mark a subset; empty if it has none.
    pub name: String,
    /// `TrueType`, `CFF`, `Type 1` or `Type 3`.
    pub kind: &'static str,
    /// Whether the file holds its program, or its glyphs.
    pub is_embedded: bool,
    /// Whether it holds some of its glyphs only.
    pub is_subset: bool,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels.
    pub width: i64,
    /// Pixels.
    pub height: i64,
    /// The colour space by PDF's name for its kind: `DeviceRGB`, `ICCBased`.
    pub colours: String,
    /// The filter by PDF's name: `FlateDecode`, `DCTDecode`; empty if there is none.
    pub filter: String,
    /// Whether it has a mask of its own, as pictures with transparency do.
    pub has_mask: bool,
}

/// An outline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outline {
    /// Entries.
    pub count: usize,
    /// Levels; 0 if there is no entry.
    pub depth: usize,
}

/// Links by where they lead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Links {
    /// To a place in the document.
    pub internal: usize,
    /// To an address, or any other action.
    pub external: usize,
}

/// Reads a file of one revision, as Chromium and Platen write it; any other is [`PdfError::Damaged`].
pub fn inspect(bytes: &[u8]) -> Result<Inspection, PdfError> {
    let bytes = &*unpack(bytes)?;
    let document = Document::open(&[bytes])?;
    let catalog = document.get_dictionary(document.root()?, "a catalog expected")?;
    let pages = list_pages(&document, document.root()?)?;
    let information = document.resolve_dictionary(&document.trailer(), "Info")?;
    let text = |value: Option<&Object>| value.and_then(Object::as_string).map(decode);
    let found = objects::read_objects(&document)?;
    Ok(Inspection {
        version: version(bytes),
        title: text(information.get("Title")),
        language: text(catalog.get("Lang")),
        page_sizes: pages
            .iter()
            .map(|page| page_size(&document, *page))
            .collect::<Result<_, _>>()?,
        fonts: found.fonts,
        images: found.images,
        tags: found.tags,
        outline: outline::measure_outline(&document, &catalog)?,
        links: found.links,
        declared: match catalog
            .get("Metadata")
            .map(|metadata| document.resolve(metadata))
            .transpose()?
        {
            Some(Object::Stream(metadata)) => declared(&String::from_utf8_lossy(&metadata.data)),
            _ => None,
        },
        verdict: check(bytes),
    })
}

fn version(bytes: &[u8]) -> String {
    let line = bytes.strip_prefix(b"%PDF-").unwrap_or_default();
    let length = line
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    String::from_utf8_lossy(&line[..length]).into_owned()
}

/// The claim in an XMP packet of anybody's, as elements or attributes.
fn declared(packet: &str) -> Option<String> {
    let value = |name: &str| {
        let after = packet.split_once(name)?.1;
        after
            .trim_start_matches(['>', '=', '"', '\''])
            .chars()
            .next()
            .filter(char::is_ascii_alphanumeric)
    };
    let level = value("pdfaid:conformance").map(|level| level.to_ascii_lowercase());
    Some(format!(
        "PDF/A-{}{}",
        value("pdfaid:part")?,
        level.map_or_else(String::new, String::from)
    ))
}

#[cfg(test)]
mod tests;
