//! Black modules and bars as inline SVG.

use std::fmt::Write;

use minijinja::{Error, HtmlEscape};

use super::arguments::invalid;

/// A picture of modules, row by row; `true` is black.
pub(super) struct Picture<'a> {
    pub(super) modules: &'a [bool],
    /// Modules in a row.
    pub(super) columns: usize,
    /// White modules to the left and right of it.
    pub(super) quiet_columns: usize,
    /// White modules above and below it.
    pub(super) quiet_rows: usize,
    /// Whether rows are stretched to the height of the picture.
    pub(super) stretch: Stretch,
    /// Text alternative of the picture.
    pub(super) label: &'a str,
}

/// Whether modules stay square or fill the picture.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    Square,
    Fill,
}

impl Picture<'_> {
    /// Returns the picture as SVG. `width` and `height` are CSS lengths, see [`checked_length`].
    pub(super) fn to_svg(&self, width: &str, height: &str) -> String {
        let rows = self.modules.len().checked_div(self.columns).unwrap_or_default();
        let mut svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{}" width="{width}" height="{height}" viewBox="0 0 {} {}" shape-rendering="crispEdges""#,
            HtmlEscape(self.label),
            self.columns + 2 * self.quiet_columns,
            rows + 2 * self.quiet_rows,
        );
        if self.stretch == Stretch::Fill {
            svg.push_str(r#" preserveAspectRatio="none""#);
        }
        svg.push_str(r#"><path d=""#);
        for (row, modules) in self.modules.chunks(self.columns.max(1)).enumerate() {
            let mut column = 0;
            for run in modules.chunk_by(|left, right| left == right) {
                let length = run.len();
                if run.first() == Some(&true) {
                    let (x, y) = (column + self.quiet_columns, row + self.quiet_rows);
                    // Writing to a string cannot fail.
                    let _ = write!(svg, "M{x} {y}h{length}v1h-{length}z");
                }
                column += length;
            }
        }
        svg.push_str(r#""/></svg>"#);
        svg
    }
}

/// Returns the length if it is a CSS length such as `30mm`, with a number of at most 8 characters, and fails otherwise.
pub(super) fn checked_length(length: &str) -> Result<&str, Error> {
    let number = ["mm", "cm", "in", "pt", "px", "rem", "em", "%"]
        .iter()
        .find_map(|unit| length.strip_suffix(unit));
    let is_number = number.is_some_and(|number| {
        (1..=8).contains(&number.len())
            && number
                .chars()
                .all(|character| character.is_ascii_digit() || character == '.')
    });
    if is_number {
        Ok(length)
    } else {
        let shown: String = length.chars().take(40).collect();
        Err(invalid(format!("{shown:?} is not a length such as 30mm")))
    }
}
