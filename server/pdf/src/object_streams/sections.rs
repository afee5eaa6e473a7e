//! Writes a packed file in sections, which need not stay in memory. Each consists of the objects that must not be in
//! object streams, followed by object streams with all others. `unpack` reads it.

use std::mem::take;
use std::ops::Range;

use super::pack::{Compressor, differences, open_entry, packable_body, stream_data};
use super::{Entry, OBJECTS_PER_STREAM, write_cross_references, write_object_stream};
use crate::PdfError;
use crate::object::{Dictionary, MAX_OBJECTS, ObjectNumber};
use crate::written_file::HEADER;

/// A file that is written in sections.
#[derive(Debug)]
pub(crate) struct SectionWriter {
    /// By object number. The entry of an object that is yet to be written is [`Entry::Free`].
    entries: Vec<Entry>,
    /// Length of the former sections, in bytes.
    written: usize,
    /// The current section up to its object streams.
    output: Vec<u8>,
    /// The objects for its object streams, and their places in `bodies`.
    packed: Vec<(ObjectNumber, Range<usize>)>,
    bodies: Vec<u8>,
    compressor: Compressor,
}

impl Default for SectionWriter {
    fn default() -> Self {
        Self {
            entries: vec![Entry::Free],
            written: 0,
            output: HEADER.to_vec(),
            packed: Vec::new(),
            bodies: Vec::new(),
            compressor: Compressor::default(),
        }
    }
}

impl SectionWriter {
    /// Returns a number for an object, which must be written before the end.
    pub(crate) fn reserve(&mut self) -> ObjectNumber {
        self.entries.push(Entry::Free);
        (self.entries.len() - 1) as ObjectNumber
    }

    /// Returns how many numbers were reserved.
    pub(crate) fn object_count(&self) -> usize {
        self.entries.len()
    }

    /// Adds an object to the current section, as `write_renumbered` writes it. In each section, objects follow each other
    /// in the order of their numbers.
    pub(crate) fn write(&mut self, number: ObjectNumber, object: &[u8]) -> Result<(), PdfError> {
        if let Some(body) = packable_body(object, number) {
            let start = self.bodies.len();
            self.bodies.extend_from_slice(body);
            self.packed.push((number, start..self.bodies.len()));
        } else {
            self.open_object(number)?;
            self.output.extend_from_slice(object);
        }
        Ok(())
    }

    /// Ends the current section and returns its bytes.
    pub(crate) fn end_section(&mut self) -> Result<Vec<u8>, PdfError> {
        let (packed, bodies) = (take(&mut self.packed), take(&mut self.bodies));
        for objects in packed.chunks(OBJECTS_PER_STREAM) {
            let stream = self.reserve();
            self.open_object(stream)?;
            for (index, (number, _)) in objects.iter().enumerate() {
                let index = index as u8;
                self.set_entry(*number, Entry::Packed { stream, index });
            }
            let objects: Vec<(ObjectNumber, &[u8])> = objects
                .iter()
                .map(|(number, place)| (*number, &bodies[place.clone()]))
                .collect();
            let (first, data) = stream_data(&objects);
            let data = self.compressor.compress(&data);
            write_object_stream(&mut self.output, stream, objects.len(), first, data);
        }
        // The cross-reference stream is an object, too.
        let found = self.entries.len();
        if found >= MAX_OBJECTS {
            let limit = MAX_OBJECTS;
            return Err(PdfError::TooLarge {
                what: "objects",
                found,
                limit,
            });
        }
        self.written += self.output.len();
        Ok(take(&mut self.output))
    }

    /// Ends the file and returns its last bytes.
    pub(crate) fn end(mut self, trailer: Dictionary) -> Result<Vec<u8>, PdfError> {
        let mut end = self.end_section()?;
        let number = self.reserve();
        self.open_object(number)?;
        let table = differences(&self.entries);
        write_cross_references(
            &mut end,
            self.written,
            number,
            trailer,
            self.compressor.compress(&table),
        );
        Ok(end)
    }

    /// Notes that an object is written next.
    fn open_object(&mut self, number: ObjectNumber) -> Result<(), PdfError> {
        let offset = self.written + self.output.len();
        let entry = open_entry(offset).ok_or(PdfError::TooLarge {
            what: "bytes",
            found: offset,
            limit: u32::MAX as usize,
        })?;
        self.set_entry(number, entry);
        Ok(())
    }

    fn set_entry(&mut self, number: ObjectNumber, entry: Entry) {
        if let Some(place) = self.entries.get_mut(number as usize) {
            *place = entry;
        }
    }
}
