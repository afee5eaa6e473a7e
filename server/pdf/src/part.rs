//! A printed file as a part of a document. Each file numbers its objects, keys and identifiers from the start; here
//! they are mapped to unique ones of the document, while the file itself is unchanged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::PdfError;
use crate::file::File;
use crate::lexer::Lexer;
use crate::mentions::{Mention, find_mentions};
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::write::{write_name, write_reference, write_string};

#[derive(Debug)]
pub(crate) struct Part<'a> {
    file: File<'a>,
    /// Document-wide number of the file's object 0.
    pub(crate) first_number: ObjectNumber,
    /// Document-wide number of each of the file's objects.
    numbers: Vec<ObjectNumber>,
    /// Added to keys of the parent tree.
    pub(crate) first_key: i64,
    /// Prefix of the identifiers of structure elements.
    pub(crate) identifier_prefix: String,
    /// New names of destinations whose names are taken.
    pub(crate) renamed_destinations: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl<'a> Part<'a> {
    pub(crate) fn open(bytes: &'a [u8], first_number: ObjectNumber) -> Result<Self, PdfError> {
        let file = File::open(bytes)?;
        let end = ObjectNumber::try_from(file.size())
            .ok()
            .and_then(|size| first_number.checked_add(size))
            .ok_or(PdfError::damaged(0, "more objects than a PDF may have"))?;
        let mut numbers: Vec<ObjectNumber> = (first_number..end).collect();
        // `0 0 R` is a reference to nothing in every file.
        if let Some(zero) = numbers.first_mut() {
            *zero = 0;
        }
        Ok(Self {
            file,
            first_number,
            numbers,
            first_key: 0,
            identifier_prefix: String::new(),
            renamed_destinations: BTreeMap::new(),
        })
    }

    /// Returns the highest document-wide number of its objects plus one.
    pub(crate) fn end(&self) -> ObjectNumber {
        self.first_number + self.numbers.len() as ObjectNumber
    }

    pub(crate) fn file(&self) -> &File<'a> {
        &self.file
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn length(&self) -> usize {
        self.file.length()
    }

    /// Returns the beginning and the end of the file, at most `length` bytes each and without overlap. Document
    /// information, which Chromium writes first, is left out, because it contains the time of printing.
    pub(crate) fn ends(&self, length: usize) -> [&'a [u8]; 2] {
        let bytes = self.file.bytes();
        let information = self.file.trailer.reference("Info");
        let information = information
            .and_then(|number| self.file.range(number))
            .map(|range| range.end);
        let bytes = &bytes[information.filter(|end| *end <= length).unwrap_or_default()..];
        let (start, rest) = bytes.split_at(length.min(bytes.len()));
        [start, &rest[rest.len().saturating_sub(length)..]]
    }

    pub(crate) fn trailer(&self) -> Dictionary<'a> {
        let mut trailer = Object::Dictionary(self.file.trailer.clone());
        self.translate(&mut trailer);
        match trailer {
            Object::Dictionary(trailer) => trailer,
            _ => Dictionary::default(),
        }
    }

    /// Reads the object of a document-wide number; returns null if there is none.
    pub(crate) fn object(&self, number: ObjectNumber) -> Result<Object<'a>, PdfError> {
        let mut object = self.file.object(self.own_number(number))?;
        self.translate(&mut object);
        Ok(object)
    }

    /// Returns an object's bytes in the file, from its number to `endobj`.
    pub(crate) fn object_bytes(&self, number: ObjectNumber) -> Option<&'a [u8]> {
        self.file.object_bytes(self.own_number(number))
    }

    /// Returns the offset of an object in the file, in bytes.
    pub(crate) fn offset(&self, number: ObjectNumber) -> Option<usize> {
        Some(self.file.range(self.own_number(number))?.start)
    }

    /// Returns the tokens of an object in the file, after its number and `obj`.
    pub(crate) fn lexer(&self, number: ObjectNumber) -> Option<Lexer<'a>> {
        self.file.lexer(self.own_number(number))
    }

    /// Visits all mentions of an object, translated to the document's numbers and names.
    pub(crate) fn mentions(&self, number: ObjectNumber, mut visit: impl FnMut(Mention)) -> Result<(), PdfError> {
        let Some(lexer) = self.lexer(number) else {
            return Ok(());
        };
        find_mentions(lexer, |_, mention| {
            visit(match mention {
                Mention::Object(number) => Mention::Object(self.document_number(number)),
                Mention::StructureKey(key) => Mention::StructureKey(self.key(key)),
                Mention::Identifier(identifier) => Mention::Identifier(self.identifier(identifier)),
                Mention::Destination(name) => Mention::Destination(self.destination(name)),
            });
        })?;
        Ok(())
    }

    /// Writes the text between an object's `obj` and its stream or end as in the file, with its mentions translated.
    /// `renumber` returns the number to write for a document-wide one, or 0 if there is no such object. Returns the
    /// rest of the object, which is to be copied.
    pub(crate) fn write_translated(
        &self,
        number: ObjectNumber,
        output: &mut Vec<u8>,
        renumber: impl Fn(ObjectNumber) -> ObjectNumber,
    ) -> Result<&'a [u8], PdfError> {
        match (self.lexer(number), self.file.range(self.own_number(number))) {
            (Some(lexer), Some(range)) => {
                let text = &self.file.bytes()[..range.end];
                self.translate_text(text, lexer.position(), output, renumber)
            }
            _ => Ok(b""),
        }
    }

    /// Writes a text of the file from `start` on, with its mentions translated, up to a stream's data or the end. Returns the rest.
    pub(crate) fn translate_text<'t>(
        &self,
        text: &'t [u8],
        start: usize,
        output: &mut Vec<u8>,
        renumber: impl Fn(ObjectNumber) -> ObjectNumber,
    ) -> Result<&'t [u8], PdfError> {
        let mut copied = start;
        let stop = find_mentions(Lexer::new(text, start), |range, mention| {
            output.extend_from_slice(&text[copied..range.start]);
            match mention {
                Mention::Object(own) => write_reference(output, renumber(self.document_number(own))),
                Mention::StructureKey(key) => output.extend_from_slice(self.key(key).to_string().as_bytes()),
                Mention::Identifier(identifier) => write_string(output, &self.identifier(identifier)),
                Mention::Destination(name) => write_name(output, &self.destination(name)),
            }
            copied = range.end;
        })?;
        output.extend_from_slice(&text[copied..stop]);
        Ok(&text[stop..])
    }

    /// Replaces an object by an equal one: references to `number` become references to `by`.
    pub(crate) fn replace(&mut self, number: ObjectNumber, by: ObjectNumber) {
        let own = self.own_number(number);
        if let Some(number) = self.numbers.get_mut(own as usize) {
            *number = by;
        }
    }

    /// Returns the file's own number for a document-wide one. A number of another file gives one that this file doesn't
    /// have.
    fn own_number(&self, number: ObjectNumber) -> ObjectNumber {
        number.wrapping_sub(self.first_number)
    }

    /// Returns the document-wide number for one of the file's own; 0, which is no object, for one that the file doesn't
    /// have.
    pub(crate) fn document_number(&self, own: ObjectNumber) -> ObjectNumber {
        self.numbers.get(own as usize).copied().unwrap_or_default()
    }

    fn key(&self, own: i64) -> i64 {
        own.saturating_add(self.first_key)
    }

    /// Returns whether identifiers of structure elements differ from those of the file.
    pub(crate) fn renames_identifiers(&self) -> bool {
        !self.identifier_prefix.is_empty()
    }

    pub(crate) fn identifier<'o>(&self, own: Cow<'o, [u8]>) -> Cow<'o, [u8]> {
        if self.identifier_prefix.is_empty() {
            own
        } else {
            Cow::Owned([self.identifier_prefix.as_bytes(), &own].concat())
        }
    }

    fn destination<'o>(&self, own: Cow<'o, [u8]>) -> Cow<'o, [u8]> {
        match self.renamed_destinations.get(own.as_ref()) {
            Some(name) => Cow::Owned(name.clone()),
            None => own,
        }
    }

    /// Translates the mentions of an object, as `write_translated` does for its tokens.
    fn translate(&self, object: &mut Object<'a>) {
        match object {
            Object::Reference(number) => *number = self.document_number(*number),
            Object::Array(items) => items.iter_mut().for_each(|item| self.translate(item)),
            _ => {
                let dictionary = object.as_dictionary_mut();
                for (key, value) in dictionary.into_iter().flat_map(|dictionary| &mut dictionary.entries) {
                    match (key.as_ref(), value) {
                        (b"StructParent" | b"StructParents", Object::Integer(key)) => *key = self.key(*key),
                        (b"ID", Object::String(identifier)) => *identifier = self.identifier(identifier.clone()),
                        (b"Headers", Object::Array(identifiers)) => {
                            for item in identifiers {
                                match item {
                                    Object::String(identifier) => *identifier = self.identifier(identifier.clone()),
                                    item => self.translate(item),
                                }
                            }
                        }
                        (b"Dest", Object::Name(name)) => *name = self.destination(name.clone()),
                        (_, value) => self.translate(value),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXTURES: [&[u8]; 3] = [
        include_bytes!("../tests/fixtures/links.pdf"),
        include_bytes!("../tests/fixtures/missing-glyphs.pdf"),
        include_bytes!("../tests/fixtures/table.pdf"),
    ];

    /// Reading and copying must translate mentions alike.
    #[test]
    fn reads_and_writes_the_same() {
        for bytes in FIXTURES {
            let mut part = Part::open(bytes, 1_000).expect("valid");
            part.first_key = 50;
            part.identifier_prefix = "7-".into();
            let destination = b"section".to_vec();
            part.renamed_destinations = BTreeMap::from([(destination, b"other".to_vec())]);
            for number in part.first_number + 1..part.end() {
                let mut written = format!("{} 0 obj", part.own_number(number)).into_bytes();
                let rest = part
                    .write_translated(number, &mut written, |number| number)
                    .expect("valid");
                written.extend_from_slice(rest);
                let read = part.object(number).expect("valid");
                let again = crate::parse::parse_indirect_object(&written, 0, written.len());
                assert_eq!(again, Ok(read), "object {number}");
            }
        }
    }

    #[test]
    fn references_to_nothing_lead_to_no_other_file() {
        let part = Part::open(FIXTURES[0], 1_000).expect("valid");
        assert_eq!(part.document_number(9_999), 0);
        assert_eq!(part.object(999), Ok(Object::Null));
        assert_eq!(part.object(part.end()), Ok(Object::Null));
    }
}
