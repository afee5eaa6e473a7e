//! Packs the objects of a written file into object streams (ISO 32000-1, 7.5.7), which compress to a tenth of their
//! length, and unpacks them to look at the file. Everything else here sees files whose objects stand in the open.

mod pack;
mod unpack;

use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::write::write_indirect_object;
pub(crate) use pack::pack;
pub(crate) use unpack::unpack;

/// Who reads one object has to read the stream that it is in, so that these are short; longer ones would hardly be
/// smaller. It fits into one byte of an entry.
const OBJECTS_PER_STREAM: usize = 200;
/// Bytes of a file that may be packed, and of what object streams may hold, so that a small file can't become a large
/// one: dense tables on some 3,000 pages. In a longer file every object stands in the open.
const MAX_PACKED: usize = 256 * 1024 * 1024;
/// Bytes of the three fields of an entry: its kind, an offset or the number of an object stream, a place in that.
const FIELDS: [usize; 3] = [1, 4, 1];
const ENTRY_LENGTH: usize = FIELDS[0] + FIELDS[1] + FIELDS[2];
/// Entries differ little from one to the next, so that their differences are compressed (ISO 32000-1, 7.4.4.4).
const PREDICTOR: i64 = 12;
/// Before each entry: it is written as its difference from the one above.
const UP: u8 = 2;

/// An entry of the cross-reference stream (ISO 32000-1, 7.5.8.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// Of object 0, which is none.
    Free,
    /// Where the object stands, in bytes from the start.
    Open { offset: u32 },
    /// In which stream, and where in it.
    Packed { stream: ObjectNumber, index: u8 },
}

impl Entry {
    fn to_bytes(self) -> [u8; ENTRY_LENGTH] {
        let (kind, second, third) = match self {
            Self::Free => (0, 0, 0),
            Self::Open { offset } => (1, offset, 0),
            Self::Packed { stream, index } => (2, stream, index),
        };
        let [a, b, c, d] = second.to_be_bytes();
        [kind, a, b, c, d, third]
    }

    fn from_bytes([kind, a, b, c, d, third]: [u8; ENTRY_LENGTH]) -> Option<Self> {
        let second = u32::from_be_bytes([a, b, c, d]);
        let entry = match kind {
            0 => Self::Free,
            1 => Self::Open { offset: second },
            _ => Self::Packed {
                stream: second,
                index: third,
            },
        };
        (entry.to_bytes() == [kind, a, b, c, d, third]).then_some(entry)
    }
}

/// Whether an object may be in an object stream, by what stands before its `endobj`: no stream, and no reference.
fn is_packable(body: &[u8]) -> bool {
    let body = body.trim_ascii_end();
    !body.ends_with(b"endstream") && !body.ends_with(b"R")
}

/// An object stream, with its number, as it stands in a file.
fn write_object_stream(output: &mut Vec<u8>, number: ObjectNumber, count: usize, first: usize, data: &[u8]) {
    let dictionary = Dictionary::new([
        ("Type", Object::name("ObjStm")),
        ("N", Object::count(count)),
        ("First", Object::count(first)),
    ]);
    write_compressed(output, number, dictionary, data);
}

/// The cross-reference stream, the last object of a file, and what follows it. It stands at `offset`.
fn write_cross_references(output: &mut Vec<u8>, offset: usize, number: ObjectNumber, trailer: Dictionary, data: &[u8]) {
    let mut dictionary = Dictionary::new([
        ("Type", Object::name("XRef")),
        ("Size", Object::Integer(i64::from(number) + 1)),
        ("W", FIELDS.into_iter().map(Object::count).collect()),
        (
            "DecodeParms",
            Object::Dictionary(Dictionary::new([
                ("Predictor", Object::Integer(PREDICTOR)),
                ("Columns", Object::count(ENTRY_LENGTH)),
            ])),
        ),
    ]);
    dictionary.entries.extend(trailer.entries);
    write_compressed(output, number, dictionary, data);
    output.extend_from_slice(format!("startxref\n{offset}\n%%EOF\n").as_bytes());
}

fn write_compressed(output: &mut Vec<u8>, number: ObjectNumber, mut dictionary: Dictionary, data: &[u8]) {
    dictionary.set("Filter", Object::name("FlateDecode"));
    let stream = Object::Stream(Stream::plain(dictionary, data));
    write_indirect_object(output, number, &stream);
    output.push(b'\n');
}

#[cfg(test)]
pub(crate) mod tests;
