//! Renumbers the identifiers of table header cells (ISO 32000-1, 14.7.2 and 14.8.5.7). Chromium continues their count
//! from print to print, `node00000331`, which would be the only difference between two prints of the same page.

use std::borrow::Cow;

use memchr::memmem;

/// Start of an identifier in a file, followed by eight digits and a parenthesis.
const START: &[u8] = b"(node";
const DIGITS: usize = 8;
/// What precedes an identifier: its key, the start of its array, or the preceding item of that array. An identical text
/// by the author follows a different key.
const CONTEXTS: [&[u8]; 4] = [b"/ID ", b"[", b") ", b" R "];

/// Renumbers a file's identifiers from 1 in their existing order, so that name trees stay sorted. No byte moves. A file
/// without identifiers is not copied.
pub(crate) fn number_identifiers(file: &mut Cow<[u8]>) {
    let found: Vec<(usize, u64)> = memmem::find_iter(file, START)
        .filter(|at| CONTEXTS.iter().any(|context| file[..*at].ends_with(context)))
        .filter_map(|at| Some((at + START.len(), digits(file, at + START.len())?)))
        .collect();
    if found.is_empty() {
        return;
    }
    let mut identifiers: Vec<u64> = found.iter().map(|(_, digits)| *digits).collect();
    identifiers.sort_unstable();
    identifiers.dedup();
    let numbers: Vec<String> = (1..=identifiers.len())
        .map(|number| format!("{number:0DIGITS$}"))
        .collect();
    let file = file.to_mut();
    for (at, digits) in found {
        let before = identifiers.partition_point(|identifier| *identifier < digits);
        file[at..at + DIGITS].copy_from_slice(numbers[before].as_bytes());
    }
}

/// Returns the digits at an offset, if they end an identifier, as a number that has their order.
fn digits(file: &[u8], at: usize) -> Option<u64> {
    let (digits, after) = file.get(at..)?.split_first_chunk::<DIGITS>()?;
    let is_identifier = digits.iter().all(u8::is_ascii_digit) && after.starts_with(b")");
    is_identifier.then_some(u64::from_be_bytes(*digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_identifiers_and_nothing_else() {
        let file = "<</ID (node00000331)>> <</Headers [(node00000331) (node00000007)]\n/Alt (node00000331)>>\
            <</Names [(node00000007) 1 0 R (node00000331) 2 0 R]>> [(node331)] [(node00000331 )] [(node0";
        let expected = "<</ID (node00000002)>> <</Headers [(node00000002) (node00000001)]\n/Alt (node00000331)>>\
            <</Names [(node00000001) 1 0 R (node00000002) 2 0 R]>> [(node331)] [(node00000331 )] [(node0";
        let mut numbered = Cow::Borrowed(file.as_bytes());
        number_identifiers(&mut numbered);
        assert_eq!(str::from_utf8(&numbered), Ok(expected));
        let mut without = Cow::Borrowed(b"/Alt (node00000331)".as_slice());
        number_identifiers(&mut without);
        assert!(matches!(without, Cow::Borrowed(b"/Alt (node00000331)")));
    }
}
