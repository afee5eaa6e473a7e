//! Tables: every row has the same columns, and headers can be found for every cell (ISO 14289-1, 7.2 and 7.5).

use std::collections::BTreeSet;

use super::attributes::Scope;
use super::tree::Tree;
use crate::check::levels::LevelFindings;
use crate::check::rules;

/// Most places of a table that is checked: this many, and more for each row and cell. Far above what authors write; it
/// bounds the work for cells that span many empty rows and columns.
const MAX_PLACES: usize = 4_096;
const MAX_PLACES_PER_ELEMENT: usize = 64;
/// No cell.
const NONE: u32 = u32::MAX;

/// A table as rows and columns, with the index of the cell at each place.
struct Grid {
    columns: usize,
    places: Vec<u32>,
}

/// Checks the table at an index of the tree.
pub(super) fn check_table(tree: &Tree, table: u32, findings: &mut LevelFindings) {
    let rows: Vec<Vec<u32>> = rows(tree, table).into_iter().map(|row| cells(tree, row)).collect();
    match lay_out(tree, &rows) {
        Ok(Some(grid)) => check_headers(tree, &grid, findings),
        Ok(None) => {}
        Err((rule, cell)) => tree.note(rule, cell.unwrap_or(table), findings),
    }
}

fn rows(tree: &Tree, table: u32) -> Vec<u32> {
    let mut rows = Vec::new();
    for kid in tree.kids(table) {
        match tree.elements[kid as usize].kind {
            Some("TR") => rows.push(kid),
            Some("THead" | "TBody" | "TFoot") => {
                let kids = tree.kids(kid);
                rows.extend(
                    kids.into_iter()
                        .filter(|kid| tree.elements[*kid as usize].kind == Some("TR")),
                );
            }
            _ => {}
        }
    }
    rows
}

fn cells(tree: &Tree, row: u32) -> Vec<u32> {
    let mut cells = tree.kids(row);
    cells.retain(|cell| is_header(tree, *cell) || tree.elements[*cell as usize].kind == Some("TD"));
    cells
}

fn is_header(tree: &Tree, cell: u32) -> bool {
    tree.elements[cell as usize].kind == Some("TH")
}

/// Places each cell in the next free columns of its row. Returns `None` for a table without cells, and the violated
/// rule, with the cell if there is one, for an irregular table.
fn lay_out(tree: &Tree, rows: &[Vec<u32>]) -> Result<Option<Grid>, (&'static rules::Rule, Option<u32>)> {
    let spans = |cell: u32| {
        let attributes = tree.elements[cell as usize].attributes.as_deref();
        attributes.map_or((1, 1), |attributes| (attributes.row_span, attributes.column_span))
    };
    let columns = rows.first().map_or(0, |row| {
        row.iter()
            .fold(0_usize, |columns, cell| columns.saturating_add(spans(*cell).1))
    });
    if rows.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let elements = rows.len() + rows.iter().map(Vec::len).sum::<usize>();
    let limit = MAX_PLACES + MAX_PLACES_PER_ELEMENT * elements;
    let size = columns.checked_mul(rows.len()).filter(|size| *size <= limit);
    let mut places = vec![NONE; size.ok_or((&rules::TABLE_TOO_LARGE, None))?];
    for (row, cells) in rows.iter().enumerate() {
        let mut column = 0;
        for cell in cells {
            let (row_span, column_span) = spans(*cell);
            while column < columns && places[row * columns + column] != NONE {
                column += 1;
            }
            if column_span > columns - column {
                return Err((&rules::ROW_TOO_LONG, Some(*cell)));
            }
            if row_span > rows.len() - row {
                return Err((&rules::ROW_SPAN_TOO_LONG, Some(*cell)));
            }
            for row in row..row + row_span {
                for place in &mut places[row * columns + column..][..column_span] {
                    if *place != NONE {
                        return Err((&rules::CELLS_OVERLAP, Some(*cell)));
                    }
                    *place = *cell;
                }
            }
            column += column_span;
        }
    }
    let short = places.iter().position(|place| *place == NONE);
    match short.and_then(|place| rows.get(place / columns)) {
        Some(row) => Err((&rules::ROW_TOO_SHORT, row.first().copied())),
        None => Ok(Some(Grid { columns, places })),
    }
}

/// Checks that each cell has headers, by their identifiers or their scopes, unless every header cell has a scope.
fn check_headers(tree: &Tree, grid: &Grid, findings: &mut LevelFindings) {
    let headers = || grid.places.iter().copied().filter(|cell| is_header(tree, *cell));
    if headers().all(|header| scope(tree, header).is_some()) {
        return;
    }
    let identifiers: BTreeSet<&[u8]> = headers()
        .filter_map(|header| tree.elements[header as usize].identifier.as_deref())
        .collect();
    let with_header = cells_with_header(tree, grid);
    let cells: BTreeSet<u32> = grid
        .places
        .iter()
        .copied()
        .filter(|cell| !is_header(tree, *cell))
        .collect();
    for cell in cells {
        let attributes = tree.elements[cell as usize].attributes.as_deref();
        let named = attributes
            .map(|attributes| attributes.headers.as_slice())
            .unwrap_or_default();
        if named.iter().any(|header| !identifiers.contains(header.as_slice())) {
            tree.note(&rules::UNKNOWN_HEADER, cell, findings);
        } else if named.is_empty() && !with_header.contains(&cell) {
            tree.note(&rules::NO_HEADER, cell, findings);
        }
    }
}

fn scope(tree: &Tree, header: u32) -> Option<Scope> {
    tree.elements[header as usize].attributes.as_ref()?.scope
}

/// Returns the cells to which a header cell above or to the left applies by its scope.
fn cells_with_header(tree: &Tree, grid: &Grid) -> BTreeSet<u32> {
    let mut with_header = BTreeSet::new();
    let mut above = vec![Headers::default(); grid.columns];
    for row in grid.places.chunks_exact(grid.columns) {
        let mut left = Headers::default();
        for (cell, above) in row.iter().zip(&mut above) {
            let (is_header, scope) = (is_header(tree, *cell), scope(tree, *cell));
            let has_header = [
                above.pass(is_header, scope, Scope::Column),
                left.pass(is_header, scope, Scope::Row),
            ];
            if has_header.contains(&true) {
                with_header.insert(*cell);
            }
        }
    }
    with_header
}

/// The last header cells in a row or column, as far as they are next to each other.
#[derive(Clone, Copy, Default)]
struct Headers {
    /// Whether one of them has the wanted scope.
    apply: bool,
    is_last_a_header: bool,
}

impl Headers {
    /// Moves on to the next cell, and returns whether headers before it apply to it.
    fn pass(&mut self, is_header: bool, scope: Option<Scope>, wanted: Scope) -> bool {
        let applied = self.apply;
        if is_header {
            let is_wanted = scope == Some(wanted) || scope == Some(Scope::Both);
            self.apply = is_wanted || self.is_last_a_header && self.apply;
        }
        self.is_last_a_header = is_header;
        applied
    }
}
