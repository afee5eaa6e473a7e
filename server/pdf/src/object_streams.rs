//! Packs the objects of a written file into object streams (ISO 32000-1, 7.5.7), which compress to a tenth of their
//! length, and unpacks them to read the file. All other modules see only unpacked files.

mod pack;
mod sections;
mod unpack;

use crate::object::{Dictionary, Object, ObjectNumber, Stream};
use crate::write::write_indirect_object;
pub(crate) use pack::pack;
pub(crate) use sections::SectionWriter;
pub(crate) use unpack::{unpack, unpacked_length};

/// Objects per stream. To read one object, a reader has to read its whole stream, so streams are short; longer ones
/// would hardly be smaller. Fits into one byte of an entry.
const OBJECTS_PER_STREAM: usize = 200;
/// Largest file that is packed, and largest content of all object streams, in bytes, so that a small file can't become
/// a large one. Dense tables on some 3,000 pages have this size. A larger file is written without object streams.
const MAX_PACKED: usize = 256 * 1024 * 1024;
/// Lengths in bytes of the three fields of an entry: its kind, an offset or the number of an object stream, and an
/// index in that stream.
const FIELDS: [usize; 3] = [1, 4, 1];
const ENTRY_LENGTH: usize = FIELDS[0] + FIELDS[1] + FIELDS[2];
/// PNG predictor of cross-reference streams. Consecutive entries differ little, so their differences are compressed
/// (ISO 32000-1, 7.4.4.4).
const PREDICTOR: i64 = 12;
/// Filter type before each entry, which is written as its difference from the one above.
const UP: u8 = 2;

/// An entry of the cross-reference stream (ISO 32000-1, 7.5.8.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// Entry of object 0, which does not exist.
    Free,
    /// Offset of the object, in bytes from the start of the file.
    Open { offset: u32 },
    /// Number of the object stream, and the object's index in it.
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

/// Returns whether an object may be in an object stream, by the text before its `endobj`: streams and references may
/// not.
fn is_packable(body: &[u8]) -> bool {
    let body = body.trim_ascii_end();
    !body.ends_with(b"endstream") && !body.ends_with(b"R")
}

/// Writes an object stream as an indirect object.
fn write_object_stream(output: &mut Vec<u8>, number: ObjectNumber, count: usize, first: usize, data: &[u8]) {
    let dictionary = Dictionary::new([
        ("Type", Object::name("ObjStm")),
        ("N", Object::count(count)),
        ("First", Object::count(first)),
    ]);
    write_compressed(output, number, dictionary, data);
}

/// Writes the cross-reference stream, the last object of a file, at `offset`, and the end of the file.
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
