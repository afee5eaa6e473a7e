//! Gives text that belongs to no element an element of its own: text of frames, form fields, media controls, images that
//! can't be displayed, and generated text that isn't painted beside other content. It is read where it is painted. Text
//! whose place is doubtful is left.

mod insertions;
mod painted_page;
mod position;
mod reading_order;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::artifacts::write_marks;
use super::generated_text::TaggedText;
use super::structure_tree::StructureTree;
use super::untagged::{Drawn, Operators, Untagged, find_untagged};
use crate::PdfError;
use crate::check::places::fonts::Fonts;
use crate::check::places::painter::{Painter, TextObject};
use crate::content::{StreamReader, replace_data};
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use insertions::Insertions;
use painted_page::PaintedPage;
use position::{Position, Positions};

/// Adds elements for text to the structure. `streams` are the pages and forms with such text.
pub(super) fn tag_loose_text<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    pages: &[ObjectNumber],
    streams: &BTreeMap<ObjectNumber, ObjectNumber>,
) -> Result<(), PdfError> {
    let with_text: BTreeSet<ObjectNumber> = streams.values().copied().collect();
    if with_text.is_empty() {
        return Ok(());
    }
    let mut positions = Positions::new(document, structure)?;
    let mut fonts = Fonts::default();
    let mut insertions = Insertions::default();
    for page in pages.iter().filter(|page| with_text.contains(page)) {
        let mut painted = PaintedPage::default();
        if Painter::new(document, &mut fonts, &mut painted).page(*page).is_err() {
            continue;
        }
        painted.texts.retain(|text| streams.contains_key(&text.object.owner));
        let blocks = positions.blocks(document, &painted)?;
        add_elements(document, structure, *page, blocks, &mut insertions)?;
    }
    insertions.write(document)
}

/// Texts of one line that are read one after the other.
struct Block {
    position: Position,
    texts: Vec<TextObject>,
}

/// Adds an element for each block of a page, and marks the texts.
fn add_elements<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    page: ObjectNumber,
    blocks: Vec<Block>,
    insertions: &mut Insertions,
) -> Result<(), PdfError> {
    let mut streams: BTreeMap<ObjectNumber, MarkedStream> = BTreeMap::new();
    let mut owners: BTreeMap<ObjectNumber, Vec<Object<'a>>> = BTreeMap::new();
    let mut keys = BTreeMap::new();
    for Block { position, texts } in blocks {
        let element = document.add(Object::Null);
        let mut kids = Vec::new();
        for text in texts {
            let stream = match streams.entry(text.stream) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(MarkedStream::read(document, text.stream)?),
            };
            let Some(range) = stream.texts.remove(&text.start) else {
                continue;
            };
            let owners = match owners.entry(text.owner) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let key = stream_key(document, structure, text.owner)?;
                    keys.insert(text.owner, key);
                    entry.insert(structure.owners(document, key)?)
                }
            };
            kids.push(content(page, text.owner, owners.len()));
            stream.tagged.push(TaggedText {
                range,
                kind: position.kind.as_bytes().to_vec(),
                identifier: owners.len(),
            });
            owners.push(Object::Reference(element));
        }
        if kids.is_empty() {
            document.remove(element);
            continue;
        }
        let dictionary = Dictionary::new([
            ("Type", Object::name("StructElem")),
            ("S", Object::name(position.kind)),
            ("P", Object::Reference(position.parent)),
            ("Pg", Object::Reference(page)),
            ("K", Object::Array(kids)),
        ]);
        document.set(element, Object::Dictionary(dictionary));
        insertions.add(&position, element);
    }
    for (owner, owners) in owners {
        structure.set_owners(document, keys[&owner], owners)?;
    }
    for (number, stream) in streams {
        stream.write(document, number)?;
    }
    Ok(())
}

/// Returns the kid of an element that is marked content of a page, or of a form that is drawn on it.
fn content<'a>(page: ObjectNumber, owner: ObjectNumber, identifier: usize) -> Object<'a> {
    if owner == page {
        return Object::count(identifier);
    }
    Object::Dictionary(Dictionary::new([
        ("Type", Object::name("MCR")),
        ("Pg", Object::Reference(page)),
        ("Stm", Object::Reference(owner)),
        ("MCID", Object::count(identifier)),
    ]))
}

/// Returns the key of a page or form in the parent tree, which it gets if it has none.
fn stream_key<'a>(
    document: &mut Document<'a>,
    structure: &mut StructureTree<'a>,
    owner: ObjectNumber,
) -> Result<i64, PdfError> {
    let mut object = document.get(owner)?;
    let dictionary = object
        .as_dictionary_mut()
        .ok_or_else(|| document.damaged(owner, "expected a page or form"))?;
    if let Some(key) = dictionary.get("StructParents").and_then(Object::as_integer) {
        return Ok(key);
    }
    let key = structure.add_key(document, Object::Array(Vec::new()))?;
    dictionary.set("StructParents", Object::Integer(key));
    document.set(owner, object);
    Ok(key)
}

/// A content stream in which texts are marked.
struct MarkedStream {
    content: Vec<u8>,
    /// Untagged text objects by their start.
    texts: BTreeMap<usize, Operators>,
    tagged: Vec<TaggedText>,
}

impl MarkedStream {
    fn read(document: &Document, number: ObjectNumber) -> Result<Self, PdfError> {
        let Object::Stream(stream) = document.get(number)? else {
            return Err(document.damaged(number, "expected a content stream"));
        };
        let mut content = Vec::new();
        StreamReader::default()
            .read(&stream, &mut content)
            .map_err(|what| document.damaged(number, what))?;
        let untagged = find_untagged(&content, None, &mut |_| Drawn::Decoration)?;
        let texts = untagged.texts.into_iter().map(|text| (text.range.start, text.range));
        Ok(Self {
            texts: texts.collect(),
            content,
            tagged: Vec::new(),
        })
    }

    fn write(self, document: &mut Document, number: ObjectNumber) -> Result<(), PdfError> {
        let marked = write_marks(&self.content, &Untagged::default(), &self.tagged, &[]);
        if let (Some(marked), Object::Stream(mut stream)) = (marked, document.get(number)?) {
            replace_data(&mut stream, &marked);
            document.set(number, Object::Stream(stream));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
