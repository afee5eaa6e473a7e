//! Tables: every row has the same columns, and headers can be found for every cell (ISO 14289-1, 7.2 and 7.5).

use std::collections::BTreeSet;

use super::attributes::{Attributes, Scope};
use super::tree::Tree;
use crate::check::levels::LevelFindings;
use crate::check::rules;

/// Most places of a table that is checked. A table of 10,000 rows with 100 columns has a million.
const MAX_PLACES: usize = 16_000_000;
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
    let size = columns.checked_mul(rows.len()).filter(|size| *size <= MAX_PLACES);
    let mut places = vec![NONE; size.ok_or((&rules::ROW_TOO_LONG, None))?];
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
    let mut last = NONE;
    for (place, cell) in grid.places.iter().copied().enumerate() {
        let is_first = place < grid.columns || grid.places[place - grid.columns] != cell;
        if is_header(tree, cell) || cell == last || !is_first {
            continue;
        }
        last = cell;
        let attributes = tree.elements[cell as usize].attributes.as_deref();
        let named = attributes
            .map(|attributes| attributes.headers.as_slice())
            .unwrap_or_default();
        let is_unknown = named.iter().any(|header| !identifiers.contains(header.as_slice()));
        if is_unknown {
            tree.note(&rules::UNKNOWN_HEADER, cell, findings);
        } else if named.is_empty() && !has_header_by_scope(tree, grid, place, attributes) {
            tree.note(&rules::NO_HEADER, cell, findings);
        }
    }
}

fn scope(tree: &Tree, header: u32) -> Option<Scope> {
    tree.elements[header as usize].attributes.as_ref()?.scope
}

/// Returns whether a header cell above or to the left applies to the cell whose first place is given.
fn has_header_by_scope(tree: &Tree, grid: &Grid, place: usize, attributes: Option<&Attributes>) -> bool {
    let (row, column) = (place / grid.columns, place % grid.columns);
    let (row_span, column_span) = attributes.map_or((1, 1), |cell| (cell.row_span, cell.column_span));
    let scoped = |cells: &mut dyn Iterator<Item = usize>, wanted: Scope| {
        let mut has_header = false;
        for place in cells {
            let cell = grid.places[place];
            let scope = scope(tree, cell).filter(|_| is_header(tree, cell));
            if scope == Some(wanted) || scope == Some(Scope::Both) {
                return true;
            }
            // Headers beyond other cells apply to those.
            if has_header && !is_header(tree, cell) {
                return false;
            }
            has_header |= is_header(tree, cell);
        }
        false
    };
    let above = |column: usize| {
        scoped(
            &mut (0..row).rev().map(|row| row * grid.columns + column),
            Scope::Column,
        )
    };
    let left = |row: usize| {
        scoped(
            &mut (0..column).rev().map(|column| row * grid.columns + column),
            Scope::Row,
        )
    };
    (column..column + column_span).any(above) || (row..row + row_span).any(left)
}
