//! Writes a document: one revision, one classic cross-reference table (ISO 32000-1, 7.5).

use std::io::Write as _;

use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Above this a real without a point would be read as an integer that is out of range (ISO 19005-2, 6.1.13).
const LARGEST_INTEGER: f64 = 2_147_483_647.0;
/// The second line tells programs that the file is binary.
const HEADER: &[u8] = b"%PDF-1.7\n%\xD3\xEB\xE9\xE1\n";
/// Room for what is added beside the file's own bytes.
const SLACK: usize = 8 * 1024;

/// Writes the objects in the order of their numbers: unchanged ones byte for byte, changed ones anew.
pub(crate) fn write_document(document: &Document, trailer: &Dictionary) -> Vec<u8> {
    let mut output = Vec::with_capacity(document.file.length() + SLACK);
    output.extend_from_slice(HEADER);
    let mut offsets = vec![None; document.size() as usize];
    for number in 1..document.size() {
        if document.is_free(number) {
            continue;
        }
        offsets[number as usize] = Some(output.len());
        match (document.changed(number), document.file.object_bytes(number)) {
            (Some(object), _) => write_indirect_object(&mut output, number, object),
            (None, bytes) => output.extend_from_slice(bytes.unwrap_or_default()),
        }
        output.push(b'\n');
    }
    let table = output.len();
    write_table(&mut output, &offsets);
    output.extend_from_slice(b"trailer\n");
    write_dictionary(&mut output, trailer);
    write(&mut output, format_args!("\nstartxref\n{table}\n%%EOF\n"));
    output
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

fn write_indirect_object(output: &mut Vec<u8>, number: ObjectNumber, object: &Object) {
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

/// Free entries form a list: each names the next free number, the last one 0.
fn write_table(output: &mut Vec<u8>, offsets: &[Option<usize>]) {
    write(output, format_args!("xref\n0 {}\n", offsets.len()));
    let free = offsets
        .iter()
        .enumerate()
        .filter(|(_, offset)| offset.is_none())
        .map(|(number, _)| number);
    let mut next_free = free.skip(1);
    for (number, offset) in offsets.iter().enumerate() {
        match (offset, number) {
            (Some(offset), _) => write_entry(output, *offset, b" 00000 n \n"),
            (None, 0) => write_entry(output, next_free.next().unwrap_or_default(), b" 65535 f \n"),
            (None, _) => write_entry(output, next_free.next().unwrap_or_default(), b" 00001 f \n"),
        }
    }
}

/// The table has a million entries in large documents, so that this does without the formatter.
fn write_entry(output: &mut Vec<u8>, value: usize, rest: &[u8; 10]) {
    let mut digits = [b'0'; 10];
    let mut value = value;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
    output.extend_from_slice(&digits);
    output.extend_from_slice(rest);
}

fn write(output: &mut Vec<u8>, arguments: std::fmt::Arguments) {
    output
        .write_fmt(arguments)
        .unwrap_or_else(|_| unreachable!("writing to memory does not fail"));
}
