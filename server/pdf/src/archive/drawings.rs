//! One pass over all content streams: pages, form `XObject`s (including soft masks) and tiling patterns.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::thread;

use super::content_marks::{Marker, Place};
use super::content_streams::{CompositeFonts, RepairedContent, repair, stand_in_name};
use super::missing_glyphs::{add_stand_in, is_composite};
use super::read_ahead::{Content, ReadAhead};
use super::warnings::Warnings;
use crate::PdfError;
use crate::content::{StreamReader, replace_data};
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::page_tree::media_box;
use crate::text::MAX_STRING;

/// Characters of one text that the warning shows; a letter may have any number of accents.
const SHOWN_LENGTH: usize = 8;
/// Most texts that the warning lists.
const MAX_LISTED: usize = 20;

/// Repairs every content stream that needs it, and marks what is painted outside of tagged content. `marker` is a new one,
/// and `others` are the streams that are not the content of a page. Returns the pages and forms with text that belongs to
/// no element, each with its page.
pub(super) fn repair_drawings<'a>(
    document: &mut Document<'a>,
    marker: Marker<'_, 'a>,
    pages: &[ObjectNumber],
    others: &[ObjectNumber],
    warnings: &mut Warnings,
) -> Result<BTreeMap<ObjectNumber, ObjectNumber>, PdfError> {
    let mut pass = Pass {
        marker,
        ..Pass::default()
    };
    thread::scope(|scope| {
        let mut ahead = ReadAhead::start(scope, document, pages);
        for (index, number) in pages.iter().enumerate() {
            pass.repair_page(document, *number, &mut ahead)?;
            if !pass.stand_ins.is_empty() {
                pass.first_page.get_or_insert(index + 1);
            }
        }
        Ok::<_, PdfError>(())
    })?;
    let mut seen = BTreeSet::new();
    while let Some(number) = pass.marker.next_form() {
        if seen.insert(number) {
            pass.repair_drawing(document, number, Place::Untagged)?;
        }
    }
    let copies = pass.marker.copies();
    for number in others.iter().chain(&copies).filter(|number| !seen.contains(number)) {
        pass.repair_drawing(document, *number, Place::Other)?;
    }
    let loose_text = pass.marker.loose_text();
    pass.report(warnings);
    Ok(loose_text)
}

#[derive(Default)]
struct Pass<'s, 'a> {
    marker: Marker<'s, 'a>,
    reader: StreamReader,
    /// Content of the last stream; reused for its capacity.
    buffer: Vec<u8>,
    /// Stand-in fonts by the fonts that they replace.
    stand_ins: BTreeMap<ObjectNumber, ObjectNumber>,
    is_composite: BTreeMap<ObjectNumber, bool>,
    /// Characters that no font has.
    characters: BTreeSet<String>,
    /// Whether there are others, whose text the document does not contain.
    has_unnamed: bool,
    first_page: Option<usize>,
    limited: usize,
    shortened: usize,
}

impl<'a> Pass<'_, 'a> {
    fn repair_page(
        &mut self,
        document: &mut Document<'a>,
        number: ObjectNumber,
        ahead: &mut ReadAhead,
    ) -> Result<(), PdfError> {
        let mut page = document.get_dictionary(number, "expected a page")?;
        let place = Place::Page(media_box(&page));
        // Several if a header or footer is drawn over the content: each is complete by itself.
        for contents in page.items("Contents").to_vec() {
            let contents = contents
                .as_reference()
                .ok_or_else(|| document.damaged(number, "expected references to content streams"))?;
            let Object::Stream(mut stream) = document.get(contents)? else {
                return Err(document.damaged(contents, "expected a content stream"));
            };
            let content = match ahead.take(contents) {
                Some(content) => content,
                None => self.read(document, contents, &stream)?,
            };
            if self.repair_stream(document, content, (contents, &mut stream), (number, &mut page), place)? {
                document.set(contents, Object::Stream(stream));
                document.set(number, Object::Dictionary(page.clone()));
            }
        }
        Ok(())
    }

    fn repair_drawing(
        &mut self,
        document: &mut Document<'a>,
        number: ObjectNumber,
        place: Place,
    ) -> Result<(), PdfError> {
        let Object::Stream(mut stream) = document.get(number)? else {
            return Ok(());
        };
        let mut dictionary = stream.dictionary.clone();
        let content = self.read(document, number, &stream)?;
        if self.repair_stream(
            document,
            content,
            (number, &mut stream),
            (number, &mut dictionary),
            place,
        )? {
            dictionary.set("Filter", Object::name("FlateDecode"));
            document.set(number, Object::Stream(Stream { dictionary, ..stream }));
        }
        Ok(())
    }

    fn read(&mut self, document: &Document, number: ObjectNumber, stream: &Stream) -> Result<Content, PdfError> {
        let mut bytes = take(&mut self.buffer);
        self.reader
            .read(stream, &mut bytes)
            .map_err(|what| document.damaged(number, what))?;
        Ok(Content::new(bytes))
    }

    /// Repairs one stream, whose resources are in the `/Resources` of `owner`, the page or the stream's own dictionary,
    /// given with its number. Returns whether anything changed.
    fn repair_stream(
        &mut self,
        document: &mut Document<'a>,
        content: Content,
        (number, stream): (ObjectNumber, &mut Stream<'a>),
        (owner_number, owner): (ObjectNumber, &mut Dictionary<'a>),
        place: Place,
    ) -> Result<bool, PdfError> {
        let repaired = self.repair_content(document, &content, owner);
        let repaired = repaired.map_err(|error| in_object(document, number, error))?;
        let current = repaired.as_deref().unwrap_or(&content.bytes);
        let marked = self.marker.mark(document, current, (owner_number, owner), place);
        let marked = marked.map_err(|error| in_object(document, number, error))?;
        let changed = marked.or(repaired);
        if let Some(changed) = &changed {
            replace_data(stream, changed);
        }
        self.buffer = content.bytes;
        Ok(changed.is_some())
    }

    /// Draws characters that no font has in stand-ins, and enforces limits. Returns `None` if nothing changes.
    fn repair_content(
        &mut self,
        document: &mut Document<'a>,
        content: &Content,
        owner: &mut Dictionary<'a>,
    ) -> Result<Option<Vec<u8>>, PdfError> {
        if !content.may_need_repair {
            return Ok(None);
        }
        let mut resources = document.resolve_dictionary(owner, "Resources")?;
        let mut fonts = document.resolve_dictionary(&resources, "Font")?;
        let composite_fonts = self.composite_fonts(document, &fonts)?;
        let Some(mut repaired) = repair(&content.bytes, &composite_fonts)? else {
            return Ok(None);
        };
        if !repaired.missing.is_empty() {
            for font in repaired.missing.iter().map(|(font, _)| *font).collect::<BTreeSet<_>>() {
                let stand_in = self.stand_in(document, font)?;
                fonts.insert(stand_in_name(font).into_bytes(), Object::Reference(stand_in));
            }
            resources.set("Font", Object::Dictionary(fonts));
            owner.set("Resources", Object::Dictionary(resources));
        }
        let bytes = take(&mut repaired.bytes);
        self.note(repaired);
        Ok(Some(bytes))
    }

    fn composite_fonts(&mut self, document: &Document, fonts: &Dictionary) -> Result<CompositeFonts, PdfError> {
        let mut found = CompositeFonts::new();
        for (name, font) in &fonts.entries {
            let Some(number) = font.as_reference() else { continue };
            let is_composite = match self.is_composite.get(&number) {
                Some(known) => *known,
                None => is_composite(document, number)?,
            };
            self.is_composite.insert(number, is_composite);
            if is_composite {
                found.insert(name.to_vec(), number);
            }
        }
        Ok(found)
    }

    fn stand_in(&mut self, document: &mut Document, font: ObjectNumber) -> Result<ObjectNumber, PdfError> {
        Ok(match self.stand_ins.entry(font) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => *entry.insert(add_stand_in(document, font)?),
        })
    }

    fn note(&mut self, repaired: RepairedContent) {
        self.limited += repaired.limited;
        self.shortened += repaired.shortened;
        for (_, text) in repaired.missing {
            match text {
                Some(text) => self.characters.insert(text),
                None => std::mem::replace(&mut self.has_unnamed, true),
            };
        }
    }

    fn report(self, warnings: &mut Warnings) {
        if !self.stand_ins.is_empty() {
            let mut listed: Vec<String> = self
                .characters
                .iter()
                .take(MAX_LISTED)
                .map(|text| describe(text))
                .collect();
            if self.characters.len() > MAX_LISTED {
                listed.push(format!("{} more", self.characters.len() - MAX_LISTED));
            }
            if self.has_unnamed {
                listed.push("some that the browser does not name".into());
            }
            let page = self
                .first_page
                .map_or_else(String::new, |page| format!(", first on page {page}"));
            let listed = listed.join(", ");
            let message = format!("Some characters are drawn as empty boxes because no font has them{page}: {listed}.");
            warnings.add("missing_glyph", message);
        }
        if self.limited > 0 {
            let message = format!(
                "Coordinates outside the range that PDF/A allows were limited to it: {}.",
                self.limited
            );
            warnings.add("number_limited", message);
        }
        if self.shortened > 0 {
            let message = format!(
                "Replacement texts over {MAX_STRING} bytes were cut to that length: {}.",
                self.shortened
            );
            warnings.add("text_shortened", message);
        }
    }
}

/// Adds the offset of the stream's object to an error within its content.
fn in_object(document: &Document, number: ObjectNumber, error: PdfError) -> PdfError {
    match error {
        PdfError::Damaged { what, .. } => document.damaged(number, what),
        other => other,
    }
}

/// Returns characters and their code points, or only the code points if there are invisible characters.
fn describe(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN_LENGTH).collect();
    let codes: Vec<String> = shown
        .chars()
        .map(|character| format!("U+{:04X}", u32::from(character)))
        .collect();
    let more = if shown.len() < text.len() { " …" } else { "" };
    let codes = codes.join(" ") + more;
    if shown
        .chars()
        .any(|character| character.is_control() || character.is_whitespace())
    {
        codes
    } else {
        format!("{shown} ({codes})")
    }
}
