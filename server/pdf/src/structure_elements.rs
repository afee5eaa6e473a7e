//! Structure elements (ISO 32000-1, 14.7.2), as passes of several modules read them.

use crate::object::{Dictionary, Object};

/// Returns the type of an element; empty if it has none.
pub(crate) fn kind_of<'e>(element: &'e Dictionary) -> &'e [u8] {
    match element.get("S") {
        Some(Object::Name(kind)) => kind,
        _ => b"",
    }
}

/// Returns whether the type of an element is one of these.
pub(crate) fn is_kind(element: &Dictionary, kinds: &[&str]) -> bool {
    let kind = kind_of(element);
    kinds.iter().any(|wanted| wanted.as_bytes() == kind)
}

/// Returns the number of rows or columns that a table cell spans, by its attribute `RowSpan` or `ColSpan`: one if it is missing
/// or not positive. The last of several attributes counts, as for the checker.
pub(crate) fn span_of(cell: &Dictionary, attribute: &str) -> usize {
    let attributes = cell.items("A").iter().filter_map(Object::as_dictionary);
    let mut spans = attributes.filter_map(|attributes| attributes.get(attribute)?.as_integer());
    let span = spans.next_back().and_then(|span| usize::try_from(span).ok());
    span.unwrap_or(1).max(1)
}
