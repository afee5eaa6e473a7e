//! Adds the empty cells of tables. Chromium leaves out elements without content, so the cells after an empty one would
//! move to other columns (ISO 14289-1, 7.2). Where a cell was is known from the header cells that the others name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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
/// Rows of a table without short ones that are searched for cells below the header of another column.
const MAX_SEARCHED_ROWS: usize = 100;
/// Rows that begin with a cell below a header after which no more are searched, because the first column has one, as in most tables.
const MAX_ORDINARY_ROWS: usize = 8;

/// Completes the rows of each table, as far as the columns of their cells are known.
pub(super) fn add_empty_cells(document: &mut Document, tables: &[ObjectNumber]) -> Result<(), PdfError> {
    let mut left = MAX_ADDED;
    // Groups and rows, each of which is read once, no matter how many tables refer to it.
    let mut seen = BTreeSet::new();
    for number in tables {
        let rows = rows(document, *number, &mut seen)?;
        if rows.windows(2).all(|pair| pair[0].1 == pair[1].1) && !has_displaced_cells(document, &rows)? {
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

/// Returns whether a cell of a table is below the header of another column, because the corner of the table is empty, and each row has
/// another empty cell.
fn has_displaced_cells(document: &Document, rows: &[(ObjectNumber, usize)]) -> Result<bool, PdfError> {
    let mut rows = rows
        .iter()
        .take(MAX_SEARCHED_ROWS)
        .map(|(row, _)| Row::read(document, *row));
    let first = rows.next().transpose()?;
    let Some(headers) = first.and_then(|row| row.column_headers()) else {
        return Ok(false);
    };
    let columns = Columns::new(headers, None);
    let mut ordinary = 0;
    for row in rows {
        let row = row?;
        if row.has_displaced_cell(&columns) {
            return Ok(true);
        }
        ordinary += usize::from(row.cells.first().is_some_and(|first| columns.of(first).is_some()));
        if ordinary == MAX_ORDINARY_ROWS {
            break;
        }
    }
    Ok(false)
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

    /// Returns the columns of its cells by identifier, if all are headers of one column each.
    fn column_headers(&self) -> Option<BTreeMap<Vec<u8>, usize>> {
        let header = |(column, cell): (usize, &Cell)| {
            let identifier = cell.column_header.clone().filter(|_| cell.columns == 1);
            Some((identifier?, column))
        };
        self.cells.iter().enumerate().map(header).collect()
    }

    /// Returns whether more cells precede one than columns its header.
    fn has_displaced_cell(&self, columns: &Columns) -> bool {
        let mut before = 0_usize;
        self.cells.iter().any(|cell| {
            let is_displaced = columns.of(cell).is_some_and(|column| column < before);
            before = before.saturating_add(cell.columns);
            is_displaced
        })
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
struct Columns {
    /// Of column headers, by identifier.
    headers: BTreeMap<Vec<u8>, usize>,
    /// Whether each column has one of them.
    headed: Vec<bool>,
    /// Of row headers.
    row_header: Option<usize>,
}

impl Columns {
    fn new(headers: BTreeMap<Vec<u8>, usize>, row_header: Option<usize>) -> Self {
        let mut headed = vec![false; headers.values().max().map_or(0, |last| last + 1)];
        for column in headers.values() {
            headed[*column] = true;
        }
        Self {
            headers,
            headed,
            row_header,
        }
    }

    fn of(&self, cell: &Cell) -> Option<usize> {
        if cell.is_row_header {
            return self.row_header;
        }
        let named = cell.column_header.iter().chain(&cell.headers);
        named.into_iter().find_map(|header| self.headers.get(header).copied())
    }

    /// Stores how many cells are missing in these columns before each of the cells there, whose column is unknown, and after them. A
    /// cell below a column header names it, so these take the columns without one. Returns `None` if there are others.
    fn find_missing(&self, columns: Range<usize>, cells: &[Cell], missing: &mut [usize]) -> Option<()> {
        let have_header = |column: &usize| self.headed.get(*column).copied().unwrap_or_default();
        let mut free = columns.clone().filter(|column| !have_header(column));
        let mut next = columns.start;
        for (cell, missing) in cells.iter().zip(&mut *missing) {
            let first = free.next()?;
            let is_free = (first + 1..first + cell.columns).all(|column| free.next() == Some(column));
            *missing = is_free.then_some(first - next)?;
            next = first + cell.columns;
        }
        let is_ambiguous = !cells.is_empty() && free.next().is_some();
        *missing.last_mut()? = columns.end.checked_sub(next).filter(|_| !is_ambiguous)?;
        Some(())
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
    missing_of_columns(rows, width).or_else(|| missing_with_corner(rows, width))
}

/// Returns the missing cells of a table in which a row of this width is complete.
fn missing_of_columns(rows: &[Row], width: usize) -> Option<Vec<Vec<usize>>> {
    let cells = || rows.iter().flat_map(|row| &row.cells);
    let column_headers: BTreeSet<&Vec<u8>> = cells().filter_map(|cell| cell.column_header.as_ref()).collect();
    let (mut headers, mut row_header) = (BTreeMap::new(), None);
    for row in rows.iter().filter(|row| row.width() == width) {
        let mut column = 0;
        for cell in &row.cells {
            if cell.is_row_header {
                row_header.get_or_insert(column);
            } else if cell.columns == 1 {
                let named = cell.column_header.iter().chain(&cell.headers);
                for header in named.filter(|header| column_headers.contains(header)) {
                    headers.entry(header.clone()).or_insert(column);
                }
            }
            column += cell.columns;
        }
    }
    let columns = Columns::new(headers, row_header);
    rows.iter().map(|row| missing_in_row(row, width, &columns)).collect()
}

/// Returns the missing cells of a table whose first row, of column headers, lacks nothing but the cell in the corner. `width` is that of
/// the widest row. The corner is missing if a cell would be below another header otherwise; not if only a row, such as that of a total,
/// begins with a header of its own.
fn missing_with_corner(rows: &[Row], width: usize) -> Option<Vec<Vec<usize>>> {
    let columns = Columns::new(rows.first()?.column_headers()?, None);
    if !rows.iter().any(|row| row.has_displaced_cell(&columns)) {
        return None;
    }
    let width = width.max(columns.headers.len() + 1);
    let mut headers = columns.headers;
    for column in headers.values_mut() {
        *column += 1;
    }
    let columns = Columns::new(headers, Some(0));
    rows.iter().map(|row| missing_in_row(row, width, &columns)).collect()
}

fn missing_in_row(row: &Row, width: usize, columns: &Columns) -> Option<Vec<usize>> {
    let mut missing = vec![0; row.cells.len() + 1];
    // The next column, and the first cell from there, whose column may be unknown.
    let (mut next, mut first) = (0, 0);
    for (index, cell) in row.cells.iter().enumerate() {
        if let Some(column) = columns.of(cell) {
            columns.find_missing(next..column, &row.cells[first..index], &mut missing[first..=index])?;
            (next, first) = (column + cell.columns, index + 1);
        }
    }
    columns.find_missing(next..width, &row.cells[first..], &mut missing[first..])?;
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
            (["- A - B", "- a - b", "- - b"], ["- A - B", "- a - b", "- _ - b"]),
            (["A - - B", "a - - b", "a -2 b"], ["A - - B", "a - - b", "a -2 b"]),
            (["A - - B", "a - - b", "a - b"], ["A - - B", "a - - b", "a - b"]),
            (["A B -", "a b -", "b -"], ["A B -", "a b -", "_ b -"]),
            // The corner is empty, and no row is complete.
            (["A B", "r a", "r b"], ["_ A B", "r a _", "r _ b"]),
            (["A B", "r b", "r a"], ["_ A B", "r _ b", "r a _"]),
            (["A B", "- a", "- b"], ["_ A B", "- a _", "- _ b"]),
            (["A B", "r a", "r"], ["_ A B", "r a _", "r _ _"]),
            (["A B", "r a", "b"], ["_ A B", "r a _", "_ _ b"]),
            (["A B C", "r b c", "r a c"], ["_ A B C", "r _ b c", "r a _ c"]),
            (["A B", "r a", "r a2"], ["_ A B", "r a _", "r a2"]),
            // The first column has the header `A`.
            (["A B C", "a b c", "r c"], ["A B C", "a b c", "r c"]),
            (["A B", "r", "a b"], ["A B", "r", "a b"]),
            (["A B", "r b", "r b"], ["A B", "r b", "r b"]),
            (["A B", "b a", "b a"], ["A B", "b a", "b a"]),
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
