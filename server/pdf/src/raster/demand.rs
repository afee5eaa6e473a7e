//! Measures the resources needed to draw a page.

use std::collections::BTreeSet;
use std::io::{self, Read as _};

use flate2::read::ZlibDecoder;

use super::{MAX_CONTENT, MAX_SOURCE_PIXELS};
use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};

/// Everything that a page draws with, each object counted once. Counting stops soon after a limit is exceeded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Bytes of content, fonts and profiles, uncompressed.
    pub(super) content: u64,
    /// Pixels of images and masks.
    pub(super) pixels: u64,
}

impl Demand {
    pub(super) fn of_page(document: &Document, page: ObjectNumber) -> Result<Self, PdfError> {
        let page = document.get_dictionary(page, "expected a page")?;
        let mut demand = Self::default();
        let mut seen = BTreeSet::new();
        let mut waiting = Vec::new();
        for key in ["Contents", "Resources"] {
            waiting.extend(page.get(key).cloned());
        }
        while let Some(object) = waiting.pop() {
            if demand.content > MAX_CONTENT || demand.pixels > MAX_SOURCE_PIXELS {
                break;
            }
            match object {
                Object::Reference(number) if seen.insert(number) => waiting.push(document.get(number)?),
                Object::Array(items) => waiting.extend(items),
                Object::Dictionary(dictionary) => waiting.extend(values(dictionary)),
                Object::Stream(stream) => {
                    demand.add(&stream);
                    waiting.extend(values(stream.dictionary));
                }
                _ => {}
            }
        }
        Ok(demand)
    }

    fn add(&mut self, stream: &Stream) {
        if stream
            .dictionary
            .get("Subtype")
            .is_some_and(|kind| kind.is_name("Image"))
        {
            let side = |key| stream.dictionary.get(key).and_then(Object::as_integer);
            let side = |key| side(key).and_then(|length| u64::try_from(length).ok()).unwrap_or(0);
            self.pixels = self.pixels.saturating_add(side("Width").saturating_mul(side("Height")));
        } else {
            self.content += if stream.dictionary.get("Filter").is_some() {
                inflated_length(&stream.data, MAX_CONTENT + 1)
            } else {
                stream.data.len() as u64
            };
        }
    }
}

/// Returns the values of a dictionary except `/Parent`, which leads back to the page and draws nothing.
fn values(dictionary: Dictionary<'_>) -> impl Iterator<Item = Object<'_>> {
    let entries = dictionary.entries.into_iter();
    entries
        .filter(|(key, _)| key.as_ref() != b"Parent")
        .map(|(_, value)| value)
}

/// Returns the number of inflated bytes, up to a limit; for damaged data, those before the damage.
fn inflated_length(data: &[u8], limit: u64) -> u64 {
    let mut decoder = ZlibDecoder::new(data).take(limit);
    // An error ends the data; the bytes before it are counted.
    let _ = io::copy(&mut decoder, &mut io::sink());
    limit - decoder.limit()
}
