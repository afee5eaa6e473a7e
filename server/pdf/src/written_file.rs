//! Writes a document: one revision, no object streams, one classic cross-reference table (ISO 32000-1, 7.5).

use crate::PdfError;
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
    let mut output = Vec::with_capacity(document.parts().iter().map(Part::length).sum::<usize>() + SLACK);
    output.extend_from_slice(HEADER);
    let mut offsets = Vec::new();
    let mut merged = merged.iter().peekable();
    for number in 1..document.size() {
        if document.is_free(number) {
            continue;
        }
        offsets.push(output.len());
        let element = merged.next_if(|element| element.number == number);
        if let Some((element, part)) = element.zip(document.part_of(number)) {
            element.write(part, &mut output, &number_of)?;
        } else if are_kept && let Some(object) = document.original_bytes(number) {
            output.extend_from_slice(object);
            output.push(b'\n');
        } else {
            write_renumbered(&mut document, number, &number_of, &mut output)?;
        }
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

/// Writes an object with the numbers that `number_of` returns for those of the document, 0 for one that is not written.
/// A changed object is taken from the document.
pub(crate) fn write_renumbered(
    document: &mut Document,
    number: ObjectNumber,
    number_of: &impl Fn(ObjectNumber) -> ObjectNumber,
    output: &mut Vec<u8>,
) -> Result<(), PdfError> {
    if let Some(mut object) = document.take_changed(number) {
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
