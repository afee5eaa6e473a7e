//! Writes a document: one revision, no object streams, one classic cross-reference table (ISO 32000-1, 7.5).

use std::io::Write as _;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::part::Part;

/// Above this, a real without a decimal point would be read as an integer out of range (ISO 19005-2, 6.1.13).
const LARGEST_INTEGER: f64 = 2_147_483_647.0;
/// The second line marks the file as binary.
const HEADER: &[u8] = b"%PDF-1.7\n%\xD3\xEB\xE9\xE1\n";
/// Extra capacity for what completion adds, in bytes.
const SLACK: usize = 8 * 1024;

/// A file without object streams, whose objects are in the order of their numbers, without gaps.
#[derive(Debug)]
pub(crate) struct WrittenFile<'a> {
    pub(crate) bytes: Vec<u8>,
    /// Offset of each object, from number 1, and of the end of the last one.
    pub(crate) offsets: Vec<usize>,
    /// The trailer without `/Size`.
    pub(crate) trailer: Dictionary<'a>,
}

impl<'a> WrittenFile<'a> {
    /// Writes the table and trailer after the objects, which begin at `offsets`.
    pub(crate) fn end(mut bytes: Vec<u8>, mut offsets: Vec<usize>, trailer: Dictionary<'a>) -> Self {
        let table = bytes.len();
        write_end(&mut bytes, table, &offsets, &trailer);
        offsets.push(table);
        Self {
            bytes,
            offsets,
            trailer,
        }
    }

    /// Returns each object, from its number to the line end after `endobj`.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets.windows(2).map(|pair| &self.bytes[pair[0]..pair[1]])
    }
}

/// Writes the objects in the order of their numbers. If the document is a single file without gaps, objects keep their
/// numbers, and unchanged ones are copied byte for byte.
pub(crate) fn write_document<'trailer>(
    mut document: Document<'_>,
    trailer: Dictionary<'trailer>,
) -> Result<WrittenFile<'trailer>, PdfError> {
    let are_kept = document.parts().len() == 1 && !document.has_gaps();
    let numbers = if are_kept {
        Vec::new()
    } else {
        written_numbers(&document)
    };
    let number_of = |number: ObjectNumber| match numbers.get(number as usize) {
        Some(written) => *written,
        None if are_kept => number,
        None => 0,
    };
    let mut output = Vec::with_capacity(document.parts().iter().map(Part::length).sum::<usize>() + SLACK);
    output.extend_from_slice(HEADER);
    let mut offsets = Vec::new();
    for number in 1..document.size() {
        if document.is_free(number) {
            continue;
        }
        offsets.push(output.len());
        if let Some(mut object) = document.take_changed(number) {
            object.renumber(&number_of);
            write_indirect_object(&mut output, number_of(number), &object);
        } else if are_kept {
            output.extend_from_slice(document.object_bytes(number).unwrap_or_default());
        } else if let Some(part) = document.part_of(number) {
            write_number(&mut output, number_of(number));
            output.extend_from_slice(b" 0 obj");
            let rest = part.write_translated(number, &mut output, number_of)?;
            output.extend_from_slice(rest);
        }
        output.push(b'\n');
    }
    let mut trailer = Object::Dictionary(trailer);
    trailer.renumber(&number_of);
    let trailer = trailer.as_dictionary().cloned().unwrap_or_default();
    let mut file = WrittenFile::end(output, offsets, trailer);
    if !are_kept {
        // It can be much smaller than its parts.
        file.bytes.shrink_to_fit();
    }
    Ok(file)
}

/// Returns the number that each object gets in the file; 0 for free numbers.
fn written_numbers(document: &Document) -> Vec<ObjectNumber> {
    let mut last = 0;
    let number = |number| {
        if document.is_free(number) {
            return 0;
        }
        last += 1;
        last
    };
    (0..document.size()).map(number).collect()
}

pub(crate) fn write_object(output: &mut Vec<u8>, object: &Object) {
    match object {
        Object::Null => output.extend_from_slice(b"null"),
        Object::Boolean(value) => write(output, format_args!("{value}")),
        Object::Integer(value) => write(output, format_args!("{value}")),
        Object::Real(value) if value.abs() > LARGEST_INTEGER => write(output, format_args!("{value:.1}")),
        // The shortest form that reads back as the same number; never an exponent.
        Object::Real(value) => write(output, format_args!("{value}")),
        Object::Name(name) => write_name(output, name),
        Object::String(bytes) => write_string(output, bytes),
        Object::Array(items) => {
            output.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    output.push(b' ');
                }
                write_object(output, item);
            }
            output.push(b']');
        }
        Object::Dictionary(dictionary) => write_dictionary(output, dictionary),
        Object::Stream(stream) => {
            let mut dictionary = stream.dictionary.clone();
            dictionary.set("Length", Object::count(stream.data.len()));
            write_dictionary(output, &dictionary);
            output.extend_from_slice(b" stream\n");
            output.extend_from_slice(&stream.data);
            output.extend_from_slice(b"\nendstream");
        }
        Object::Reference(number) => write(output, format_args!("{number} 0 R")),
    }
}

/// Writes the number of an object.
pub(crate) fn write_number(output: &mut Vec<u8>, number: ObjectNumber) {
    let (digits, start) = digits(number as usize);
    output.extend_from_slice(&digits[start..]);
}

pub(crate) fn write_string(output: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        output.push(b'(');
        for byte in bytes {
            if matches!(byte, b'(' | b')' | b'\\') {
                output.push(b'\\');
            }
            output.push(*byte);
        }
        output.push(b')');
    } else {
        write_hex_string(output, bytes);
    }
}

pub(crate) fn write_hex_string(output: &mut Vec<u8>, bytes: &[u8]) {
    output.push(b'<');
    write_hex(output, bytes);
    output.push(b'>');
}

pub(crate) fn write_name(output: &mut Vec<u8>, name: &[u8]) {
    output.push(b'/');
    for byte in name {
        match byte {
            b'#' | b'/' | b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'%' => write_escaped(output, *byte),
            b'!'..=b'~' => output.push(*byte),
            _ => write_escaped(output, *byte),
        }
    }
}

pub(crate) fn write_indirect_object(output: &mut Vec<u8>, number: ObjectNumber, object: &Object) {
    write(output, format_args!("{number} 0 obj\n"));
    write_object(output, object);
    output.extend_from_slice(b"\nendobj");
}

fn write_dictionary(output: &mut Vec<u8>, dictionary: &Dictionary) {
    output.extend_from_slice(b"<<");
    for (index, (key, value)) in dictionary.entries.iter().enumerate() {
        if index > 0 {
            output.push(b'\n');
        }
        write_name(output, key);
        output.push(b' ');
        write_object(output, value);
    }
    output.extend_from_slice(b">>");
}

fn write_escaped(output: &mut Vec<u8>, byte: u8) {
    output.push(b'#');
    write_hex(output, &[byte]);
}

fn write_hex(output: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        output.push(DIGITS[usize::from(byte >> 4)]);
        output.push(DIGITS[usize::from(byte & 0xF)]);
    }
}

/// Writes the cross-reference table, which begins at `table`, and the trailer. The objects begin at `offsets`. Entry 0
/// is the only free one, and ends the list of free entries (ISO 32000-1, 7.5.4).
pub(crate) fn write_end(output: &mut Vec<u8>, table: usize, offsets: &[usize], trailer: &Dictionary) {
    write(output, format_args!("xref\n0 {}\n", offsets.len() + 1));
    write_entry(output, 0, b" 65535 f \n");
    for offset in offsets {
        write_entry(output, *offset, b" 00000 n \n");
    }
    output.extend_from_slice(b"trailer\n");
    let mut trailer = trailer.clone();
    trailer.set("Size", Object::count(offsets.len() + 1));
    write_dictionary(output, &trailer);
    write(output, format_args!("\nstartxref\n{table}\n%%EOF\n"));
}

fn write_entry(output: &mut Vec<u8>, value: usize, rest: &[u8; 10]) {
    let (digits, _) = digits(value);
    output.extend_from_slice(&digits);
    output.extend_from_slice(rest);
}

/// Returns the ten digits of a number, and the index of the first one that is no leading zero. Large documents contain
/// a million numbers in tables and references, so this avoids the formatter.
fn digits(mut value: usize) -> ([u8; 10], usize) {
    let mut digits = [b'0'; 10];
    let mut start = digits.len();
    while start == digits.len() || (value > 0 && start > 0) {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    (digits, start)
}

fn write(output: &mut Vec<u8>, arguments: std::fmt::Arguments) {
    output
        .write_fmt(arguments)
        .unwrap_or_else(|_| unreachable!("writing to memory does not fail"));
}
