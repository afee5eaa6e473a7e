//! Unpacks a file, to read it.

use std::borrow::Cow;
use std::ops::Range;

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
    let Some(table) = stream_offset(bytes) else {
        return Ok(Cow::Borrowed(bytes));
    };
    let mut output = Vec::new();
    unpack_pieces(bytes, table, |piece| output.extend_from_slice(piece))?;
    Ok(Cow::Owned(output))
}

/// Returns the length in bytes of the unpacked file.
pub(crate) fn unpacked_length(bytes: &[u8]) -> Result<usize, PdfError> {
    let Some(table) = stream_offset(bytes) else {
        return Ok(bytes.len());
    };
    let mut length = 0;
    unpack_pieces(bytes, table, |piece| length += piece.len())?;
    Ok(length)
}

/// Returns the offset of the cross-reference stream; `None` if there is a table instead, or neither.
fn stream_offset(bytes: &[u8]) -> Option<usize> {
    let table = table_offset(bytes).ok()?;
    bytes[table..].first().is_some_and(u8::is_ascii_digit).then_some(table)
}

/// Passes the unpacked file to `give` in pieces. The cross-reference stream is at `table`. In each section of the file,
/// objects follow each other in the order of their numbers.
pub(super) fn unpack_pieces(bytes: &[u8], table: usize, mut give: impl FnMut(&[u8])) -> Result<(), PdfError> {
    let wrong_entry = || PdfError::damaged(table, "inconsistent entries in the cross-reference stream");
    let (entries, trailer) = read_cross_references(bytes, table)?;
    let places = open_places(&entries, table).ok_or_else(wrong_entry)?;
    let is_stream = object_streams(&entries);
    let mut unpacked = Unpacked {
        offsets: vec![0; entries.len()],
        length: 0,
        around: Vec::new(),
        give: &mut give,
    };
    unpacked.give(&bytes[..places.first().map_or(table, |(_, place)| place.start)]);
    let mut streams = ObjectStreams {
        bytes,
        reader: StreamReader::default(),
        room: MAX_PACKED,
        data: Vec::new(),
    };
    let mut packed_count = entries
        .iter()
        .filter(|entry| matches!(entry, Entry::Packed { .. }))
        .count();
    let mut places = places.into_iter().peekable();
    while places.peek().is_some() {
        let is_open = |(number, _): &(ObjectNumber, Range<usize>)| !is_stream[*number as usize];
        let open: Vec<_> = std::iter::from_fn(|| places.next_if(is_open)).collect();
        let mut open = open.into_iter().peekable();
        while let Some((stream, place)) = places.next_if(|place| !is_open(place)) {
            for (index, (number, body)) in streams.read(stream, place)?.into_iter().enumerate() {
                let entry = u8::try_from(index).map(|index| Entry::Packed { stream, index });
                if entries.get(number as usize) != entry.ok().as_ref() {
                    return Err(wrong_entry());
                }
                while let Some((number, place)) = open.next_if(|(open, _)| *open < number) {
                    unpacked.open_object(number, &bytes[place]);
                }
                unpacked.packed_object(number, body);
                packed_count = packed_count.checked_sub(1).ok_or_else(wrong_entry)?;
            }
        }
        open.for_each(|(number, place)| unpacked.open_object(number, &bytes[place]));
    }
    if packed_count > 0 {
        return Err(wrong_entry());
    }
    unpacked.end(&trailer);
    Ok(())
}

/// Returns, by object number, whether an object is an object stream that contains others.
fn object_streams(entries: &[Entry]) -> Vec<bool> {
    let mut is_stream = vec![false; entries.len()];
    for entry in entries {
        if let Entry::Packed { stream, .. } = entry
            && let Some(is_stream) = is_stream.get_mut(*stream as usize)
        {
            *is_stream = true;
        }
    }
    is_stream
}

/// The unpacked file, as far as it is written.
struct Unpacked<'g> {
    /// By object number; 0 for object streams, whose numbers become free.
    offsets: Vec<usize>,
    /// In bytes.
    length: usize,
    /// Reused for its capacity.
    around: Vec<u8>,
    give: &'g mut dyn FnMut(&[u8]),
}

impl Unpacked<'_> {
    fn give(&mut self, piece: &[u8]) {
        self.length += piece.len();
        (self.give)(piece);
    }

    fn open_object(&mut self, number: ObjectNumber, object: &[u8]) {
        self.offsets[number as usize] = self.length;
        self.give(object);
    }

    fn packed_object(&mut self, number: ObjectNumber, body: &[u8]) {
        self.offsets[number as usize] = self.length;
        let mut around = std::mem::take(&mut self.around);
        around.clear();
        write_number(&mut around, number);
        around.extend_from_slice(b" 0 obj\n");
        self.give(&around);
        self.around = around;
        self.give(body);
        self.give(b"\nendobj\n");
    }

    /// Writes the table and trailer. The last numbers are those of object streams.
    fn end(mut self, trailer: &Dictionary) {
        let count = self.offsets.iter().rposition(|offset| *offset > 0).unwrap_or_default();
        let mut end = Vec::new();
        write_end(
            &mut end,
            self.length,
            self.offsets.get(1..=count).unwrap_or_default(),
            trailer,
        );
        self.give(&end);
    }
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

/// Returns number and range of each object outside object streams, in the order of the file, up to the cross-reference
/// stream, which begins at `table`. Returns `None` if an entry can't be true.
pub(super) fn open_places(entries: &[Entry], table: usize) -> Option<Vec<(ObjectNumber, Range<usize>)>> {
    let offset = u32::try_from(table).ok()?;
    let (Some((Entry::Free, objects)), Some(Entry::Open { offset: last })) = (entries.split_first(), entries.last())
    else {
        return None;
    };
    if *last != offset
        || objects
            .iter()
            .any(|entry| matches!(entry, Entry::Free | Entry::Open { offset: 0 }))
    {
        return None;
    }
    let mut offsets: Vec<(usize, ObjectNumber)> = (1..)
        .zip(objects)
        .filter_map(|(number, entry)| match entry {
            Entry::Open { offset } => Some((*offset as usize, number)),
            _ => None,
        })
        .collect();
    // In a file that was packed at once, they are in this order already.
    offsets.sort_unstable();
    let place = |pair: &[(usize, ObjectNumber)]| {
        let [(start, number), (end, _)] = *pair else {
            return None;
        };
        (start < end).then_some((number, start..end))
    };
    let places: Option<Vec<_>> = offsets.windows(2).map(place).collect();
    // Nothing may follow the cross-reference stream.
    places.filter(|_| offsets.last().is_some_and(|(last, _)| *last == table))
}

/// Reads object streams one after the other.
struct ObjectStreams<'f> {
    bytes: &'f [u8],
    reader: StreamReader,
    /// Number of bytes that the remaining streams may contain.
    room: usize,
    /// Data of the current stream.
    data: Vec<u8>,
}

impl ObjectStreams<'_> {
    /// Returns number and text of each object in a stream: the text between the line with its number and that with its
    /// `endobj`.
    fn read(&mut self, number: ObjectNumber, place: Range<usize>) -> Result<Vec<(ObjectNumber, &[u8])>, PdfError> {
        let wrong = || PdfError::damaged(place.start, "expected an object stream as Platen writes it");
        let Object::Stream(stream) = parse_indirect_object(self.bytes, place.start, place.end)? else {
            return Err(wrong());
        };
        let value = |key| stream.dictionary.get(key).and_then(Object::as_integer);
        let value = |key| value(key).and_then(|value| usize::try_from(value).ok());
        let (count, first) = value("N").zip(value("First")).ok_or_else(wrong)?;
        let mut again = Vec::new();
        write_object_stream(&mut again, number, count, first, &stream.data);
        if again != self.bytes[place.clone()] {
            return Err(wrong());
        }
        self.reader
            .inflate(&stream.data, self.room, &mut self.data)
            .map_err(|what| PdfError::damaged(place.start, what))?;
        self.room -= self.data.len();
        let objects = object_places(&self.data, count, first).ok_or_else(wrong)?;
        let objects = objects.into_iter().map(|(number, place)| {
            let body = self.data.get(place)?.strip_suffix(b"\n")?;
            is_packable(body).then_some((number, body))
        });
        objects.collect::<Option<_>>().ok_or_else(wrong)
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
