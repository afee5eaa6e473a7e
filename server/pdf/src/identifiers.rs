//! Numbers the identifiers of table header cells anew (ISO 32000-1, 14.7.2 and 14.8.5.7). Chromium counts them on from
//! print to print, `node00000331`, so that two prints of the same page would differ in nothing else.

use std::borrow::Cow;

use memchr::memmem;

/// How an identifier begins in a file, eight digits and a parenthesis before its end.
const START: &[u8] = b"(node";
const DIGITS: usize = 8;
/// What stands before an identifier: its key, or the array that it is in, or what is in front of it in that. Before a
/// text of the author's that is the same stands another key.
const CONTEXTS: [&[u8]; 4] = [b"/ID ", b"[", b") ", b" R "];

/// The file with identifiers that count from 1 in the order of those that it has, so that name trees stay sorted. Not a
/// byte moves. What has no identifiers is given back as it is.
pub(crate) fn number_identifiers(file: &[u8]) -> Cow<'_, [u8]> {
    let found: Vec<(usize, &[u8])> = memmem::find_iter(file, START)
        .filter(|at| CONTEXTS.iter().any(|context| file[..*at].ends_with(context)))
        .filter_map(|at| Some((at + START.len(), digits(file, at + START.len())?)))
        .collect();
    let mut identifiers: Vec<&[u8]> = found.iter().map(|(_, digits)| *digits).collect();
    identifiers.sort_unstable();
    identifiers.dedup();
    if identifiers.is_empty() {
        return Cow::Borrowed(file);
    }
    let numbers: Vec<String> = (1..=identifiers.len())
        .map(|number| format!("{number:0DIGITS$}"))
        .collect();
    let mut numbered = file.to_vec();
    for (at, digits) in found {
        let number = identifiers
            .binary_search(&digits)
            .ok()
            .and_then(|index| numbers.get(index));
        if let (Some(place), Some(number)) = (numbered.get_mut(at..at + DIGITS), number) {
            place.copy_from_slice(number.as_bytes());
        }
    }
    Cow::Owned(numbered)
}

/// The digits at a place, if they end an identifier.
fn digits(file: &[u8], at: usize) -> Option<&[u8]> {
    let (digits, after) = file.get(at..)?.split_at_checked(DIGITS)?;
    (digits.iter().all(u8::is_ascii_digit) && after.starts_with(b")")).then_some(digits)
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
        let numbered = number_identifiers(file.as_bytes());
        assert_eq!(str::from_utf8(&numbered), Ok(expected));
        assert!(matches!(number_identifiers(b"/Alt (node00000331)"), Cow::Borrowed(_)));
    }
}
