//! Packs a written file.

use flate2::{Compress, Compression, FlushCompress, Status};

use super::unpack::unpack_pieces;
use super::{
    ENTRY_LENGTH, Entry, MAX_PACKED, OBJECTS_PER_STREAM, UP, is_packable, write_cross_references, write_object_stream,
};
use crate::file::{header_length, table_offset};
use crate::object::ObjectNumber;
use crate::write::write_number;
use crate::written_file::WrittenFile;

/// Compression level. The fastest level is a third faster, but makes a large table a quarter longer.
const LEVEL: u32 = 2;
/// Least number of bytes by which the output buffer grows if the initial allocation is too small.
const LEAST_ROOM: usize = 1024;

/// Returns the file with its objects in object streams, in the order of their numbers, and with a cross-reference
/// stream. The streams get the numbers after all objects. Returns `None` if the file is larger than [`MAX_PACKED`], or
/// if the packed file would not unpack to the same bytes.
pub(crate) fn pack(file: &WrittenFile) -> Option<Vec<u8>> {
    if file.bytes.len() > MAX_PACKED {
        return None;
    }
    let first_stream = ObjectNumber::try_from(file.offsets.len()).ok()?;
    let mut output = Vec::with_capacity(file.bytes.len() / 2);
    output.extend_from_slice(&file.bytes[..*file.offsets.first()?]);
    let mut entries = Vec::with_capacity(file.offsets.len());
    entries.push(Entry::Free);
    let mut packed: Vec<(ObjectNumber, &[u8])> = Vec::with_capacity(file.offsets.len());
    for (number, object) in (1..).zip(file.objects()) {
        if let Some(body) = packable_body(object, number) {
            entries.push(Entry::Packed {
                stream: first_stream + (packed.len() / OBJECTS_PER_STREAM) as ObjectNumber,
                index: (packed.len() % OBJECTS_PER_STREAM) as u8,
            });
            packed.push((number, body));
        } else {
            entries.push(open_entry(output.len())?);
            output.extend_from_slice(object);
        }
    }
    let mut compressor = Compressor::default();
    let mut number = first_stream;
    for objects in packed.chunks(OBJECTS_PER_STREAM) {
        entries.push(open_entry(output.len())?);
        let (first, data) = stream_data(objects);
        write_object_stream(&mut output, number, objects.len(), first, compressor.compress(&data));
        number += 1;
    }
    entries.push(open_entry(output.len())?);
    let offset = output.len();
    let table = compressor.compress(&differences(&entries));
    write_cross_references(&mut output, offset, number, file.trailer.clone(), table);
    output.shrink_to_fit();
    // The unpacked file is the one that is checked, so a packed file that reads differently is discarded.
    let mut rest = Some(file.bytes.as_slice());
    let table = table_offset(&output).ok()?;
    unpack_pieces(&output, table, |piece| {
        rest = rest.and_then(|rest| rest.strip_prefix(piece));
    })
    .ok()?;
    rest.is_some_and(<[u8]>::is_empty).then_some(output)
}

/// Returns the text between the line with an object's number and that with its `endobj`, if it may be in an object
/// stream.
pub(super) fn packable_body(object: &[u8], number: ObjectNumber) -> Option<&[u8]> {
    let header = header_length(object, number as usize)?;
    let body = object[header..].strip_prefix(b"\n")?.strip_suffix(b"\nendobj\n")?;
    is_packable(body).then_some(body)
}

/// Returns the entry of an object at this offset; `None` beyond 4 GiB.
pub(super) fn open_entry(offset: usize) -> Option<Entry> {
    let offset = u32::try_from(offset).ok()?;
    Some(Entry::Open { offset })
}

/// Returns the data of an object stream, number and offset of each object followed by the objects, and the offset at
/// which the objects begin.
pub(super) fn stream_data(objects: &[(ObjectNumber, &[u8])]) -> (usize, Vec<u8>) {
    let mut data = Vec::new();
    let mut place = 0;
    for (number, body) in objects {
        write_number(&mut data, *number);
        data.push(b' ');
        write_number(&mut data, place);
        data.push(b' ');
        place += body.len() as u32 + 1;
    }
    let first = data.len();
    data.reserve_exact(place as usize);
    for (_, body) in objects {
        data.extend_from_slice(body);
        data.push(b'\n');
    }
    (first, data)
}

/// Encodes each entry as its difference from the one above.
pub(super) fn differences(entries: &[Entry]) -> Vec<u8> {
    let mut data = Vec::with_capacity(entries.len() * (1 + ENTRY_LENGTH));
    let mut above = [0; ENTRY_LENGTH];
    for entry in entries {
        let entry = entry.to_bytes();
        data.push(UP);
        data.extend(entry.iter().zip(above).map(|(byte, above)| byte.wrapping_sub(above)));
        above = entry;
    }
    data
}

/// A compressor optimized for speed, whose buffers are reused for the next stream.
#[derive(Debug)]
pub(super) struct Compressor {
    deflater: Compress,
    output: Vec<u8>,
}

impl Default for Compressor {
    fn default() -> Self {
        Self {
            deflater: Compress::new(Compression::new(LEVEL), true),
            output: Vec::new(),
        }
    }
}

impl Compressor {
    pub(super) fn compress(&mut self, data: &[u8]) -> &[u8] {
        self.deflater.reset();
        self.output.clear();
        self.output.reserve(data.len() / 4);
        loop {
            let rest = &data[self.deflater.total_in() as usize..];
            let status = self
                .deflater
                .compress_vec(rest, &mut self.output, FlushCompress::Finish);
            match status {
                Ok(Status::StreamEnd) => return &self.output,
                Ok(_) => self.output.reserve(self.output.len().max(LEAST_ROOM)),
                Err(_) => unreachable!("compression does not fail"),
            }
        }
    }
}
