//! The outline (ISO 32000-1, 12.3.3): entries that are chained to each other.

use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};

/// Makes `entries` the children of `owner`, an entry or the root, and writes them to the document. Their own children
/// must already be linked. `owner` is updated but not written; it stays closed if it was.
pub(crate) fn chain_entries<'a>(
    document: &mut Document<'a>,
    owner: (ObjectNumber, &mut Dictionary<'a>),
    entries: Vec<(ObjectNumber, Dictionary<'a>)>,
) {
    let (owner_number, owner) = owner;
    let was_closed = owner
        .get("Count")
        .and_then(Object::as_integer)
        .is_some_and(|count| count < 0);
    for key in ["First", "Last", "Count"] {
        owner.remove(key);
    }
    let numbers: Vec<ObjectNumber> = entries.iter().map(|(number, _)| *number).collect();
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
        return;
    };
    let mut visible = 0_i64;
    for (index, (number, mut entry)) in entries.into_iter().enumerate() {
        let open = entry.get("Count").and_then(Object::as_integer).unwrap_or_default();
        visible = visible.saturating_add(1).saturating_add(open.max(0));
        entry.set("Parent", Object::Reference(owner_number));
        let neighbours = [("Prev", index.checked_sub(1)), ("Next", index.checked_add(1))];
        for (key, neighbour) in neighbours {
            match neighbour.and_then(|index| numbers.get(index)) {
                Some(neighbour) => entry.set(key, Object::Reference(*neighbour)),
                None => drop(entry.remove(key)),
            }
        }
        document.set(number, Object::Dictionary(entry));
    }
    owner.set("First", Object::Reference(*first));
    owner.set("Last", Object::Reference(*last));
    owner.set("Count", Object::Integer(if was_closed { -visible } else { visible }));
}

/// Returns the destination at the upper left corner of a page with this height in points.
pub(crate) fn top_of_page(page: ObjectNumber, height: f64) -> Object<'static> {
    let destination = [
        Object::Reference(page),
        Object::name("XYZ"),
        Object::Integer(0),
        Object::Real(height),
        Object::Integer(0),
    ];
    destination.into_iter().collect()
}
