//! Writes a document: one revision, no object streams, one classic cross-reference table (ISO 32000-1, 7.5).

use std::collections::BTreeMap;
use std::ops::Range;

use crate::PdfError;
use crate::concurrency::concurrently;
use crate::document::Document;
use crate::merged_elements::MergedElement;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::part::Part;
use crate::write::{digits, write, write_dictionary, write_indirect_object, write_number};

/// The second line marks the file as binary.
pub(crate) const HEADER: &[u8] = b"%PDF-1.7\n%\xD3\xEB\xE9\xE1\n";
/// Generation and kind of a free entry.
const FREE: &[u8; 10] = b" 65535 f \n";
/// Extra capacity for what completion adds, in bytes.
const SLACK: usize = 8 * 1024;
/// Number of objects from which half of them are written on another thread.
pub(crate) const MANY_OBJECTS: ObjectNumber = 8_192;

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

/// Writes the objects in the order of their numbers, `merged` ones without their kids. If the document is a single file without
/// gaps, and nothing is merged, objects keep their numbers, and unchanged ones are copied byte for byte.
pub(crate) fn write_document<'trailer>(
    mut document: Document<'_>,
    merged: &[MergedElement],
    trailer: Dictionary<'trailer>,
) -> Result<WrittenFile<'trailer>, PdfError> {
    for element in merged {
        document.remove(element.kid);
    }
    let are_kept = document.parts().len() == 1 && !document.has_gaps();
    let numbers = if are_kept {
        Vec::new()
    } else {
        written_numbers(&document, merged)
    };
    let number_of = |number: ObjectNumber| match numbers.get(number as usize) {
        Some(written) => *written,
        None if are_kept => number,
        None => 0,
    };
    let length = document.parts().iter().map(Part::length).sum::<usize>() + SLACK;
    let size = document.size();
    let mut changed = document.take_changed();
    let write_objects = |numbers: Range<ObjectNumber>, mut changed: BTreeMap<_, _>, mut bytes: Vec<u8>| {
        let first = merged.partition_point(|element| element.number < numbers.start);
        let mut merged = merged[first..].iter().peekable();
        let mut offsets = Vec::new();
        for number in numbers {
            if document.is_free(number) {
                continue;
            }
            offsets.push(bytes.len());
            let element = merged.next_if(|element| element.number == number);
            let changed = changed.remove(&number);
            if let Some((element, part)) = element.zip(document.part_of(number)) {
                element.write(part, &mut bytes, &number_of)?;
            } else if are_kept
                && changed.is_none()
                && let Some(object) = document.object_bytes(number)
            {
                bytes.extend_from_slice(object);
                bytes.push(b'\n');
            } else {
                write_renumbered(&document, number, changed, &number_of, &mut bytes)?;
            }
        }
        Ok::<_, PdfError>((bytes, offsets))
    };
    let mut output = Vec::with_capacity(length);
    output.extend_from_slice(HEADER);
    let (bytes, offsets) = if size < MANY_OBJECTS {
        write_objects(1..size, changed, output)?
    } else {
        let middle = size / 2;
        let later = changed.split_off(&middle);
        let (second, first) = concurrently(
            || write_objects(middle..size, later, Vec::with_capacity(length / 2)),
            || write_objects(1..middle, changed, output),
        );
        let ((mut bytes, mut offsets), (mut last, last_offsets)) = (first?, second?);
        offsets.extend(last_offsets.iter().map(|offset| bytes.len() + offset));
        bytes.append(&mut last);
        (bytes, offsets)
    };
    let mut trailer = Object::Dictionary(trailer);
    trailer.renumber(&number_of);
    let trailer = trailer.as_dictionary().cloned().unwrap_or_default();
    let mut file = WrittenFile::end(bytes, offsets, trailer);
    if !are_kept {
        // It can be much smaller than its parts.
        file.bytes.shrink_to_fit();
    }
    Ok(file)
}

/// Writes an object, which is `changed` or as in its file, with the numbers that `number_of` returns for those of the document, 0 for
/// one that is not written.
pub(crate) fn write_renumbered(
    document: &Document,
    number: ObjectNumber,
    changed: Option<Object>,
    number_of: &impl Fn(ObjectNumber) -> ObjectNumber,
    output: &mut Vec<u8>,
) -> Result<(), PdfError> {
    if let Some(mut object) = changed {
        object.renumber(number_of);
        write_indirect_object(output, number_of(number), &object);
    } else if let Some(part) = document.part_of(number) {
        write_number(output, number_of(number));
        output.extend_from_slice(b" 0 obj");
        let rest = part.write_translated(number, output, number_of)?;
        output.extend_from_slice(rest);
    }
    output.push(b'\n');
    Ok(())
}

/// Returns the number that each object gets in the file; 0 for free numbers. The kid of a merged element gets that of the element.
fn written_numbers(document: &Document, merged: &[MergedElement]) -> Vec<ObjectNumber> {
    let mut last = 0;
    let number = |number| {
        if document.is_free(number) {
            return 0;
        }
        last += 1;
        last
    };
    let mut numbers: Vec<ObjectNumber> = (0..document.size()).map(number).collect();
    for element in merged {
        numbers[element.kid as usize] = numbers[element.number as usize];
    }
    numbers
}

/// Writes the cross-reference table, which begins at `table`, and the trailer. The objects begin at `offsets`, by number
/// from 1; 0 for a free number. Free entries are linked to entry 0 (ISO 32000-1, 7.5.4).
pub(crate) fn write_end(output: &mut Vec<u8>, table: usize, offsets: &[usize], trailer: &Dictionary) {
    write(output, format_args!("xref\n0 {}\n", offsets.len() + 1));
    write_entry(output, 0, FREE);
    for offset in offsets {
        write_entry(output, *offset, if *offset > 0 { b" 00000 n \n" } else { FREE });
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a file with these objects, whose numbers begin with 1. The first one is the catalog.
    pub(crate) fn file(objects: &[&str]) -> Vec<u8> {
        let (mut bytes, mut offsets) = (HEADER.to_vec(), Vec::new());
        for (number, object) in (1..).zip(objects) {
            offsets.push(bytes.len());
            bytes.extend_from_slice(format!("{number} 0 obj\n{object}\nendobj\n").as_bytes());
        }
        WrittenFile::end(bytes, offsets, Dictionary::new([("Root", Object::Reference(1))])).bytes
    }

    #[test]
    fn halves_of_many_objects_follow_each_other() {
        let object = |number| format!("<</Self {number} 0 R>>");
        let objects: Vec<String> = (1..=MANY_OBJECTS).map(object).collect();
        let bytes = file(&objects.iter().map(String::as_str).collect::<Vec<_>>());
        let trailer = Dictionary::new([("Root", Object::Reference(1))]);
        let changed = [MANY_OBJECTS / 2 - 1, MANY_OBJECTS / 2, MANY_OBJECTS];
        for removed in [None, Some(7)] {
            let mut document = Document::open(&[&bytes]).expect("valid");
            for number in changed {
                document.set(number, Object::Array(vec![Object::Reference(number)]));
            }
            if let Some(number) = removed {
                document.remove(number);
            }
            let file = write_document(document, &[], trailer.clone()).expect("a document that can be written");
            let kept = (1..=MANY_OBJECTS).filter(|number| Some(*number) != removed);
            let expected = (1..).zip(kept).map(|(written, number)| {
                let object = if changed.contains(&number) {
                    format!("[{written} 0 R]")
                } else {
                    object(written)
                };
                format!("{written} 0 obj\n{object}\nendobj\n")
            });
            let expected: Vec<String> = expected.collect();
            assert!(file.objects().eq(expected.iter().map(String::as_bytes)));
            assert!(file.bytes.starts_with(&[HEADER, expected.concat().as_bytes()].concat()));
        }
    }
}
