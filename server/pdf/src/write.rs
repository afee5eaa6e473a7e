//! Writes objects (ISO 32000-1, 7.3).

use std::io::Write as _;

use crate::object::{Dictionary, Object, ObjectNumber};

/// Above this, a real without a decimal point would be read as an integer out of range (ISO 19005-2, 6.1.13).
const LARGEST_INTEGER: f64 = 2_147_483_647.0;

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
        Object::Reference(number) => write_reference(output, *number),
    }
}

/// Writes the number of an object.
pub(crate) fn write_number(output: &mut Vec<u8>, number: ObjectNumber) {
    let (digits, start) = digits(number as usize);
    output.extend_from_slice(&digits[start..]);
}

/// Writes a reference to an object; `null` for 0, which is no object.
pub(crate) fn write_reference(output: &mut Vec<u8>, number: ObjectNumber) {
    if number == 0 {
        output.extend_from_slice(b"null");
    } else {
        write_number(output, number);
        output.extend_from_slice(b" 0 R");
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

pub(crate) fn write_indirect_object(output: &mut Vec<u8>, number: ObjectNumber, object: &Object) {
    write(output, format_args!("{number} 0 obj\n"));
    write_object(output, object);
    output.extend_from_slice(b"\nendobj");
}

pub(crate) fn write_dictionary(output: &mut Vec<u8>, dictionary: &Dictionary) {
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

/// Returns the ten digits of a number, and the index of the first one that is no leading zero. Large documents contain
/// a million numbers in tables and references, so this avoids the formatter.
pub(crate) fn digits(mut value: usize) -> ([u8; 10], usize) {
    let mut digits = [b'0'; 10];
    let mut start = digits.len();
    while start == digits.len() || (value > 0 && start > 0) {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    (digits, start)
}

pub(crate) fn write(output: &mut Vec<u8>, arguments: std::fmt::Arguments) {
    output
        .write_fmt(arguments)
        .unwrap_or_else(|_| unreachable!("writing to memory does not fail"));
}
