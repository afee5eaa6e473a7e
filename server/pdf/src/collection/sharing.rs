//! Writes equal objects of several documents once: fonts, pictures, and everything else that pages draw with.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::numbering::Numbering;
use crate::PdfError;
use crate::digest::first_half;
use crate::document::Document;
use crate::join::equal_objects::MAX_DEPTH;
use crate::object::ObjectNumber;
use crate::object_streams::SectionWriter;
use crate::page_tree::list_resources;

/// Most objects that are remembered. Then all are forgotten, so that equal objects are written once more.
const MAX_OBJECTS: usize = 100_000;
/// Memory for an object that is remembered, in bytes: 20 in a table that may be half empty, and is copied to grow.
const MEMORY: usize = 64;

/// Objects that were written, by a digest of their content.
#[derive(Default)]
pub(super) struct SharedObjects {
    by_digest: HashMap<[u8; 16], ObjectNumber>,
}

impl SharedObjects {
    /// Numbers all objects in the resources of `pages`: those that were written before as they were, others anew.
    pub(super) fn number(
        &mut self,
        document: &Document,
        numbering: &mut Numbering,
        file: &mut SectionWriter,
        pages: &[ObjectNumber],
    ) -> Result<(), PdfError> {
        let resources = list_resources(document, pages)?;
        let mut comparison = Comparison {
            document,
            numbering,
            file,
            shared: self,
            is_visited: vec![false; document.size() as usize],
        };
        for number in resources {
            comparison.number(number, 0)?;
        }
        Ok(())
    }

    /// Returns the memory that the digests take, in bytes.
    pub(super) fn memory(&self) -> usize {
        MEMORY * self.by_digest.len()
    }

    /// Returns the number of an equal object, if one was written.
    fn find(&self, digest: &[u8; 16]) -> Option<ObjectNumber> {
        self.by_digest.get(digest).copied()
    }

    fn remember(&mut self, digest: [u8; 16], number: ObjectNumber) {
        if self.by_digest.len() >= MAX_OBJECTS {
            self.by_digest.clear();
        }
        self.by_digest.insert(digest, number);
    }
}

struct Comparison<'c, 'a> {
    document: &'c Document<'a>,
    numbering: &'c mut Numbering,
    file: &'c mut SectionWriter,
    shared: &'c mut SharedObjects,
    /// By the document's number: whether an object is being compared, or was.
    is_visited: Vec<bool>,
}

impl Comparison<'_, '_> {
    /// Numbers an object after all that it refers to, because its content depends on their numbers.
    fn number(&mut self, number: ObjectNumber, depth: usize) -> Result<(), PdfError> {
        if self.document.is_free(number) || self.numbering.number_of(number) != 0 {
            return Ok(());
        }
        let is_new = self.is_visited.get_mut(number as usize);
        let is_new = is_new.is_some_and(|is_visited| !std::mem::replace(is_visited, true));
        if !is_new || depth > MAX_DEPTH {
            // An object that refers back to itself equals no other.
            self.numbering.reserve(number, self.file);
            return Ok(());
        }
        for reference in self.document.references(number)? {
            self.number(reference, depth + 1)?;
        }
        if self.numbering.number_of(number) != 0 {
            return Ok(());
        }
        let digest = self.digest(number)?;
        if let Some(equal) = digest.and_then(|digest| self.shared.find(&digest)) {
            self.numbering.set(number, equal);
            return Ok(());
        }
        self.numbering.reserve(number, self.file);
        if let Some(digest) = digest {
            self.shared.remember(digest, self.numbering.number_of(number));
        }
        Ok(())
    }

    /// Returns the digest of an object as it would be written; `None` if it was changed.
    fn digest(&self, number: ObjectNumber) -> Result<Option<[u8; 16]>, PdfError> {
        let Some(part) = self
            .document
            .part_of(number)
            .filter(|_| self.document.changed(number).is_none())
        else {
            return Ok(None);
        };
        let mut tokens = Vec::new();
        let stream = part.write_translated(number, &mut tokens, |reference| self.numbering.number_of(reference))?;
        let mut digest = Sha256::new();
        digest.update(tokens.len().to_be_bytes());
        digest.update(&tokens);
        digest.update(stream);
        Ok(Some(first_half(digest)))
    }
}
