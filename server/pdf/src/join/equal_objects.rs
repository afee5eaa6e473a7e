//! Shares equal objects of several files: fonts, images, profiles and everything else that pages draw with.

use std::collections::HashMap;

use crate::PdfError;
use crate::document::Document;
use crate::object::ObjectNumber;
use crate::page_tree::list_resources;

/// Nesting of resources up to which they are compared. An image has two levels, a font four; groups that a page nests
/// deeper than this are not shared.
pub(crate) const MAX_DEPTH: usize = 64;

/// Finds equal objects in the resources of `pages`, including everything that they refer to, and replaces them by the
/// first one. Objects with a key of the structure tree are never equal, nor are objects that contain them.
pub(crate) fn share_equal_objects(document: &mut Document, pages: &[ObjectNumber]) -> Result<(), PdfError> {
    let resources = list_resources(document, pages)?;
    let mut comparison = Comparison {
        document,
        first_equal: vec![0; document.size() as usize],
        by_content: HashMap::new(),
    };
    for number in resources {
        comparison.first_equal(number, 0)?;
    }
    let first_equal = comparison.first_equal;
    for part in document.parts_mut() {
        for number in part.first_number..part.end() {
            let first = first_equal.get(number as usize).copied().unwrap_or_default();
            if first != 0 && first != number {
                part.replace(number, first);
            }
        }
    }
    Ok(())
}

struct Comparison<'d, 'a> {
    document: &'d Document<'a>,
    /// By object number: the first equal object; 0 if the object was not compared.
    first_equal: Vec<ObjectNumber>,
    /// By an object's tokens, with references replaced by those to the first equal objects, and its stream.
    by_content: HashMap<(Vec<u8>, &'a [u8]), ObjectNumber>,
}

impl Comparison<'_, '_> {
    fn first_equal(&mut self, number: ObjectNumber, depth: usize) -> Result<ObjectNumber, PdfError> {
        let Some(known) = self.first_equal.get_mut(number as usize) else {
            return Ok(number);
        };
        if *known != 0 || depth > MAX_DEPTH {
            return Ok(if *known == 0 { number } else { *known });
        }
        // An object that refers back to itself equals no other.
        *known = number;
        for reference in self.document.references(number)? {
            self.first_equal(reference, depth + 1)?;
        }
        let Some(part) = self.document.part_of(number).filter(|_| !self.document.is_free(number)) else {
            return Ok(number);
        };
        let mut tokens = Vec::new();
        let stream = part.write_translated(number, &mut tokens, |reference| {
            match self.first_equal.get(reference as usize) {
                Some(0) | None => reference,
                Some(first) => *first,
            }
        })?;
        let first = *self.by_content.entry((tokens, stream)).or_insert(number);
        self.first_equal[number as usize] = first;
        Ok(first)
    }
}
