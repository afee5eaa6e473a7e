use super::*;

const EMPTY: &[u8] = include_bytes!("../../../tests/fixtures/empty.pdf");

fn element(document: &mut Document, kind: &'static str, kids: &[ObjectNumber]) -> ObjectNumber {
    let kids = kids.iter().copied().map(Object::Reference).collect();
    document.add(Object::Dictionary(Dictionary::new([
        ("S", Object::name(kind)),
        ("K", Object::Array(kids)),
    ])))
}

fn cell(document: &mut Document, [rows, columns]: [i64; 2]) -> ObjectNumber {
    let attributes = [("RowSpan", rows), ("ColSpan", columns)]
        .map(|(key, span)| Object::Dictionary(Dictionary::new([(key, Object::Integer(span))])));
    document.add(Object::Dictionary(Dictionary::new([
        ("S", Object::name("TD")),
        ("A", Object::Array(attributes.into())),
    ])))
}

fn repair(document: &mut Document, table: ObjectNumber, retained: &mut BTreeSet<ObjectNumber>) {
    let table = document.get_dictionary(table, "a table").expect("a table");
    let mut repairs = TableRepairs::default();
    repairs.note(document, &table, retained).expect("valid");
    repairs.write(document, retained).expect("valid");
}

/// Removes the rows that begin with `-`, and shows the others. Each row lists its cells by name, with the numbers of rows
/// and columns that they span. Added cells are shown as `_`.
fn selected(rows: &[&str]) -> Vec<String> {
    let mut document = Document::open(&[EMPTY]).expect("valid");
    let mut names = BTreeMap::new();
    let mut retained = BTreeSet::new();
    let mut numbers = Vec::new();
    for row in rows {
        let names_of_row = row.trim_start_matches('-').split_whitespace();
        let cells = names_of_row.map(|name| {
            let spans = name[1..].split_once('x').unwrap_or(("1", "1"));
            let cell = cell(
                &mut document,
                [spans.0, spans.1].map(|span| span.parse().expect("a number")),
            );
            names.insert(cell, &name[..1]);
            cell
        });
        let cells: Vec<ObjectNumber> = cells.collect();
        let row_number = element(&mut document, "TR", &cells);
        numbers.push(row_number);
        if !row.starts_with('-') {
            retained.insert(row_number);
        }
    }
    let table = element(&mut document, "Table", &numbers);
    repair(&mut document, table, &mut retained);
    numbers.retain(|row| retained.contains(row));
    let shown = numbers.iter().map(|row| {
        let cells = cells(&document, *row).expect("a row");
        let shown = cells.into_iter().map(|cell| {
            let name = names.get(&cell.number).copied().unwrap_or("_");
            match (cell.rows, cell.columns) {
                (1, 1) => name.to_owned(),
                (rows, columns) => format!("{name}{rows}x{columns}"),
            }
        });
        shown.collect::<Vec<_>>().join(" ")
    });
    shown.collect()
}

#[test]
fn cells_span_the_rows_that_are_left() {
    for (rows, expected) in [
        (vec!["a", "b"], vec!["a", "b"]),
        (vec!["a4x1 b", "c", "- d", "- e"], vec!["a2x1 b", "c"]),
        (vec!["a4x1 b", "- c", "d", "- e"], vec!["a2x1 b", "d"]),
        (vec!["a9x1 b", "- c"], vec!["a b"]),
        (vec!["- a3x1 b", "c", "d"], vec!["_2x1 c", "d"]),
        (vec!["- a b3x2 c", "d e", "f g"], vec!["d _2x2 e", "f g"]),
        (vec!["- a b3x1", "- c", "d"], vec!["d _"]),
        (vec!["- a4x1 b3x1 c", "- d", "e", "f g"], vec!["_2x1 _ e", "f g"]),
        (vec!["- a2x1 b", "c3x1", "- d", "e"], vec!["_ c2x1", "e"]),
        // Both rows of the spanning cell are removed, and a span that isn't positive.
        (vec!["- a2x1 b", "- c", "d e"], vec!["d e"]),
        (vec!["- a0x1 b", "d e"], vec!["d e"]),
    ] {
        assert_eq!(selected(&rows), expected, "{rows:?}");
    }
}

#[test]
fn a_head_or_a_foot_that_is_left_alone_becomes_the_body() {
    let mut document = Document::open(&[EMPTY]).expect("valid");
    for (kinds, retained_kinds, expected) in [
        (["THead", "TBody", "TFoot"], "TFoot", vec!["TBody"]),
        (["THead", "TBody", "TFoot"], "THead", vec!["TBody"]),
        (["THead", "TBody", "TFoot"], "THead TFoot", vec!["THead", "TBody"]),
        (["THead", "TBody", "TFoot"], "THead TBody", vec!["THead", "TBody"]),
        // Without a body before, it is the author's fault.
        (["THead", "Caption", "TFoot"], "TFoot", vec!["TFoot"]),
    ] {
        let groups = kinds.map(|kind| {
            let row = element(&mut document, "TR", &[]);
            element(&mut document, kind, &[row])
        });
        let table = element(&mut document, "Table", &groups);
        let is_retained = |(_, kind): &(ObjectNumber, &str)| retained_kinds.contains(kind);
        let retained: Vec<ObjectNumber> = groups
            .into_iter()
            .zip(kinds)
            .filter(is_retained)
            .map(|(group, _)| group)
            .collect();
        repair(&mut document, table, &mut retained.iter().copied().collect());
        let kinds = retained.iter().map(|group| {
            let group = document.get_dictionary(*group, "a group").expect("a group");
            String::from_utf8_lossy(kind_of(&group)).into_owned()
        });
        assert_eq!(kinds.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn repair_ends_at_its_limit_of_steps() {
    let mut document = Document::open(&[EMPTY]).expect("valid");
    let mut rows = Vec::new();
    let wide: Vec<ObjectNumber> = (0..5_000).map(|_| cell(&mut document, [i64::MAX, i64::MAX])).collect();
    rows.push(element(&mut document, "TR", &wide));
    for _ in 0..20_000 {
        let cell = cell(&mut document, [1_000_000, 1_000_000]);
        rows.push(element(&mut document, "TR", &[cell]));
    }
    let table = element(&mut document, "Table", &rows);
    let mut retained = rows.iter().copied().skip(1).step_by(2).collect();
    repair(&mut document, table, &mut retained);
    let rows_spanned = |row: ObjectNumber| cells(&document, row).expect("a row").last().map(|cell| cell.rows);
    assert_eq!(rows_spanned(rows[1]), Some(10_000));
    assert_eq!(
        rows_spanned(rows[19_999]),
        Some(1_000_000),
        "beyond the limit, cells stay unchanged"
    );
}
