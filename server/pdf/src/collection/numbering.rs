//! Numbers of a document's objects in the collection.

use crate::PdfError;
use crate::document::Document;
use crate::object::ObjectNumber;
use crate::object_streams::SectionWriter;
use crate::reach::Reach;
use crate::written_file::write_renumbered;

#[derive(Debug, Default)]
pub(super) struct Numbering {
    /// By the document's number; 0 if an object has none yet.
    numbers: Vec<ObjectNumber>,
    /// The objects that have new numbers, in their order.
    new: Vec<ObjectNumber>,
}

impl Numbering {
    /// Returns the number of an object in the collection; 0 if it has none.
    pub(super) fn number_of(&self, number: ObjectNumber) -> ObjectNumber {
        self.numbers.get(number as usize).copied().unwrap_or_default()
    }

    /// Lets an object of the document stand for one that is written elsewhere.
    pub(super) fn set(&mut self, number: ObjectNumber, of_collection: ObjectNumber) {
        let index = number as usize;
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, 0);
        }
        self.numbers[index] = of_collection;
    }

    /// Gives an object a new number, under which it is to be written.
    pub(super) fn reserve(&mut self, number: ObjectNumber, file: &mut SectionWriter) {
        self.set(number, file.reserve());
        self.new.push(number);
    }

    /// Gives all reachable objects without a number a new one.
    pub(super) fn number_reachable(&mut self, document: &Document, reach: &Reach, file: &mut SectionWriter) {
        for number in 1..document.size() {
            if self.number_of(number) == 0 && reach.contains(number) && !document.is_free(number) {
                self.reserve(number, file);
            }
        }
    }

    /// Writes the objects with new numbers.
    pub(super) fn write(&self, document: &mut Document, file: &mut SectionWriter) -> Result<(), PdfError> {
        let mut object = Vec::new();
        let mut changed = document.take_changed();
        for number in &self.new {
            object.clear();
            let changed = changed.remove(number);
            write_renumbered(
                document,
                *number,
                changed,
                &|number| self.number_of(number),
                &mut object,
            )?;
            file.write(self.number_of(*number), &object)?;
        }
        Ok(())
    }
}
