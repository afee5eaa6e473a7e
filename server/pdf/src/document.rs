//! A document that is being changed, made of one file or several. Objects that are not read stay in their file.

use std::collections::BTreeMap;
use std::mem::take;

use crate::PdfError;
use crate::lexer::Lexer;
use crate::mentions::Mention;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::part::Part;

/// Longest chain of references that is followed to an object.
const MAX_CHAIN: usize = 8;

#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// In the order of their object numbers.
    parts: Vec<Part<'a>>,
    /// Objects that differ from those in the files.
    changed: BTreeMap<ObjectNumber, Object<'a>>,
    /// By object number: whether there is no such object.
    is_free: Vec<bool>,
    /// No lower number is free, except 0, which no object may have.
    next_free: usize,
}

impl<'a> Document<'a> {
    /// Opens the files side by side. The catalog is that of the first file; the objects of the others are unreachable
    /// until they are joined.
    pub(crate) fn open(files: &[&'a [u8]]) -> Result<Self, PdfError> {
        let mut parts: Vec<Part> = Vec::with_capacity(files.len());
        let mut is_free = Vec::new();
        for bytes in files {
            let part = Part::open(bytes, parts.last().map_or(0, Part::end))?;
            is_free.extend((part.first_number..part.end()).map(|number| part.object_bytes(number).is_none()));
            parts.push(part);
        }
        if let Some(is_free) = is_free.first_mut() {
            *is_free = true;
        }
        Ok(Self {
            parts,
            changed: BTreeMap::new(),
            is_free,
            next_free: 1,
        })
    }

    /// Returns the files, in the order in which they were opened.
    pub(crate) fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// Returns the files for renumbering, which must happen before any object is read.
    pub(crate) fn parts_mut(&mut self) -> &mut [Part<'a>] {
        &mut self.parts
    }

    /// Returns the highest object number plus one.
    pub(crate) fn size(&self) -> ObjectNumber {
        self.is_free.len() as ObjectNumber
    }

    /// Returns the current object of that number; null if there is none.
    pub(crate) fn get(&self, number: ObjectNumber) -> Result<Object<'a>, PdfError> {
        match (self.changed.get(&number), self.part_of(number)) {
            (Some(object), _) => Ok(object.clone()),
            (None, Some(part)) if !self.is_free(number) => part.object(number),
            _ => Ok(Object::Null),
        }
    }

    /// Returns the dictionary of that number, or that of a stream. Fails with `what` if the object is neither.
    pub(crate) fn get_dictionary(&self, number: ObjectNumber, what: &'static str) -> Result<Dictionary<'a>, PdfError> {
        match self.get(number)? {
            Object::Dictionary(dictionary) => Ok(dictionary),
            Object::Stream(stream) => Ok(stream.dictionary),
            _ => Err(self.damaged(number, what)),
        }
    }

    /// Follows a reference; returns any other object unchanged.
    pub(crate) fn resolve(&self, object: &Object<'a>) -> Result<Object<'a>, PdfError> {
        let mut found = object.clone();
        for _ in 0..MAX_CHAIN {
            match found {
                Object::Reference(number) => found = self.get(number)?,
                object => return Ok(object),
            }
        }
        Err(PdfError::damaged(0, "a chain of too many references"))
    }

    /// Returns the descendant of a composite font (ISO 32000-1, 9.7); `None` for every other font.
    pub(crate) fn descendant_font(&self, font: &Dictionary<'a>) -> Result<Option<Dictionary<'a>>, PdfError> {
        let descendants = font
            .get("DescendantFonts")
            .map(|fonts| self.resolve(fonts))
            .transpose()?;
        let descendant = descendants.as_ref().and_then(Object::as_array).and_then(<[_]>::first);
        let descendant = descendant.map(|font| self.resolve(font)).transpose()?;
        Ok(descendant.as_ref().and_then(Object::as_dictionary).cloned())
    }

    /// Returns the dictionary under a key, direct or by reference; an empty one if there is none.
    pub(crate) fn resolve_dictionary(&self, owner: &Dictionary<'a>, key: &str) -> Result<Dictionary<'a>, PdfError> {
        match owner.get(key).map(|value| self.resolve(value)).transpose()? {
            Some(Object::Dictionary(dictionary)) => Ok(dictionary),
            _ => Ok(Dictionary::default()),
        }
    }

    /// Replaces the object of this number.
    pub(crate) fn set(&mut self, number: ObjectNumber, object: Object<'a>) {
        if let Some(is_free) = self.is_free.get_mut(number as usize) {
            *is_free = false;
            self.changed.insert(number, object);
        }
    }

    /// Adds an object and returns its number.
    pub(crate) fn add(&mut self, object: Object<'a>) -> ObjectNumber {
        while self.is_free.get(self.next_free) == Some(&false) {
            self.next_free += 1;
        }
        if self.next_free >= self.is_free.len() {
            self.is_free.resize(self.next_free + 1, true);
        }
        let number = self.next_free as ObjectNumber;
        self.set(number, object);
        number
    }

    /// Removes an object and frees its number.
    pub(crate) fn remove(&mut self, number: ObjectNumber) {
        if let Some(is_free) = self.is_free.get_mut(number as usize).filter(|_| number > 0) {
            *is_free = true;
            self.next_free = self.next_free.min(number as usize);
            self.changed.remove(&number);
        }
    }

    /// Returns the object if it differs from that in its file.
    pub(crate) fn changed(&self, number: ObjectNumber) -> Option<&Object<'a>> {
        self.changed.get(&number)
    }

    /// Takes the changed objects, to write them.
    pub(crate) fn take_changed(&mut self) -> BTreeMap<ObjectNumber, Object<'a>> {
        take(&mut self.changed)
    }

    /// Returns whether there is no object of that number.
    pub(crate) fn is_free(&self, number: ObjectNumber) -> bool {
        self.is_free.get(number as usize).is_none_or(|is_free| *is_free)
    }

    /// Returns whether some number below the highest is free.
    pub(crate) fn has_gaps(&self) -> bool {
        self.is_free.iter().skip(1).any(|is_free| *is_free)
    }

    /// Returns the file that contains an object, or its original; `None` for an added object.
    pub(crate) fn part_of(&self, number: ObjectNumber) -> Option<&Part<'a>> {
        self.parts.get(self.part_index(number)?)
    }

    /// Returns the index of that file.
    pub(crate) fn part_index(&self, number: ObjectNumber) -> Option<usize> {
        let after = self.parts.partition_point(|part| part.first_number <= number);
        let index = after.checked_sub(1)?;
        Some(index).filter(|index| number < self.parts[*index].end())
    }

    /// Returns an object's bytes in its file, from its number to `endobj`.
    pub(crate) fn object_bytes(&self, number: ObjectNumber) -> Option<&'a [u8]> {
        self.part_of(number)?.object_bytes(number)
    }

    /// The same of an object that has been neither changed nor removed.
    pub(crate) fn original_bytes(&self, number: ObjectNumber) -> Option<&'a [u8]> {
        let is_original = !self.is_free(number) && self.changed(number).is_none();
        self.object_bytes(number).filter(|_| is_original)
    }

    /// Returns the tokens of an object in its file, after its number and `obj`.
    pub(crate) fn lexer(&self, number: ObjectNumber) -> Option<Lexer<'a>> {
        self.part_of(number)?.lexer(number)
    }

    /// Visits the references and the keys of the parent tree in the current object.
    pub(crate) fn mentions(&self, number: ObjectNumber, mut visit: impl FnMut(Mention)) -> Result<(), PdfError> {
        match (self.changed.get(&number), self.part_of(number)) {
            (Some(object), _) => {
                object.for_each_reference(&mut |number| visit(Mention::Object(number)));
                let dictionary = object.as_dictionary();
                let key = |key| dictionary?.get(key)?.as_integer();
                for key in ["StructParent", "StructParents"].into_iter().filter_map(key) {
                    visit(Mention::StructureKey(key));
                }
                Ok(())
            }
            (None, Some(part)) if !self.is_free(number) => part.mentions(number, visit),
            _ => Ok(()),
        }
    }

    /// Returns the objects that the current object refers to.
    pub(crate) fn references(&self, number: ObjectNumber) -> Result<Vec<ObjectNumber>, PdfError> {
        let mut references = Vec::new();
        self.mentions(number, |mention| {
            if let Mention::Object(reference) = mention {
                references.push(reference);
            }
        })?;
        Ok(references)
    }

    /// Returns the trailer of the first file.
    pub(crate) fn trailer(&self) -> Dictionary<'a> {
        self.parts.first().map(Part::trailer).unwrap_or_default()
    }

    /// Returns the number of the document's catalog.
    pub(crate) fn root(&self) -> Result<ObjectNumber, PdfError> {
        self.parts.first().map_or_else(|| Err(no_catalog(0)), Self::root_of)
    }

    /// Returns the number of a file's catalog.
    pub(crate) fn root_of(part: &Part) -> Result<ObjectNumber, PdfError> {
        part.trailer()
            .reference("Root")
            .ok_or_else(|| no_catalog(part.length()))
    }

    /// Returns a file's catalog.
    pub(crate) fn catalog_of(&self, part: &Part<'a>) -> Result<Dictionary<'a>, PdfError> {
        self.get_dictionary(Self::root_of(part)?, "expected a catalog")
    }

    /// Changes the document's catalog.
    pub(crate) fn change_catalog(&mut self, change: impl FnOnce(&mut Dictionary<'a>)) -> Result<(), PdfError> {
        let root = self.root()?;
        let mut catalog = self.get_dictionary(root, "expected a catalog")?;
        change(&mut catalog);
        self.set(root, Object::Dictionary(catalog));
        Ok(())
    }

    /// Returns the error for an unexpected object, with its offset in its file.
    pub(crate) fn damaged(&self, number: ObjectNumber, what: &'static str) -> PdfError {
        let offset = self.part_of(number).and_then(|part| part.offset(number));
        PdfError::damaged(offset.unwrap_or_default(), what)
    }
}

fn no_catalog(offset: usize) -> PdfError {
    PdfError::damaged(offset, "expected a catalog in the trailer")
}
