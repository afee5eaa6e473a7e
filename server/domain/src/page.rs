//! Pagination of lists: the query string gives the page size and the cursor.

use std::{num::NonZeroU16, str::FromStr};

use url::form_urlencoded;

use crate::validation::{Problem, quote};

/// Maximum number of items per page.
const LARGEST_PAGE: u16 = 1000;

/// The requested part of a list; without size and cursor, the whole list. `Key` is the sort key of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<Key> {
    /// Maximum number of items.
    pub size: Option<NonZeroU16>,
    /// The cursor: only items after this one.
    pub after: Option<Key>,
}

impl<Key: FromStr> PageRequest<Key> {
    /// Parses `page_size` and `cursor` of a query string. Fails with all validation errors, at the parameters' names.
    /// If a parameter is repeated, the last value counts; unknown parameters are ignored.
    pub fn parse(query: &str) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let size = parameter(query, "page_size", &mut problems, |text| {
            let size = text.parse().ok().filter(|size: &NonZeroU16| size.get() <= LARGEST_PAGE);
            size.ok_or_else(|| format!("Must be a number from 1 to {LARGEST_PAGE}; got {}", quote(text)))
        });
        let after = parameter(query, "cursor", &mut problems, |text| {
            text.parse()
                .map_err(|_| format!("Must be the cursor of a Link header, unchanged; got {}", quote(text)))
        });
        if problems.is_empty() {
            Ok(Self { size, after })
        } else {
            Err(problems)
        }
    }
}

/// Parses an optional parameter of a query string; adds a validation error at its name to `problems`.
pub(crate) fn parameter<T>(
    query: &str,
    name: &str,
    problems: &mut Vec<Problem>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    let (_, text) = form_urlencoded::parse(query.as_bytes())
        .filter(|(key, _)| key == name)
        .last()?;
    let value = read(&text);
    value
        .map_err(|detail| problems.push(Problem::invalid(format!("/{name}"), detail)))
        .ok()
}

impl<Key> PageRequest<Key> {
    /// Requests the whole list.
    pub const ALL: Self = Self {
        size: None,
        after: None,
    };

    /// Requests up to `size` items after a cursor or, without one, from the beginning.
    pub fn after(after: Option<Key>, size: NonZeroU16) -> Self {
        Self {
            size: Some(size),
            after,
        }
    }

    /// Returns how many items to query: one more than the page contains, to learn whether there is a next page. `None`:
    /// all.
    pub fn limit(&self) -> Option<i64> {
        self.size.map(|size| i64::from(size.get()) + 1)
    }

    /// Creates the page from items that were queried with [`Self::limit`].
    pub fn page<T>(&self, mut items: Vec<T>, key: impl Fn(&T) -> Key) -> Page<T, Key> {
        let size = self.size.map_or(usize::MAX, |size| size.get().into());
        let has_next = items.len() > size;
        items.truncate(size);
        let next = items.last().filter(|_| has_next).map(key);
        Page { items, next }
    }

    /// Like [`Self::page`], with items that were searched up to `last`; `None` if no further ones may match.
    pub fn page_of_search<T>(&self, items: Vec<T>, key: impl Fn(&T) -> Key, last: Option<Key>) -> Page<T, Key> {
        let page = self.page(items, key);
        Page {
            next: page.next.or(last),
            ..page
        }
    }
}

/// Number of renders among which a page of matches is found if no index finds them, so that a filter that matches few or none of an
/// account's renders is as fast as others.
pub const SEARCHED: i64 = 5_000;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, Key> {
    /// In the order of the list.
    pub items: Vec<T>,
    /// The cursor of the next page, if any.
    pub next: Option<Key>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Result<(Option<u16>, Option<i32>), Vec<String>> {
        let pointers = |problems: Vec<Problem>| problems.into_iter().map(|problem| problem.pointer).collect::<Vec<_>>();
        let page = PageRequest::<i32>::parse(query).map_err(pointers)?;
        Ok((page.size.map(NonZeroU16::get), page.after))
    }

    #[test]
    fn queries() {
        assert_eq!(parse(""), Ok((None, None)));
        assert_eq!(parse("other=1&page_size=2"), Ok((Some(2), None)));
        assert_eq!(parse("page_size=1000&cursor=7"), Ok((Some(1000), Some(7))));
        assert_eq!(parse("page_size=9&page_size=%31"), Ok((Some(1), None)));
        for wrong in ["0", "1001", "-1", "1.5", "", "all", "70000"] {
            assert_eq!(
                parse(&format!("page_size={wrong}")),
                Err(vec!["/page_size".to_owned()]),
                "{wrong}"
            );
        }
        assert_eq!(
            parse("cursor=x&page_size=x"),
            Err(vec!["/page_size".to_owned(), "/cursor".to_owned()])
        );
    }

    #[test]
    fn a_page_knows_whether_there_is_another() {
        let page = |size: u16, found: Vec<i32>| {
            let size = NonZeroU16::new(size);
            PageRequest { size, after: None }.page(found, |item| *item)
        };
        let next = |items: &[i32], next| Page {
            items: items.to_vec(),
            next,
        };
        assert_eq!(page(2, vec![9, 8, 7]), next(&[9, 8], Some(8)));
        assert_eq!(page(2, vec![9, 8]), next(&[9, 8], None));
        assert_eq!(page(0, vec![9, 8, 7]), next(&[9, 8, 7], None));
        assert_eq!(page(2, Vec::new()), next(&[], None));
    }

    #[test]
    fn a_search_goes_on_after_the_last_item_that_was_read() {
        let request = PageRequest::after(None, NonZeroU16::MIN);
        let next = |found: Vec<i32>, last| request.page_of_search(found, |item| *item, last).next;
        assert_eq!(next(vec![9, 8], Some(3)), Some(9));
        assert_eq!(next(vec![9], Some(3)), Some(3));
        assert_eq!(next(Vec::new(), Some(3)), Some(3));
        assert_eq!(next(vec![9], None), None);
    }
}
