//! CSV files for spreadsheets (RFC 4180).

/// Formats a row. Cells that a spreadsheet would read as formulas get an apostrophe, so that user input remains text.
pub fn row(cells: &[&str]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| quoted(cell)).collect();
    cells.join(",") + "\r\n"
}

fn quoted(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let mark = if is_formula { "'" } else { "" };
    format!("\"{mark}{}\"", cell.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_escaped() {
        assert_eq!(row(&["a", "", "b, \"c\"\r\nd"]), "\"a\",\"\",\"b, \"\"c\"\"\r\nd\"\r\n");
    }

    #[test]
    fn nothing_is_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"] {
            let row = row(&[formula]);
            assert!(row.starts_with("\"'"), "{row}");
        }
        assert_eq!(row(&["a=1"]), "\"a=1\"\r\n");
    }
}
