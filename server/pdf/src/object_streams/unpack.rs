//! Unpacks a file, to read it.

use std::borrow::Cow;
use std::iter::Enumerate;
use std::ops::Range;
use std::{slice, vec};

use super::{ENTRY_LENGTH, Entry, MAX_PACKED, UP, is_packable, write_cross_references, write_object_stream};
use crate::PdfError;
use crate::content::StreamReader;
use crate::file::{parse_digits, table_offset};
use crate::object::{Dictionary, MAX_OBJECTS, Object, ObjectNumber};
use crate::parse::parse_indirect_object;
use crate::write::write_number;
use crate::written_file::write_end;

/// Keys of a cross-reference stream that belong to the trailer.
const TRAILER_KEYS: [&[u8]; 3] = [b"Root", b"Info", b"ID"];

/// Returns the file that was packed, byte for byte. A file without a cross-reference stream, or one that is no PDF, is
/// returned unchanged. Object streams are accepted only as `pack` writes them, because the check of the unpacked file
/// can't see how they are framed.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Cow<'_, [u8]>, PdfError> {
    match table_offset(bytes) {
        Ok(table) if bytes[table..].first().is_some_and(u8::is_ascii_digit) => {
            let mut output = Vec::new();
            unpack_pieces(bytes, table, |piece| output.extend_from_slice(piece))?;
            Ok(Cow::Owned(output))
        }
        _ => Ok(Cow::Borrowed(bytes)),
    }
}

/// Passes the unpacked file to `give` in pieces. The cross-reference stream is at `table`.
pub(super) fn unpack_pieces(bytes: &[u8], table: usize, mut give: impl FnMut(&[u8])) -> Result<(), PdfError> {
    let wrong_entry = || PdfError::damaged(table, "inconsistent entries in the cross-reference stream");
    let (entries, trailer) = read_cross_references(bytes, table)?;
    let places = open_places(&entries, table).ok_or_else(wrong_entry)?;
    let first_stream = entries.iter().find_map(|entry| match entry {
        Entry::Packed { stream, .. } => Some(*stream as usize),
        _ => None,
    });
    // The last entry is that of the cross-reference stream itself.
    let first_stream = first_stream.unwrap_or(entries.len() - 1);
    let objects = entries.get(1..first_stream).ok_or_else(wrong_entry)?;
    let stream_count = entries.len().checked_sub(first_stream + 1);
    let open_count = stream_count.and_then(|count| places.len().checked_sub(count));
    let (open_places, stream_places) = places.split_at(open_count.ok_or_else(wrong_entry)?);
    let mut open_places = open_places.iter();
    let mut streams = ObjectStreams {
        bytes,
        places: stream_places.iter(),
        next_number: first_stream as ObjectNumber,
        reader: StreamReader::default(),
        room: MAX_PACKED,
        objects: Vec::new().into_iter().enumerate(),
        data: Vec::new(),
    };

    let mut length = 0;
    let mut give = |piece: &[u8]| {
        length += piece.len();
        give(piece);
        length
    };
    let header = places.first().map_or(table, |place| place.start);
    let mut end = give(&bytes[..header]);
    let mut offsets = Vec::with_capacity(objects.len());
    let mut around = Vec::new();
    for (number, entry) in (1..).zip(objects) {
        offsets.push(end);
        match entry {
            Entry::Open { .. } => {
                let place = open_places.next().ok_or_else(wrong_entry)?;
                end = give(&bytes[place.clone()]);
            }
            Entry::Packed { stream, index } => {
                if *index == 0 {
                    streams.read_next()?;
                }
                around.clear();
                write_number(&mut around, number);
                around.extend_from_slice(b" 0 obj\n");
                give(&around);
                let body = streams.next_object(number, *stream, *index);
                give(body.ok_or_else(wrong_entry)?);
                end = give(b"\nendobj\n");
            }
            Entry::Free => return Err(wrong_entry()),
        }
    }
    if !streams.is_at_end() || open_places.next().is_some() {
        return Err(wrong_entry());
    }
    around.clear();
    write_end(&mut around, end, &offsets, &trailer);
    give(&around);
    Ok(())
}

/// Returns the entries, the last of which is that of the stream itself, and the trailer.
pub(super) fn read_cross_references(bytes: &[u8], table: usize) -> Result<(Vec<Entry>, Dictionary<'_>), PdfError> {
    let wrong = || PdfError::damaged(table, "expected a cross-reference stream as Platen writes it");
    let Object::Stream(stream) = parse_indirect_object(bytes, table, bytes.len())? else {
        return Err(wrong());
    };
    let mut data = Vec::new();
    StreamReader::default()
        .inflate(&stream.data, MAX_OBJECTS * (1 + ENTRY_LENGTH), &mut data)
        .map_err(|what| PdfError::damaged(table, what))?;
    let entries = entries(&data).ok_or_else(wrong)?;
    let mut trailer = stream.dictionary;
    trailer.entries.retain(|(key, _)| TRAILER_KEYS.contains(&key.as_ref()));
    let number = entries.len().checked_sub(1).ok_or_else(wrong)? as ObjectNumber;
    let mut again = Vec::new();
    write_cross_references(&mut again, table, number, trailer.clone(), &stream.data);
    if again != bytes[table..] {
        return Err(wrong());
    }
    Ok((entries, trailer))
}

/// Decodes entries that are encoded as their differences from the one above.
fn entries(data: &[u8]) -> Option<Vec<Entry>> {
    let (rows, []) = data.as_chunks::<{ 1 + ENTRY_LENGTH }>() else {
        return None;
    };
    let mut above = [0_u8; ENTRY_LENGTH];
    let entry = |[predictor, differences @ ..]: &[u8; 1 + ENTRY_LENGTH]| {
        for (byte, difference) in above.iter_mut().zip(differences) {
            *byte = byte.wrapping_add(*difference);
        }
        Entry::from_bytes(above).filter(|_| *predictor == UP)
    };
    rows.iter().map(entry).collect()
}

/// Returns the ranges of the objects outside object streams, in the order of their numbers, up to the cross-reference
/// stream, which begins at `table`. Returns `None` if they are not in this order in the file.
pub(super) fn open_places(entries: &[Entry], table: usize) -> Option<Vec<Range<usize>>> {
    let offset = u32::try_from(table).ok()?;
    if entries.first() != Some(&Entry::Free) || entries.last() != Some(&Entry::Open { offset }) {
        return None;
    }
    let offsets = entries.iter().filter_map(|entry| match entry {
        Entry::Open { offset } => Some(*offset as usize),
        _ => None,
    });
    let offsets: Vec<usize> = offsets.collect();
    let place = |pair: &[usize]| (pair[0] < pair[1]).then(|| pair[0]..pair[1]);
    offsets.windows(2).map(place).collect()
}

/// The object streams of a file, read one after the other.
struct ObjectStreams<'f> {
    bytes: &'f [u8],
    /// Ranges of the remaining streams.
    places: slice::Iter<'f, Range<usize>>,
    /// Object number of the next stream.
    next_number: ObjectNumber,
    reader: StreamReader,
    /// Number of bytes that the remaining streams may contain.
    room: usize,
    /// Index, number and range of the remaining objects of the current stream.
    objects: Enumerate<vec::IntoIter<(ObjectNumber, Range<usize>)>>,
    /// Data of the current stream.
    data: Vec<u8>,
}

impl ObjectStreams<'_> {
    fn read_next(&mut self) -> Result<(), PdfError> {
        let place = self.places.next().filter(|_| self.objects.len() == 0);
        let place =
            place.ok_or_else(|| PdfError::damaged(0, "expected entries for all objects of an object stream"))?;
        let wrong = || PdfError::damaged(place.start, "expected an object stream as Platen writes it");
        let Object::Stream(stream) = parse_indirect_object(self.bytes, place.start, place.end)? else {
            return Err(wrong());
        };
        let number = |key| stream.dictionary.get(key).and_then(Object::as_integer);
        let number = |key| number(key).and_then(|number| usize::try_from(number).ok());
        let (count, first) = number("N").zip(number("First")).ok_or_else(wrong)?;
        let mut again = Vec::new();
        write_object_stream(&mut again, self.next_number, count, first, &stream.data);
        if again != self.bytes[place.clone()] {
            return Err(wrong());
        }
        self.reader
            .inflate(&stream.data, self.room, &mut self.data)
            .map_err(|what| PdfError::damaged(place.start, what))?;
        self.room -= self.data.len();
        self.objects = object_places(&self.data, count, first)
            .ok_or_else(wrong)?
            .into_iter()
            .enumerate();
        self.next_number += 1;
        Ok(())
    }

    /// Returns the text between the line with the object's number and that with its `endobj`, if its entry is correct.
    fn next_object(&mut self, number: ObjectNumber, stream: ObjectNumber, index: u8) -> Option<&[u8]> {
        let (found_index, (found, place)) = self.objects.next()?;
        let is_true =
            (found, stream.checked_add(1), usize::from(index)) == (number, Some(self.next_number), found_index);
        let body = self.data.get(place)?.strip_suffix(b"\n")?;
        (is_true && is_packable(body)).then_some(body)
    }

    fn is_at_end(&self) -> bool {
        self.objects.len() == 0 && self.places.len() == 0
    }
}

/// Returns number and range of each object in the data of an object stream.
fn object_places(data: &[u8], count: usize, first: usize) -> Option<Vec<(ObjectNumber, Range<usize>)>> {
    let mut header = data.get(..first)?.strip_suffix(b" ")?.split(|byte| *byte == b' ');
    let mut next = || parse_digits(header.next()?);
    let mut found: Vec<(ObjectNumber, Range<usize>)> = Vec::new();
    for _ in 0..count {
        let (number, start) = (next()?, first.checked_add(next()?)?);
        if let Some((_, former)) = found.last_mut() {
            former.end = start;
        }
        found.push((ObjectNumber::try_from(number).ok()?, start..data.len()));
    }
    header.next().is_none().then_some(found)
}
