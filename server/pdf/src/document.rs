//! A document under change: objects that nobody looks at stay where they are in the file.

use std::collections::{BTreeMap, BTreeSet};

use crate::PdfError;
use crate::file::File;
use crate::object::{Dictionary, Object, ObjectNumber};

/// How many references may lead to each other before an object is found.
const MAX_CHAIN: usize = 8;

#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) file: File<'a>,
    /// Objects that differ from the file's.
    changed: BTreeMap<ObjectNumber, Object<'a>>,
    /// Numbers that the next new objects take.
    free: BTreeSet<ObjectNumber>,
    /// One more than the highest number.
    size: ObjectNumber,
}

impl<'a> Document<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, PdfError> {
        let file = File::open(bytes)?;
        let size = ObjectNumber::try_from(file.size()).map_err(|_| PdfError::Damaged {
            offset: 0,
            what: "more objects than a PDF may have",
        })?;
        let free = (1..size).filter(|number| file.range(*number).is_none()).collect();
        Ok(Self {
            file,
            changed: BTreeMap::new(),
            free,
            size,
        })
    }

    /// One more than the highest object number.
    pub(crate) fn size(&self) -> ObjectNumber {
        self.size
    }

    /// The object of that number as it is now; null if there is none.
    pub(crate) fn get(&self, number: ObjectNumber) -> Result<Object<'a>, PdfError> {
        match self.changed.get(&number) {
            Some(object) => Ok(object.clone()),
            None if self.free.contains(&number) => Ok(Object::Null),
            None => self.file.object(number),
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

    /// The dictionary under a key, direct or by reference; an empty one if there is none.
    pub(crate) fn resolve_dictionary(&self, owner: &Dictionary<'a>, key: &str) -> Result<Dictionary<'a>, PdfError> {
        match owner.get(key).map(|value| self.resolve(value)).transpose()? {
            Some(Object::Dictionary(dictionary)) => Ok(dictionary),
            _ => Ok(Dictionary::default()),
        }
    }

    /// Puts an object in the place of the one that has this number.
    pub(crate) fn set(&mut self, number: ObjectNumber, object: Object<'a>) {
        self.free.remove(&number);
        self.changed.insert(number, object);
    }

    /// Adds an object and gives its number.
    pub(crate) fn add(&mut self, object: Object<'a>) -> ObjectNumber {
        let number = self.free.pop_first().unwrap_or(self.size);
        self.size = self.size.max(number + 1);
        self.changed.insert(number, object);
        number
    }

    /// Frees the object's number. Nothing of it will be written.
    pub(crate) fn remove(&mut self, number: ObjectNumber) {
        if (1..self.size).contains(&number) {
            self.changed.remove(&number);
            self.free.insert(number);
        }
    }

    /// Whether the object is no longer as it was in the file.
    pub(crate) fn changed(&self, number: ObjectNumber) -> Option<&Object<'a>> {
        self.changed.get(&number)
    }

    pub(crate) fn is_free(&self, number: ObjectNumber) -> bool {
        self.free.contains(&number)
    }

    /// The number of the catalog.
    pub(crate) fn root(&self) -> Result<ObjectNumber, PdfError> {
        let root = self.file.trailer.get("Root").and_then(Object::as_reference);
        root.ok_or(PdfError::Damaged {
            offset: self.file.length(),
            what: "a catalog expected in the trailer",
        })
    }

    /// The error for an object that is not what it should be.
    pub(crate) fn damaged(&self, number: ObjectNumber, what: &'static str) -> PdfError {
        PdfError::Damaged {
            offset: self.file.range(number).map_or(0, |range| range.start),
            what,
        }
    }
}
