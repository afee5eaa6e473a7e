//! Tables that lose rows. A cell that spans rows of which some are removed spans the others. If its own row is removed, an
//! empty cell takes its place in the others, so that their cells keep their columns (ISO 14289-1, 7.2).

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::structure_elements::{is_kind, kind_of, span_of};

/// Most steps for a group of rows: this many, and more for each row and cell. Far above what authors need; it bounds the
/// work for many cells that span many rows.
const MAX_STEPS: usize = 4_096;
const MAX_STEPS_PER_ELEMENT: usize = 64;

/// Changes to tables.
#[derive(Default)]
pub(super) struct TableRepairs {
    /// Numbers of rows that cells span from now on.
    row_spans: BTreeMap<ObjectNumber, usize>,
    /// Empty cells, by row, in order.
    cells: BTreeMap<ObjectNumber, Vec<EmptyCell>>,
    /// Heads and feet that become bodies.
    bodies: Vec<ObjectNumber>,
    /// Groups and rows, each of which is read once, no matter how many elements refer to it.
    seen: BTreeSet<ObjectNumber>,
}

struct EmptyCell {
    /// The next cell of its row; `None` at the end.
    before: Option<ObjectNumber>,
    columns: usize,
    rows: usize,
}

struct Cell {
    number: ObjectNumber,
    columns: usize,
    rows: usize,
}

/// A cell that spans further rows.
struct Span {
    column: usize,
    columns: usize,
    /// Index of the row after its last.
    end: usize,
    /// Whether its own row is removed, and no empty cell has taken its place.
    is_lost: bool,
}

impl TableRepairs {
    /// Notes the changes to a table, which must be unchanged, if only these elements are retained.
    pub(super) fn note(
        &mut self,
        document: &Document,
        table: &Dictionary,
        retained: &BTreeSet<ObjectNumber>,
    ) -> Result<(), PdfError> {
        // Rows of each group, and consecutive ones without a group.
        let (mut groups, mut loose) = (Vec::new(), Vec::new());
        let (mut heads, mut feet) = (Vec::new(), Vec::new());
        let (mut bodies, mut retained_bodies) = (0, 0);
        for number in table.items("K").iter().filter_map(Object::as_reference) {
            let kid = document.get(number)?;
            let Some(kid) = kid.as_dictionary().filter(|_| self.seen.insert(number)) else {
                continue;
            };
            let is_retained = retained.contains(&number);
            match kind_of(kid) {
                b"TR" => {
                    loose.push(number);
                    continue;
                }
                b"THead" => heads.extend(is_retained.then_some(number)),
                b"TFoot" => feet.extend(is_retained.then_some(number)),
                b"TBody" => {
                    bodies += 1;
                    retained_bodies += usize::from(is_retained);
                }
                _ => continue,
            }
            groups.push(take(&mut loose));
            groups.push(self.rows(document, kid)?);
        }
        // A head or a foot requires a body (7.2).
        if bodies > 0 && retained_bodies == 0 {
            self.bodies.extend(if feet.is_empty() { heads } else { feet });
        }
        for group in groups.into_iter().chain([loose]) {
            self.note_group(document, &group, retained)?;
        }
        Ok(())
    }

    fn rows(&mut self, document: &Document, group: &Dictionary) -> Result<Vec<ObjectNumber>, PdfError> {
        let mut rows = Vec::new();
        for number in group.items("K").iter().filter_map(Object::as_reference) {
            let row = document.get(number)?;
            if row.as_dictionary().is_some_and(|row| is_kind(row, &["TR"])) && self.seen.insert(number) {
                rows.push(number);
            }
        }
        Ok(rows)
    }

    /// Notes the changes to consecutive rows.
    fn note_group(
        &mut self,
        document: &Document,
        rows: &[ObjectNumber],
        retained: &BTreeSet<ObjectNumber>,
    ) -> Result<(), PdfError> {
        // Numbers of retained rows before each row, and before the end.
        let mut retained_before = vec![0];
        for row in rows {
            let before = retained_before.last().copied().unwrap_or_default();
            retained_before.push(before + usize::from(retained.contains(row)));
        }
        let all = retained_before.last().copied().unwrap_or_default();
        if all == 0 || all == rows.len() {
            return Ok(());
        }
        let (mut steps, mut elements) = (0, 0);
        let mut open: Vec<Span> = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            let is_retained = retained.contains(row);
            let cells = cells(document, *row)?;
            elements += 1 + cells.len();
            steps += open.len() + cells.len();
            if steps > MAX_STEPS + MAX_STEPS_PER_ELEMENT * elements {
                return Ok(());
            }
            let retained_to = |end: usize| retained_before[end] - retained_before[index];
            let mut empty = Vec::new();
            let mut still_open = Vec::with_capacity(open.len());
            let mut pass = |mut span: Span, before: Option<ObjectNumber>| {
                if span.is_lost && is_retained {
                    span.is_lost = false;
                    empty.push(EmptyCell {
                        before,
                        columns: span.columns,
                        rows: retained_to(span.end),
                    });
                }
                let next = span.column.saturating_add(span.columns);
                still_open.push(span);
                next
            };
            let mut spans = open.into_iter().peekable();
            let mut column = 0_usize;
            for cell in cells {
                while let Some(span) = spans.next_if(|span| span.column <= column) {
                    column = column.max(pass(span, Some(cell.number)));
                }
                let end = index.saturating_add(cell.rows).min(rows.len());
                if is_retained && retained_to(end) < cell.rows {
                    self.row_spans.insert(cell.number, retained_to(end));
                }
                let span = Span {
                    column,
                    columns: cell.columns,
                    end,
                    is_lost: !is_retained,
                };
                column = pass(span, None);
            }
            for span in spans {
                pass(span, None);
            }
            still_open.retain(|span| span.end > index + 1);
            open = still_open;
            if !empty.is_empty() {
                self.cells.insert(*row, empty);
            }
        }
        Ok(())
    }

    /// Changes the tables, and adds the new cells to the elements.
    pub(super) fn write(self, document: &mut Document, elements: &mut BTreeSet<ObjectNumber>) -> Result<(), PdfError> {
        for (number, rows) in self.row_spans {
            let mut cell = document.get_dictionary(number, "expected a structure element")?;
            let mut attributes = cell.items("A").to_vec();
            for attributes in attributes.iter_mut().filter_map(Object::as_dictionary_mut) {
                if let Some(span) = attributes.get_mut("RowSpan") {
                    *span = Object::count(rows);
                }
            }
            cell.set("A", Object::Array(attributes));
            document.set(number, Object::Dictionary(cell));
        }
        for (number, cells) in self.cells {
            let mut row = document.get_dictionary(number, "expected a structure element")?;
            let mut cells = cells.into_iter().peekable();
            let mut kids = Vec::new();
            for kid in row.items("K") {
                while let Some(cell) = cells.next_if(|cell| cell.before.is_some() && cell.before == kid.as_reference())
                {
                    kids.push(cell.add(document, number, elements));
                }
                kids.push(kid.clone());
            }
            kids.extend(cells.map(|cell| cell.add(document, number, elements)));
            row.set("K", Object::Array(kids));
            document.set(number, Object::Dictionary(row));
        }
        for number in self.bodies {
            let mut group = document.get_dictionary(number, "expected a structure element")?;
            group.set("S", Object::name("TBody"));
            document.set(number, Object::Dictionary(group));
        }
        Ok(())
    }
}

impl EmptyCell {
    /// Adds the cell to a row and returns the reference to it.
    fn add<'a>(&self, document: &mut Document, row: ObjectNumber, elements: &mut BTreeSet<ObjectNumber>) -> Object<'a> {
        let attributes = Dictionary::new([
            ("O", Object::name("Table")),
            ("RowSpan", Object::count(self.rows)),
            ("ColSpan", Object::count(self.columns)),
        ]);
        let cell = Dictionary::new([
            ("Type", Object::name("StructElem")),
            ("S", Object::name("TD")),
            ("P", Object::Reference(row)),
            ("A", Object::Dictionary(attributes)),
        ]);
        let number = document.add(Object::Dictionary(cell));
        elements.insert(number);
        Object::Reference(number)
    }
}

/// Returns the cells of a row.
fn cells(document: &Document, row: ObjectNumber) -> Result<Vec<Cell>, PdfError> {
    let row = document.get_dictionary(row, "expected a structure element")?;
    let mut cells = Vec::new();
    for number in row.items("K").iter().filter_map(Object::as_reference) {
        let cell = document.get(number)?;
        let Some(cell) = cell.as_dictionary().filter(|cell| is_kind(cell, &["TH", "TD"])) else {
            continue;
        };
        cells.push(Cell {
            number,
            columns: span_of(cell, "ColSpan"),
            rows: span_of(cell, "RowSpan"),
        });
    }
    Ok(cells)
}

#[cfg(test)]
mod tests;
