//! `pages`: which pages of the document to keep.

/// Says what is wrong with a list of page numbers and ranges, if anything. Its form, `1, 3-5`, is the schema's affair;
/// here its numbers are looked at.
pub(super) fn fault(pages: &str) -> Option<String> {
    pages
        .split(',')
        .map(str::trim_start)
        .filter(|item| !item.is_empty())
        .find_map(|item| {
            let (first, last) = item.split_once('-').unwrap_or((item, item));
            let (first, last) = (number(first), number(last));
            if first == 0 {
                Some(format!("Pages are counted from 1; got {item}"))
            } else if last < first {
                Some(format!("Ranges run upwards; got {item}"))
            } else {
                None
            }
        })
}

/// A number too large for the machine is past the end of every document.
fn number(digits: &str) -> u64 {
    digits.parse().unwrap_or(u64::MAX)
}
