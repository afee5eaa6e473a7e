//! A document under change, made of one file or several: objects that nobody looks at stay where they are in their
//! file.

use std::collections::BTreeMap;

use crate::PdfError;
use crate::lexer::Lexer;
use crate::mentions::Mention;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::part::Part;

/// How many references may lead to each other before an object is found.
const MAX_CHAIN: usize = 8;

#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// In the order of their numbers.
    parts: Vec<Part<'a>>,
    /// Objects that differ from the files'.
    changed: BTreeMap<ObjectNumber, Object<'a>>,
    /// By number: whether there is no such object.
    is_free: Vec<bool>,
    /// No lower number is free, but 0, which no object may have.
    next_free: usize,
}

impl<'a> Document<'a> {
    /// Opens the files side by side. The catalog is that of the first; nothing leads to what the others hold, yet.
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

    /// The files, in the order in which they were opened.
    pub(crate) fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    /// To tell apart what the files say, before any of it is looked at.
    pub(crate) fn parts_mut(&mut self) -> &mut [Part<'a>] {
        &mut self.parts
    }

    /// One more than the highest object number.
    pub(crate) fn size(&self) -> ObjectNumber {
        self.is_free.len() as ObjectNumber
    }

    /// The object of that number as it is now; null if there is none.
    pub(crate) fn get(&self, number: ObjectNumber) -> Result<Object<'a>, PdfError> {
        match (self.changed.get(&number), self.part_of(number)) {
            (Some(object), _) => Ok(object.clone()),
            (None, Some(part)) if !self.is_free(number) => part.object(number),
            _ => Ok(Object::Null),
        }
    }

    /// The dictionary of that number, or of the stream of that number.
    pub(crate) fn get_dictionary(&self, number: ObjectNumber, what: &'static str) -> Result<Dictionary<'a>, PdfError> {
        match self.get(number)? {
            Object::Dictionary(dictionary) => Ok(dictionary),
            Object::Stream(stream) => Ok(stream.dictionary),
            _ => Err(self.damaged(number, what)),
        }
    }

    /// Follows a reference; anything else is given back as it is.
    pub(crate) fn resolve(&self, object: &Object<'a>) -> Result<Object<'a>, PdfError> {
        let mut found = object.clone();
        for _ in 0..MAX_CHAIN {
            match found {
                Object::Reference(number) => found = self.get(number)?,
                object => return Ok(object),
            }
        }
        Err(PdfError::Damaged {
            offset: 0,
            what: "references that lead to references",
        })
    }

    /// The font that a composite font is made of (ISO 32000-1, 9.7); `None` for every other font.
    pub(crate) fn descendant_font(&self, font: &Dictionary<'a>) -> Result<Option<Dictionary<'a>>, PdfError> {
        let descendants = font
            .get("DescendantFonts")
            .map(|fonts| self.resolve(fonts))
            .transpose()?;
        let descendant = descendants.as_ref().and_then(Object::as_array).and_then(<[_]>::first);
        let descendant = descendant.map(|font| self.resolve(font)).transpose()?;
        Ok(descendant.as_ref().and_then(Object::as_dictionary).cloned())
    }

    /// The dictionary under a key, direct or by reference; an empty one if there is none.
    pub(crate) fn resolve_dictionary(&self, owner: &Dictionary<'a>, key: &str) -> Result<Dictionary<'a>, PdfError> {
        match owner.get(key).map(|value| self.resolve(value)).transpose()? {
            Some(Object::Dictionary(dictionary)) => Ok(dictionary),
            _ => Ok(Dictionary::default()),
        }
    }

    /// Puts an object in the place of the one that has this number.
    pub(crate) fn set(&mut self, number: ObjectNumber, object: Object<'a>) {
        if let Some(is_free) = self.is_free.get_mut(number as usize) {
            *is_free = false;
            self.changed.insert(number, object);
        }
    }

    /// Adds an object and gives its number.
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

    /// Frees the object's number. Nothing of it will be written.
    pub(crate) fn remove(&mut self, number: ObjectNumber) {
        if let Some(is_free) = self.is_free.get_mut(number as usize).filter(|_| number > 0) {
            *is_free = true;
            self.next_free = self.next_free.min(number as usize);
            self.changed.remove(&number);
        }
    }

    /// The object if it is no longer as it was in its file.
    pub(crate) fn changed(&self, number: ObjectNumber) -> Option<&Object<'a>> {
        self.changed.get(&number)
    }

    /// Like `changed`, and forgets it, to write it.
    pub(crate) fn take_changed(&mut self, number: ObjectNumber) -> Option<Object<'a>> {
        self.changed.remove(&number)
    }

    /// Whether there is no object of that number.
    pub(crate) fn is_free(&self, number: ObjectNumber) -> bool {
        self.is_free.get(number as usize).is_none_or(|is_free| *is_free)
    }

    /// Whether there is no object of some number below the highest.
    pub(crate) fn has_gaps(&self) -> bool {
        self.is_free.iter().skip(1).any(|is_free| *is_free)
    }

    /// The file that an object is in, or was before it was changed; `None` for one that was added.
    pub(crate) fn part_of(&self, number: ObjectNumber) -> Option<&Part<'a>> {
        self.parts.get(self.part_index(number)?)
    }

    /// The place of that file among the files.
    pub(crate) fn part_index(&self, number: ObjectNumber) -> Option<usize> {
        let after = self.parts.partition_point(|part| part.first_number <= number);
        let index = after.checked_sub(1)?;
        Some(index).filter(|index| number < self.parts[*index].end())
    }

    /// An object's bytes as they are in its file, from its number to `endobj`.
    pub(crate) fn object_bytes(&self, number: ObjectNumber) -> Option<&'a [u8]> {
        self.part_of(number)?.object_bytes(number)
    }

    /// The tokens of an object as they are in its file, after its number and `obj`.
    pub(crate) fn lexer(&self, number: ObjectNumber) -> Option<Lexer<'a>> {
        self.part_of(number)?.lexer(number)
    }

    /// Gives the references and the keys of the parent tree that stand in an object as it is now.
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

    /// The trailer of the first file.
    pub(crate) fn trailer(&self) -> Dictionary<'a> {
        self.parts.first().map(Part::trailer).unwrap_or_default()
    }

    /// The number of the catalog.
    pub(crate) fn root(&self) -> Result<ObjectNumber, PdfError> {
        self.parts.first().map_or_else(|| Err(no_catalog(0)), Self::root_of)
    }

    /// The number of the catalog that a file has.
    pub(crate) fn root_of(part: &Part) -> Result<ObjectNumber, PdfError> {
        part.trailer()
            .reference("Root")
            .ok_or_else(|| no_catalog(part.length()))
    }

    /// The catalog that a file has.
    pub(crate) fn catalog_of(&self, part: &Part<'a>) -> Result<Dictionary<'a>, PdfError> {
        self.get_dictionary(Self::root_of(part)?, "a catalog expected")
    }

    /// Changes the catalog of the document.
    pub(crate) fn change_catalog(&mut self, change: impl FnOnce(&mut Dictionary<'a>)) -> Result<(), PdfError> {
        let root = self.root()?;
        let mut catalog = self.get_dictionary(root, "a catalog expected")?;
        change(&mut catalog);
        self.set(root, Object::Dictionary(catalog));
        Ok(())
    }

    /// The error for an object that is not what it should be.
    pub(crate) fn damaged(&self, number: ObjectNumber, what: &'static str) -> PdfError {
        let offset = self.part_of(number).and_then(|part| part.offset(number));
        PdfError::Damaged {
            offset: offset.unwrap_or_default(),
            what,
        }
    }
}

fn no_catalog(offset: usize) -> PdfError {
    PdfError::Damaged {
        offset,
        what: "a catalog expected in the trailer",
    }
}
