//! Selections of pages.

use std::ops::RangeInclusive;

use crate::object::MAX_OBJECTS;

/// A selection of pages such as `1, 3-4,7`. Pages are numbered from 1. Each is selected once and in document order,
/// regardless of how it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSelection {
    /// Ascending, neither overlapping nor adjacent; at least one.
    ranges: Vec<RangeInclusive<usize>>,
}

/// Why a text is not a selection of pages. Places are counted in characters, from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageSelectionError {
    /// The text is blank.
    #[error("no pages are selected; expected something like 1, 3-4")]
    Empty,
    /// There is no page or range before, between or after commas.
    #[error("a page or a range is missing at character {place}")]
    MissingItem {
        /// Place at which it is missing.
        place: usize,
    },
    /// An item is neither a page nor a range.
    #[error("“{item}” at character {place} is neither a page such as 3 nor a range such as 3-4")]
    NotAPage {
        /// The item as written, shortened to 40 characters.
        item: String,
        /// Place at which it begins.
        place: usize,
    },
    /// An item names page 0.
    #[error("“{item}” at character {place} names page 0; pages are numbered from 1")]
    Zero {
        /// The item as written, shortened to 40 characters.
        item: String,
        /// Place at which it begins.
        place: usize,
    },
    /// A range ends before it begins.
    #[error("“{item}” at character {place} runs backwards")]
    Reversed {
        /// The item as written, shortened to 40 characters.
        item: String,
        /// Place at which it begins.
        place: usize,
    },
    /// A page number is larger than 8,388,607, which no document reaches.
    #[error("“{item}” at character {place} is larger than any page number")]
    TooLarge {
        /// The item as written, shortened to 40 characters.
        item: String,
        /// Place at which it begins.
        place: usize,
    },
}

/// Characters of an item that an error shows.
const SHOWN_LENGTH: usize = 40;
/// Largest page number; no document has more pages.
const MAX_PAGE: usize = MAX_OBJECTS;

impl PageSelection {
    /// Parses pages and ranges separated by commas. White space is allowed only after a comma.
    pub fn parse(text: &str) -> Result<Self, PageSelectionError> {
        if text.trim().is_empty() {
            return Err(PageSelectionError::Empty);
        }
        let mut ranges = Vec::new();
        let mut start = 0;
        for (index, part) in text.split(',').enumerate() {
            let item = if index == 0 { part } else { part.trim_start() };
            let item_start = start + part.len() - item.len();
            ranges.push(parse_item(item, || text[..item_start].chars().count() + 1)?);
            start += part.len() + 1;
        }
        ranges.sort_unstable_by_key(|range| *range.start());
        let mut merged: Vec<RangeInclusive<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut() {
                Some(last) if *range.start() <= *last.end() + 1 => {
                    *last = *last.start()..=*last.end().max(range.end());
                }
                _ => merged.push(range),
            }
        }
        Ok(Self { ranges: merged })
    }

    /// Returns the highest selected page.
    pub fn last(&self) -> usize {
        self.ranges.last().map_or(0, |range| *range.end())
    }

    /// Returns whether a page is selected; `page` is numbered from 1.
    pub fn contains(&self, page: usize) -> bool {
        let after = self.ranges.partition_point(|range| *range.start() <= page);
        after > 0 && self.ranges[after - 1].contains(&page)
    }
}

/// Writes the shortest form that [`PageSelection::parse`] accepts: `1, 3-4, 7`.
impl std::fmt::Display for PageSelection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, range) in self.ranges.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let (first, last) = (range.start(), range.end());
            if first == last {
                write!(formatter, "{comma}{first}")?;
            } else {
                write!(formatter, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

/// Parses a page or a range. `place` returns where the item begins; it is called only for errors, because there can be
/// very many items.
fn parse_item(item: &str, place: impl Fn() -> usize) -> Result<RangeInclusive<usize>, PageSelectionError> {
    if item.is_empty() {
        return Err(PageSelectionError::MissingItem { place: place() });
    }
    let shown = || crate::text::abbreviate(item, SHOWN_LENGTH);
    let (first, last) = item.split_once('-').unwrap_or((item, item));
    if [first, last]
        .iter()
        .any(|number| number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Err(PageSelectionError::NotAPage {
            item: shown(),
            place: place(),
        });
    }
    let number = |digits: &str| digits.parse().ok().filter(|number| *number <= MAX_PAGE);
    let (Some(first), Some(last)) = (number(first), number(last)) else {
        return Err(PageSelectionError::TooLarge {
            item: shown(),
            place: place(),
        });
    };
    if first == 0 || last == 0 {
        return Err(PageSelectionError::Zero {
            item: shown(),
            place: place(),
        });
    }
    if first > last {
        return Err(PageSelectionError::Reversed {
            item: shown(),
            place: place(),
        });
    }
    Ok(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(text: &str) -> Vec<usize> {
        let selection = PageSelection::parse(text).expect(text);
        let pages = (0..=selection.last() + 1)
            .filter(|page| selection.contains(*page))
            .collect::<Vec<_>>();
        assert_eq!(pages.last(), Some(&selection.last()));
        pages
    }

    #[test]
    fn selects_in_the_order_of_the_document_and_once() {
        assert_eq!(pages("1"), [1]);
        assert_eq!(pages("1, 3-4,7"), [1, 3, 4, 7]);
        assert_eq!(pages("7,\t\n3-4, 1"), [1, 3, 4, 7]);
        assert_eq!(pages("2-5,4-6,1,2,08"), [1, 2, 3, 4, 5, 6, 8]);
        assert_eq!(
            PageSelection::parse("7,3-4,1,5").expect("valid").to_string(),
            "1, 3-5, 7"
        );
        assert!(PageSelection::parse("1-8388607").is_ok_and(|selection| selection.contains(8_000_000)));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, expected) in [
            ("", "no pages are selected; expected something like 1, 3-4"),
            (" ", "no pages are selected; expected something like 1, 3-4"),
            (",1", "a page or a range is missing at character 1"),
            ("1,", "a page or a range is missing at character 3"),
            ("1, ,2", "a page or a range is missing at character 4"),
            (
                " 1",
                "“ 1” at character 1 is neither a page such as 3 nor a range such as 3-4",
            ),
            (
                "1 ,2",
                "“1 ” at character 1 is neither a page such as 3 nor a range such as 3-4",
            ),
            (
                "1,2 - 3",
                "“2 - 3” at character 3 is neither a page such as 3 nor a range such as 3-4",
            ),
            (
                "1,2-",
                "“2-” at character 3 is neither a page such as 3 nor a range such as 3-4",
            ),
            (
                "1-2-3",
                "“1-2-3” at character 1 is neither a page such as 3 nor a range such as 3-4",
            ),
            (
                "+1",
                "“+1” at character 1 is neither a page such as 3 nor a range such as 3-4",
            ),
            (
                "１",
                "“１” at character 1 is neither a page such as 3 nor a range such as 3-4",
            ),
            ("1, 0", "“0” at character 4 names page 0; pages are numbered from 1"),
            ("0-3", "“0-3” at character 1 names page 0; pages are numbered from 1"),
            ("1,4-3", "“4-3” at character 3 runs backwards"),
            (
                "99999999999999999999",
                "“99999999999999999999” at character 1 is larger than any page number",
            ),
        ] {
            let error = PageSelection::parse(text).expect_err(text);
            assert_eq!(error.to_string(), expected, "{text}");
        }
    }
}
