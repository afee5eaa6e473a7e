//! Reports the contents of a PDF: pages, fonts, images, tags, outline, links, conformance.

mod objects;
mod outline;
pub mod structure;

use std::collections::BTreeMap;

use crate::PdfError;
use crate::check::standards::Conformance;
use crate::check::{Examination, Violation, examine};
use crate::document::Document;
use crate::object::Object;
use crate::object_streams::unpack;
use crate::page_tree::{list_pages, page_size};
use crate::text::decode;

/// Contents of a PDF.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// PDF version in the file's first line: `1.7`.
    pub version: String,
    /// Title in the document information.
    pub title: Option<String>,
    /// The catalog's language tag.
    pub language: Option<String>,
    /// Width and height of each page, in points.
    pub page_sizes: Vec<(f64, f64)>,
    /// Fonts in the order of their object numbers.
    pub fonts: Vec<Font>,
    /// Images in the order of their object numbers, without the masks of other images.
    pub images: Vec<Image>,
    /// Number of structure elements of each type.
    pub tags: BTreeMap<String, usize>,
    /// Size of the outline.
    pub outline: Outline,
    /// Number of links.
    pub links: Links,
    /// Standards that the file declares in its metadata, such as `PDF/A-2a, PDF/UA-1`.
    pub declared: Option<String>,
    /// Result of [`examine()`].
    pub verdict: Result<Examination, Vec<Violation>>,
}

/// A font.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Font {
    /// Name without the prefix that marks a subset; empty if the font has none.
    pub name: String,
    /// `TrueType`, `CFF`, `Type 1` or `Type 3`.
    pub kind: &'static str,
    /// Whether the file contains the font program, or the glyphs of a Type 3 font.
    pub is_embedded: bool,
    /// Whether the file contains only some of its glyphs.
    pub is_subset: bool,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Width in pixels.
    pub width: i64,
    /// Height in pixels.
    pub height: i64,
    /// Family of the colour space by its PDF name: `DeviceRGB`, `ICCBased`.
    pub colours: String,
    /// Filter by its PDF name, the last if there are several: `FlateDecode`, `DCTDecode`; empty if there is none.
    pub filter: String,
    /// Whether it has a mask, as images with transparency do.
    pub has_mask: bool,
}

/// Size of an outline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outline {
    /// Number of entries on all levels.
    pub count: usize,
    /// Number of levels; 0 if there are no entries.
    pub depth: usize,
}

/// Number of links by target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Links {
    /// To a place in the document.
    pub internal: usize,
    /// To an address, or any other action.
    pub external: usize,
}

/// Inspects a file of one revision, as Chromium and Platen write it. Fails with [`PdfError::Damaged`] for any other
/// file.
pub fn inspect(bytes: &[u8]) -> Result<Inspection, PdfError> {
    let bytes = &*unpack(bytes)?;
    let document = Document::open(&[bytes])?;
    let catalog = document.get_dictionary(document.root()?, "expected a catalog")?;
    let pages = list_pages(&document, document.root()?)?;
    let information = document.resolve_dictionary(&document.trailer(), "Info")?;
    let text = |value: Option<&Object>| value.and_then(Object::as_string).map(decode);
    let found = objects::read_objects(&document)?;
    let verdict = examine(bytes);
    let declared = match &verdict {
        Ok(examination) => Some(Conformance::list(&examination.declared)).filter(|declared| !declared.is_empty()),
        Err(_) => match document.resolve(catalog.get("Metadata").unwrap_or(&Object::Null))? {
            Object::Stream(metadata) => declared(&String::from_utf8_lossy(&metadata.data)),
            _ => None,
        },
    };
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
        declared,
        verdict,
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

/// Returns the standards that an XMP packet of any producer declares, as elements or attributes.
fn declared<'p>(packet: &'p str) -> Option<String> {
    let value = |name: &str| {
        let element = packet.split_once(&format!("<{name}>")).map(|(_, after)| after);
        let attribute = |word: &'p str| word.strip_prefix(name)?.strip_prefix('=')?.strip_prefix(['"', '\'']);
        let mut tags = packet.split('<').filter_map(|tag| tag.split('>').next());
        let value = element.or_else(|| tags.find_map(|tag| tag.split_ascii_whitespace().find_map(attribute)));
        value?.chars().next().filter(char::is_ascii_alphanumeric)
    };
    let level = value("pdfaid:conformance").map(|level| level.to_ascii_lowercase());
    let level = level.map_or_else(String::new, String::from);
    let archival = value("pdfaid:part").map(|part| format!("PDF/A-{part}{level}"));
    let accessible = value("pdfuaid:part").map(|part| format!("PDF/UA-{part}"));
    let declared: Vec<String> = archival.into_iter().chain(accessible).collect();
    (!declared.is_empty()).then(|| declared.join(", "))
}

#[cfg(test)]
mod tests;
