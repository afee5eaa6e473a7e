//! Adds the empty cells of tables. Chromium leaves out elements without content, so the cells after an empty one would
//! move to other columns (ISO 14289-1, 7.2). Where a cell was is known from the header cells that the others name.

use std::collections::{BTreeMap, BTreeSet};

use crate::PdfError;
use crate::document::Document;
use crate::object::{Dictionary, Object, ObjectNumber};
use crate::parse::Entries;
use crate::structure_elements::{is_kind, span_of};

/// Most places of a table that is completed: this many, and more for each cell.
const MAX_PLACES: usize = 4_096;
const MAX_PLACES_PER_CELL: usize = 8;
/// Most cells that are added to a document.
const MAX_ADDED: usize = 20_000;

/// Completes the rows of each table, as far as the columns of their cells are known.
pub(super) fn add_empty_cells(document: &mut Document, tables: &[ObjectNumber]) -> Result<(), PdfError> {
    let mut left = MAX_ADDED;
    // Groups and rows, each of which is read once, no matter how many tables refer to it.
    let mut seen = BTreeSet::new();
    for number in tables {
        let rows = rows(document, *number, &mut seen)?;
        if rows.windows(2).all(|pair| pair[0].1 == pair[1].1) {
            continue;
        }
        let rows = rows.into_iter().map(|(row, _)| Row::read(document, row));
        let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
        let Some(missing) = missing_cells(&rows) else { continue };
        let Some(rest) = left.checked_sub(missing.iter().flatten().sum()) else {
            continue;
        };
        left = rest;
        for (row, missing) in rows.iter().zip(missing) {
            row.insert(document, &missing)?;
        }
    }
    Ok(())
}

/// Returns the rows of a table, each with the number of its cells.
fn rows(
    document: &Document,
    table: ObjectNumber,
    seen: &mut BTreeSet<ObjectNumber>,
) -> Result<Vec<(ObjectNumber, usize)>, PdfError> {
    let mut rows = Vec::new();
    let table = document.get_dictionary(table, "expected a structure element")?;
    for number in table.items("K").iter().filter_map(Object::as_reference) {
        if !seen.insert(number) {
            continue;
        }
        if let Some(count) = count_cells(document, number)? {
            rows.push((number, count));
            continue;
        }
        let kid = document.get_dictionary(number, "expected a structure element")?;
        if is_kind(&kid, &["THead", "TBody", "TFoot"]) {
            let numbers = kid.items("K").iter().filter_map(Object::as_reference);
            for number in numbers.filter(|number| seen.insert(*number)) {
                if let Some(count) = count_cells(document, number)? {
                    rows.push((number, count));
                }
            }
        }
    }
    Ok(rows)
}

/// Returns the number of cells of a row; `None` for another element.
fn count_cells(document: &Document, number: ObjectNumber) -> Result<Option<usize>, PdfError> {
    let original = document.original_bytes(number).and_then(|_| document.lexer(number));
    let Some(mut entries) = original.map(Entries::begin).transpose()?.flatten() else {
        let row = document.get_dictionary(number, "expected a structure element")?;
        return Ok(is_kind(&row, &["TR"]).then(|| row.items("K").len()));
    };
    // There may be many thousand rows, so they are not built.
    let (mut is_row, mut count) = (false, 0);
    while let Some(key) = entries.next_key()? {
        match key.as_ref() {
            b"S" => is_row = entries.value()?.is_name("TR"),
            b"K" => entries.items(|_| count += 1)?,
            _ => entries.skip()?,
        }
    }
    Ok(is_row.then_some(count))
}

struct Row {
    number: ObjectNumber,
    cells: Vec<Cell>,
    /// Whether it consists of nothing but cells.
    has_only_cells: bool,
}

struct Cell {
    columns: usize,
    rows: usize,
    /// Its own identifier, if it is the header of a column.
    column_header: Option<Vec<u8>>,
    is_row_header: bool,
    /// Identifiers of the header cells that it names.
    headers: Vec<Vec<u8>>,
}

impl Row {
    fn read(document: &Document, number: ObjectNumber) -> Result<Self, PdfError> {
        let row = document.get_dictionary(number, "expected a structure element")?;
        let mut cells = Vec::new();
        let mut has_only_cells = true;
        for kid in row.items("K") {
            let Some(kid) = kid.as_reference() else {
                has_only_cells = false;
                continue;
            };
            let cell = document.get_dictionary(kid, "expected a structure element")?;
            has_only_cells &= is_kind(&cell, &["TH", "TD"]);
            cells.push(Cell::of(&cell));
        }
        Ok(Self {
            number,
            cells,
            has_only_cells,
        })
    }

    /// Returns the number of columns that its cells span.
    fn width(&self) -> usize {
        self.cells
            .iter()
            .map(|cell| cell.columns)
            .fold(0, usize::saturating_add)
    }

    /// Inserts empty cells: before the cell of each index as many as `missing` says, and at the end.
    fn insert(&self, document: &mut Document, missing: &[usize]) -> Result<(), PdfError> {
        if missing.iter().all(|count| *count == 0) {
            return Ok(());
        }
        let mut row = document.get_dictionary(self.number, "expected a structure element")?;
        let mut kids = Vec::new();
        let former = row.items("K").iter().map(Some).chain([None]);
        for (kid, count) in former.zip(missing) {
            for _ in 0..*count {
                let cell = Dictionary::new([
                    ("Type", Object::name("StructElem")),
                    ("S", Object::name("TD")),
                    ("P", Object::Reference(self.number)),
                ]);
                kids.push(Object::Reference(document.add(Object::Dictionary(cell))));
            }
            kids.extend(kid.cloned());
        }
        row.set("K", Object::Array(kids));
        document.set(self.number, Object::Dictionary(row));
        Ok(())
    }
}

impl Cell {
    fn of(element: &Dictionary) -> Self {
        let attributes: Vec<&Dictionary> = element.items("A").iter().filter_map(Object::as_dictionary).collect();
        let attribute = |key| attributes.iter().find_map(|attributes| attributes.get(key));
        let is_header = is_kind(element, &["TH"]);
        let has_scope = |scope| is_header && attribute("Scope").is_some_and(|found| found.is_name(scope));
        let strings = |items: &[Object]| -> Vec<Vec<u8>> {
            let strings = items.iter().filter_map(Object::as_string);
            strings.map(<[u8]>::to_vec).collect()
        };
        Self {
            columns: span_of(element, "ColSpan"),
            rows: span_of(element, "RowSpan"),
            column_header: Some(strings(element.items("ID")))
                .filter(|_| has_scope("Column"))
                .and_then(|mut identifiers| identifiers.pop()),
            is_row_header: has_scope("Row"),
            headers: strings(attribute("Headers").and_then(Object::as_array).unwrap_or_default()),
        }
    }
}

/// Columns of cells.
#[derive(Default)]
struct Columns {
    /// Of column headers, by identifier.
    headers: BTreeMap<Vec<u8>, usize>,
    /// Of row headers.
    row_header: Option<usize>,
}

impl Columns {
    fn of(&self, cell: &Cell) -> Option<usize> {
        if cell.is_row_header {
            return self.row_header;
        }
        let named = cell.column_header.iter().chain(&cell.headers);
        named.into_iter().find_map(|header| self.headers.get(header).copied())
    }

    /// Returns the number of cells missing in the columns from `next` up to `end`, if they are not all taken by the cells
    /// whose column is unknown. A cell below a column header names it, so the column of such cells has none.
    fn missing_in_gap(&self, next: usize, end: usize, unknown: usize) -> Option<usize> {
        let columns = end.checked_sub(next)?;
        if unknown == 0 {
            return Some(columns);
        }
        let have_header = self.headers.values().any(|column| (next..end).contains(column));
        (columns == unknown && !have_header).then_some(0)
    }
}

/// Returns for each row the number of cells that are missing before each of its cells, and at its end. Returns `None`
/// if that isn't known for some row.
fn missing_cells(rows: &[Row]) -> Option<Vec<Vec<usize>>> {
    let cells = || rows.iter().flat_map(|row| &row.cells);
    let width = rows.iter().map(Row::width).max()?;
    let is_small = width.checked_mul(rows.len())? <= MAX_PLACES + MAX_PLACES_PER_CELL * cells().count();
    // A cell that spans rows takes places of others, which may be missing ones.
    let is_regular = rows.iter().all(|row| row.has_only_cells) && cells().all(|cell| cell.rows == 1);
    if !is_small || !is_regular {
        return None;
    }
    let column_headers: BTreeSet<&Vec<u8>> = cells().filter_map(|cell| cell.column_header.as_ref()).collect();
    let mut columns = Columns::default();
    for row in rows.iter().filter(|row| row.width() == width) {
        let mut column = 0;
        for cell in &row.cells {
            if cell.is_row_header {
                columns.row_header.get_or_insert(column);
            } else if cell.columns == 1 {
                let named = cell.column_header.iter().chain(&cell.headers);
                for header in named.filter(|header| column_headers.contains(header)) {
                    columns.headers.entry(header.clone()).or_insert(column);
                }
            }
            column += cell.columns;
        }
    }
    rows.iter().map(|row| missing_in_row(row, width, &columns)).collect()
}

fn missing_in_row(row: &Row, width: usize, columns: &Columns) -> Option<Vec<usize>> {
    let mut missing = vec![0; row.cells.len() + 1];
    // The next column, and the cells from there whose column is unknown.
    let (mut next, mut first_unknown, mut unknown) = (0_usize, 0, 0_usize);
    for (index, cell) in row.cells.iter().enumerate() {
        if let Some(column) = columns.of(cell) {
            missing[first_unknown] = columns.missing_in_gap(next, column, unknown)?;
            next = column + cell.columns;
            (first_unknown, unknown) = (index + 1, 0);
        } else {
            unknown += cell.columns;
        }
    }
    missing[first_unknown] = columns.missing_in_gap(next, width, unknown)?;
    Some(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &[u8] = include_bytes!("../../tests/fixtures/empty.pdf");

    /// Completes a table. Each row lists its cells: `A` is the header of a column, `r` that of a row, `a` a cell that
    /// names the header `A`, `-` a cell without a header; a digit after it is the number of columns. Shows added cells
    /// as `_`.
    fn completed(rows: &[&str]) -> Vec<String> {
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let mut names = BTreeMap::new();
        let rows = rows.iter().map(|row| {
            let number = document.add(Object::Null);
            let cells = row.split(' ').map(|name| {
                let cell = document.add(Object::Dictionary(cell(name)));
                names.insert(cell, name);
                Object::Reference(cell)
            });
            let row = Dictionary::new([("S", Object::name("TR")), ("K", cells.collect())]);
            document.set(number, Object::Dictionary(row));
            number
        });
        let rows: Vec<ObjectNumber> = rows.collect();
        let body = Dictionary::new([
            ("S", Object::name("TBody")),
            ("K", rows[1..].iter().copied().map(Object::Reference).collect()),
        ]);
        let body = document.add(Object::Dictionary(body));
        let table = Dictionary::new([
            ("S", Object::name("Table")),
            ("K", [rows[0], body].map(Object::Reference).into_iter().collect()),
        ]);
        let table = document.add(Object::Dictionary(table));
        add_empty_cells(&mut document, &[table]).expect("valid");
        let shown = rows.iter().map(|number| {
            let row = document.get_dictionary(*number, "a row").expect("a row");
            let cells = row.items("K").iter().filter_map(Object::as_reference);
            let shown: Vec<&str> = cells.map(|cell| names.get(&cell).copied().unwrap_or("_")).collect();
            shown.join(" ")
        });
        shown.collect()
    }

    fn cell(name: &str) -> Dictionary<'static> {
        let (name, span) = name.split_at(1);
        let string = |text: String| Object::String(text.into_bytes().into());
        let is_header = name.to_uppercase() == name && name != "-" || name == "r";
        let mut attributes = vec![("ColSpan", Object::Integer(span.parse().unwrap_or(1)))];
        let mut cell = Dictionary::new([("S", Object::name(if is_header { "TH" } else { "TD" }))]);
        if is_header {
            attributes.push(("Scope", Object::name(if name == "r" { "Row" } else { "Column" })));
            cell.set("ID", string(name.to_owned()));
        } else if name != "-" {
            attributes.push(("Headers", [string(name.to_uppercase())].into_iter().collect()));
        }
        let attributes = attributes
            .into_iter()
            .map(|entry| Object::Dictionary(Dictionary::new([entry])));
        cell.set("A", attributes.collect());
        cell
    }

    #[test]
    fn empty_cells_are_added_where_their_columns_are_known() {
        for (rows, expected) in [
            (["A B C", "a b c", "b c"], ["A B C", "a b c", "_ b c"]),
            (["A B C", "a c", "b"], ["A B C", "a _ c", "_ b _"]),
            (["A B", "r a b", "r b"], ["_ A B", "r a b", "r _ b"]),
            (["A B C", "a2 c", "a c"], ["A B C", "a2 c", "a _ c"]),
            (["A B C", "a b c", "a2"], ["A B C", "a b c", "a2 _"]),
            (["A B C", "a - c", "- c"], ["A B C", "a - c", "- c"]),
            (["A B C", "- - -", "- -"], ["A B C", "- - -", "- -"]),
            (["A B C", "a b c", "c a"], ["A B C", "a b c", "c a"]),
            (["A B C -", "a b c -", "- b -"], ["A B C -", "a b c -", "- b -"]),
            (["A B -", "a b -", "b -"], ["A B -", "a b -", "_ b -"]),
        ] {
            assert_eq!(completed(&rows), expected, "{rows:?}");
        }
    }

    #[test]
    fn added_cells_are_bounded() {
        let wide = vec!["-"; 2_000].join(" ");
        let rows: Vec<&str> = std::iter::once(wide.as_str()).chain(vec!["-"; 2_000]).collect();
        assert_eq!(completed(&rows), rows);
    }

    #[test]
    fn added_cells_of_all_tables_are_bounded() {
        let mut document = Document::open(&[EMPTY]).expect("valid");
        let mut element = |kind, kids: Vec<ObjectNumber>, span: i64, name: &str| {
            let kids = kids.into_iter().map(Object::Reference).collect();
            let mut element = Dictionary::new([("S", Object::name(kind)), ("K", kids)]);
            if !name.is_empty() {
                let string = |text: &str| Object::String(text.as_bytes().to_vec().into());
                let attribute = if kind == "TH" {
                    element.set("ID", string(name));
                    ("Scope", Object::name("Column"))
                } else {
                    ("Headers", [string(name)].into_iter().collect())
                };
                let attributes = Dictionary::new([attribute, ("ColSpan", Object::Integer(span))]);
                element.set("A", Object::Dictionary(attributes));
            }
            document.add(Object::Dictionary(element))
        };
        let tables: Vec<ObjectNumber> = (0..200)
            .map(|_| {
                let headers = vec![element("TH", vec![], 1, "A"), element("TH", vec![], 1_000, "B")];
                let short = element("TD", vec![], 1, "A");
                let rows = vec![element("TR", headers, 1, ""), element("TR", vec![short], 1, "")];
                element("Table", rows, 1, "")
            })
            .collect();
        let before = document.add(Object::Null);
        add_empty_cells(&mut document, &tables).expect("valid");
        let added = document.add(Object::Null) - before - 1;
        assert_eq!(added, 20_000);
    }
}
