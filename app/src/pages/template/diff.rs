//! Line-by-line comparison of two texts.

use std::ops::Range;

/// Number of unchanged lines that are shown before and after a change.
const AROUND: usize = 3;
/// Maximum number of cells of the comparison table. Texts that need more are compared from both ends only.
const LARGEST_TABLE: usize = 4_000_000;

/// A line of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// In both texts, with its number in the newer one.
    Same(usize, &'a str),
    /// Only in the older text, with its number there.
    Removed(usize, &'a str),
    /// Only in the newer text, with its number there.
    Added(usize, &'a str),
    /// Number of omitted lines that are in both texts.
    Skipped(usize),
}

/// Compares two texts. Returns no lines if they are equal.
pub(super) fn compare<'a>(older: &'a str, newer: &'a str) -> Vec<Line<'a>> {
    if older == newer {
        return Vec::new();
    }
    let (old, new): (Vec<_>, Vec<_>) = (older.lines().collect(), newer.lines().collect());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let shorter = old.len().min(new.len()) - before;
    let pairs = old.iter().rev().zip(new.iter().rev()).take(shorter);
    let after = pairs.take_while(|(old, new)| old == new).count();

    let mut lines: Vec<Line> = same(&new, 0..before).collect();
    let (old_middle, new_middle) = (before..old.len() - after, before..new.len() - after);
    middle(&old, old_middle, &new, new_middle.clone(), &mut lines);
    lines.extend(same(&new, new_middle.end..new.len()));
    shortened(&lines)
}

fn same<'a>(new: &[&'a str], range: Range<usize>) -> impl Iterator<Item = Line<'a>> {
    let from = range.start;
    let lines = new.get(range).unwrap_or_default().to_vec();
    lines
        .into_iter()
        .enumerate()
        .map(move |(index, line)| Line::Same(from + index + 1, line))
}

/// Appends the comparison of the remaining lines, by their longest common subsequence, computed in a table.
fn middle<'a>(old: &[&'a str], olds: Range<usize>, new: &[&'a str], news: Range<usize>, lines: &mut Vec<Line<'a>>) {
    let (rows, columns) = (olds.len(), news.len());
    let (old_at, new_at) = (
        |row: usize| old.get(olds.start + row).copied().unwrap_or_default(),
        |column: usize| new.get(news.start + column).copied().unwrap_or_default(),
    );
    let removed = |row: usize| Line::Removed(olds.start + row + 1, old_at(row));
    let added = |column: usize| Line::Added(news.start + column + 1, new_at(column));
    if rows.saturating_mul(columns) > LARGEST_TABLE {
        lines.extend((0..rows).map(removed));
        lines.extend((0..columns).map(added));
        return;
    }
    // Lengths of the longest common subsequences from a row and a column on.
    let width = columns + 1;
    let mut common = vec![0_u32; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            common[row * width + column] = if old_at(row) == new_at(column) {
                common[(row + 1) * width + column + 1] + 1
            } else {
                common[(row + 1) * width + column].max(common[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < rows || column < columns {
        if row < rows && column < columns && old_at(row) == new_at(column) {
            lines.push(Line::Same(news.start + column + 1, new_at(column)));
            row += 1;
            column += 1;
        } else if column == columns
            || (row < rows && common[(row + 1) * width + column] >= common[row * width + column + 1])
        {
            lines.push(removed(row));
            row += 1;
        } else {
            lines.push(added(column));
            column += 1;
        }
    }
}

/// Replaces unchanged lines that are not near a change by [`Line::Skipped`].
fn shortened<'a>(lines: &[Line<'a>]) -> Vec<Line<'a>> {
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Same(..)))
        .map(|(index, _)| index)
        .collect();
    let mut shown = Vec::new();
    let mut skipped = 0;
    let mut nearest = changed.iter().peekable();
    let mut last: Option<usize> = None;
    for (index, line) in lines.iter().enumerate() {
        while nearest.peek().is_some_and(|change| **change < index) {
            last = nearest.next().copied();
        }
        let follows = last.is_some_and(|change| index - change <= AROUND);
        let leads = nearest.peek().is_some_and(|change| **change - index <= AROUND);
        if follows || leads {
            if skipped > 0 {
                shown.push(Line::Skipped(skipped));
                skipped = 0;
            }
            shown.push(*line);
        } else {
            skipped += 1;
        }
    }
    if skipped > 0 {
        shown.push(Line::Skipped(skipped));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_nothing() {
        assert_eq!(compare("a\nb", "a\nb"), []);
    }

    #[test]
    fn what_differs_is_shown_with_what_is_around_it() {
        let older = "1\n2\n3\n4\n5\n6\n7\n8\n9";
        let newer = "1\n2\n3\n4\n5\nsix\n7\n8\n9\n10";
        let expected = [
            Line::Skipped(2),
            Line::Same(3, "3"),
            Line::Same(4, "4"),
            Line::Same(5, "5"),
            Line::Removed(6, "6"),
            Line::Added(6, "six"),
            Line::Same(7, "7"),
            Line::Same(8, "8"),
            Line::Same(9, "9"),
            Line::Added(10, "10"),
        ];
        assert_eq!(compare(older, newer), expected);
    }

    #[test]
    fn lines_that_moved_are_found_again() {
        let expected = [
            Line::Removed(1, "a"),
            Line::Same(1, "b"),
            Line::Same(2, "c"),
            Line::Added(3, "a"),
        ];
        assert_eq!(compare("a\nb\nc", "b\nc\na"), expected);
    }

    #[test]
    fn texts_beyond_the_table_are_compared_from_their_ends() {
        let lines = |word: &str| {
            (0..3000)
                .map(|line| format!("{word} {line}"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let (older, newer) = (format!("same\n{}", lines("a")), format!("same\n{}", lines("b")));
        let compared = compare(&older, &newer);
        assert_eq!(compared.len(), 6001);
        assert_eq!(compared.first(), Some(&Line::Same(1, "same")));
    }
}
