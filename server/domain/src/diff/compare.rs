//! How two texts are compared.

use std::{ops::Range, time::Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use super::{Block, Changes, Diff, Line, Segment, words};

/// Number of unchanged lines that are shown before and after a change.
const AROUND: usize = 3;
/// Maximum number of characters of a line that are shown.
const LONGEST_LINE: usize = 500;
/// Number of characters before the first change that are shown of a longer line.
const LEAD: usize = 80;
/// Maximum number of characters that are shown in all.
const MOST_CHARACTERS: usize = 200_000;

/// Compares two texts, and shows up to `most_lines` of their lines. After the deadline, everything that is not compared
/// yet counts as changed.
pub fn compare(older: &str, newer: &str, most_lines: usize, deadline: Instant) -> Diff {
    if older == newer {
        return Diff::Equal;
    }
    let (old, new): (Vec<_>, Vec<_>) = (older.lines().collect(), newer.lines().collect());
    let hunks = hunks(&old, &new, deadline);
    if hunks.is_empty() {
        return Diff::LineBreaks;
    }
    let mut shown = Shown {
        blocks: Vec::new(),
        lines_left: most_lines,
        characters_left: MOST_CHARACTERS,
        deadline,
    };
    let changed_lines = shown.add_all(&old, &new, &hunks);
    let removed = hunks.iter().map(|hunk| hunk.old.len()).sum::<usize>();
    let added = hunks.iter().map(|hunk| hunk.new.len()).sum::<usize>();
    Diff::Changes(Changes {
        removed,
        added,
        blocks: shown.blocks,
        hidden: removed + added - changed_lines,
    })
}

/// A part of the old text that is replaced by a part of the new one. One of them may be empty.
pub(super) struct Hunk {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Returns the differences between two lists, in order and with common items between them.
pub(super) fn hunks(old: &[&str], new: &[&str], deadline: Instant) -> Vec<Hunk> {
    let operations = capture_diff_slices_deadline(Algorithm::Patience, old, new, Some(deadline));
    let differences = operations
        .into_iter()
        .filter(|operation| operation.tag() != DiffTag::Equal);
    let hunks = differences.map(|operation| Hunk {
        old: operation.old_range(),
        new: operation.new_range(),
    });
    hunks.collect()
}

/// The blocks so far, and how much more may be shown.
struct Shown {
    blocks: Vec<Block>,
    lines_left: usize,
    characters_left: usize,
    /// Time after which changed words are no longer sought.
    deadline: Instant,
}

impl Shown {
    /// Adds the changes with the lines around them. Returns the number of removed and added lines that are shown.
    fn add_all(&mut self, old: &[&str], new: &[&str], hunks: &[Hunk]) -> usize {
        let mut changed_lines = 0;
        let mut end = (0, 0);
        for (index, hunk) in hunks.iter().enumerate() {
            let shown_after = if index == 0 { 0 } else { AROUND };
            self.add_same(new, end, hunk.new.start, (shown_after, AROUND));
            let (removed, added) = self.add_changed(old, new, hunk);
            changed_lines += removed + added;
            if (removed, added) != (hunk.old.len(), hunk.new.len()) {
                return changed_lines;
            }
            end = (hunk.old.end, hunk.new.end);
        }
        self.add_same(new, end, new.len(), (AROUND, 0));
        changed_lines
    }

    /// Adds unchanged lines, of which the first and last ones are shown. The first line has the index `older` in the old
    /// text and `newer` in the new one.
    fn add_same(&mut self, new: &[&str], (older, newer): (usize, usize), end: usize, (first, last): (usize, usize)) {
        let count = end - newer;
        if count == 0 {
            return;
        }
        // A single line takes no more space than its replacement.
        if count <= first + last + 1 {
            return self.add_shown(new, older, newer..end);
        }
        self.add_shown(new, older, newer..newer + first);
        self.blocks.push(Block::Folded(count - first - last));
        self.add_shown(new, older + count - last, end - last..end);
    }

    fn add_shown(&mut self, new: &[&str], older: usize, range: Range<usize>) {
        let newer = range.start + 1;
        let lines = new.get(range).unwrap_or_default();
        let lines: Vec<_> = lines.iter().map_while(|line| self.take(excerpt(line, 0))).collect();
        if !lines.is_empty() {
            let older = older + 1;
            self.blocks.push(Block::Same { older, newer, lines });
        }
    }

    /// Returns the numbers of removed and added lines that are shown.
    fn add_changed(&mut self, old: &[&str], new: &[&str], hunk: &Hunk) -> (usize, usize) {
        let mut removed = Vec::new();
        let mut added = Vec::new();
        // By turns, so that lines of both texts are shown if there are too many.
        for index in 0..hunk.old.len().max(hunk.new.len()) {
            let old_line = old.get(hunk.old.start + index).filter(|_| index < hunk.old.len());
            let new_line = new.get(hunk.new.start + index).filter(|_| index < hunk.new.len());
            let (old_line, new_line) = match (old_line, new_line) {
                (Some(old_line), Some(new_line)) => {
                    let (old_line, new_line) = replaced(old_line, new_line, self.deadline);
                    (Some(old_line), Some(new_line))
                }
                (old_line, new_line) => (
                    old_line.map(|line| excerpt(line, 0)),
                    new_line.map(|line| excerpt(line, 0)),
                ),
            };
            let (is_removed, is_added) = (old_line.is_some(), new_line.is_some());
            let old_line = old_line.and_then(|line| self.take(line));
            let new_line = new_line.and_then(|line| self.take(line));
            let is_full = is_removed && old_line.is_none() || is_added && new_line.is_none();
            removed.extend(old_line);
            added.extend(new_line);
            if is_full {
                break;
            }
        }
        let counts = (removed.len(), added.len());
        if counts != (0, 0) {
            self.blocks.push(Block::Changed {
                older: hunk.old.start + 1,
                removed,
                newer: hunk.new.start + 1,
                added,
            });
        }
        counts
    }

    /// Returns the line if it may still be shown.
    fn take(&mut self, line: Line) -> Option<Line> {
        let characters = line.segments.iter().map(|segment| segment.text.chars().count()).sum();
        let lines_left = self.lines_left.checked_sub(1);
        let left = lines_left.zip(self.characters_left.checked_sub(characters));
        // After a line that is left out, none is shown.
        (self.lines_left, self.characters_left) = left.unwrap_or_default();
        left.map(|_| line)
    }
}

/// Returns a line without changed words. If it is too long, it begins shortly before the character `from`.
fn excerpt(line: &str, from: usize) -> Line {
    let (before, text, after) = shortened(line, from);
    Line {
        before,
        segments: vec![Segment { text, changed: false }],
        after,
    }
}

/// Returns the part of a line that is shown, and the numbers of characters before and after it.
fn shortened(line: &str, from: usize) -> (usize, String, usize) {
    // Most lines are short. Bytes are counted faster than characters.
    let length = if line.len() <= LONGEST_LINE {
        0
    } else {
        line.chars().count()
    };
    if length <= LONGEST_LINE {
        return (0, line.to_owned(), 0);
    }
    let before = from.saturating_sub(LEAD).min(length - LONGEST_LINE);
    let text = line.chars().skip(before).take(LONGEST_LINE).collect();
    (before, text, length - LONGEST_LINE - before)
}

/// Returns a removed line and the one that replaces it, with the words that differ.
fn replaced(older: &str, newer: &str, deadline: Instant) -> (Line, Line) {
    let from = older
        .chars()
        .zip(newer.chars())
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (shortened(older, from), shortened(newer, from));
    let (old_segments, new_segments) = words::segments(&old.1, &new.1, deadline);
    let line = |(before, _, after), segments| Line {
        before,
        segments,
        after,
    };
    (line(old, old_segments), line(new, new_segments))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MOST: usize = 1000;

    fn compared(older: &str, newer: &str) -> Diff {
        compare(older, newer, MOST, Instant::now() + Duration::from_millis(500))
    }

    fn changes(older: &str, newer: &str) -> Changes {
        match compared(older, newer) {
            Diff::Changes(changes) => changes,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the lines as `diff -u` prints them; changed words are in brackets.
    fn printed(blocks: &[Block]) -> Vec<String> {
        let text = |line: &Line| {
            let segments = line.segments.iter().map(|segment| {
                if segment.changed {
                    format!("[{}]", segment.text)
                } else {
                    segment.text.clone()
                }
            });
            segments.collect::<String>()
        };
        let mut printed = Vec::new();
        for block in blocks {
            match block {
                Block::Same { older, newer, lines } => {
                    let numbered = lines.iter().enumerate();
                    printed.extend(
                        numbered.map(|(index, line)| format!("{} {}  {}", older + index, newer + index, text(line))),
                    );
                }
                Block::Folded(count) => printed.push(format!("… {count}")),
                Block::Changed {
                    older,
                    removed,
                    newer,
                    added,
                } => {
                    let removed = removed.iter().enumerate();
                    printed.extend(removed.map(|(index, line)| format!("{} -{}", older + index, text(line))));
                    let added = added.iter().enumerate();
                    printed.extend(added.map(|(index, line)| format!("{} +{}", newer + index, text(line))));
                }
            }
        }
        printed
    }

    #[test]
    fn texts_are_equal_or_differ_in_line_breaks() {
        assert_eq!(compared("a\nb", "a\nb"), Diff::Equal);
        assert_eq!(compared("", ""), Diff::Equal);
        assert_eq!(compared("a\r\nb", "a\nb\n"), Diff::LineBreaks);
        assert_ne!(compared("a\nb", "a\n\nb"), Diff::LineBreaks);
    }

    #[test]
    fn changes_are_shown_with_the_lines_around_them() {
        let older = "1\n2\n3\n4\n5\nsix of one\n7\n8\n9\n10\n11\n12\n13\n14\n15\nlast";
        let newer = "1\n2\n3\n4\n5\nsix of two\n7\n8\n9\n10\n11\n12\n13\n14\n15\nlast\nmore";
        let changes = changes(older, newer);
        let expected = [
            "… 2",
            "3 3  3",
            "4 4  4",
            "5 5  5",
            "6 -six of [one]",
            "6 +six of [two]",
            "7 7  7",
            "8 8  8",
            "9 9  9",
            "… 4",
            "14 14  14",
            "15 15  15",
            "16 16  last",
            "17 +more",
        ];
        assert_eq!(printed(&changes.blocks), expected);
        assert_eq!((changes.removed, changes.added, changes.hidden), (1, 2, 0));
    }

    #[test]
    fn one_line_is_not_folded() {
        let changes = changes(
            "0\n1\n2\n3\n4\na\n1\n2\n3\n4\n5\n6\n7\nb",
            "0\n1\n2\n3\n4\nA\n1\n2\n3\n4\n5\n6\n7\nB",
        );
        let printed = printed(&changes.blocks);
        assert_eq!(printed.first().map(String::as_str), Some("… 2"));
        assert_eq!(
            printed.iter().filter(|line| line.starts_with('…')).count(),
            1,
            "{printed:?}"
        );
    }

    #[test]
    fn a_text_comes_from_nothing_and_goes_to_nothing() {
        assert_eq!(printed(&changes("", "a\nb").blocks), ["1 +a", "2 +b"]);
        assert_eq!(printed(&changes("a", "").blocks), ["1 -a"]);
    }

    #[test]
    fn the_rest_of_too_many_lines_is_counted() {
        let text = |word: &str, count: usize| {
            (0..count)
                .map(|line| format!("{word}{line}\n"))
                .collect::<Vec<_>>()
                .concat()
        };
        let changes = changes(&text("a", 5000), &text("b", 6000));
        assert_eq!((changes.removed, changes.added, changes.hidden), (5000, 6000, 10_000));
        let [Block::Changed { removed, added, .. }] = changes.blocks.as_slice() else {
            panic!("{:?}", changes.blocks);
        };
        assert_eq!((removed.len(), added.len()), (500, 500));
    }

    #[test]
    fn long_lines_are_shortened_to_what_differs() {
        let filler = "x".repeat(1_000_000);
        let changes = changes(&format!("{filler}a{filler}"), &format!("{filler}b{filler}"));
        let [Block::Changed { removed, added, .. }] = changes.blocks.as_slice() else {
            panic!("{:?}", changes.blocks);
        };
        for (lines, word) in [(removed, 'a'), (added, 'b')] {
            let line = &lines[0];
            let text: String = line.segments.iter().map(|segment| segment.text.as_str()).collect();
            assert_eq!((line.before, line.after, text.chars().count()), (999_920, 999_581, 500));
            assert_eq!(text.chars().nth(80), Some(word));
        }
    }

    #[test]
    fn lines_of_many_bytes_are_cut_between_characters() {
        let line = excerpt(&"ä😀".repeat(400), 790);
        assert_eq!(
            (line.before, line.after, line.segments[0].text.chars().count()),
            (300, 0, 500)
        );
    }

    #[test]
    fn large_texts_take_bounded_time_and_space() {
        let random = |seed: u64, kinds: u64| {
            let mut state = seed;
            let mut text = String::new();
            while text.len() < 512 << 10 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(&((state >> 33) % kinds).to_string());
                text.push('\n');
            }
            text
        };
        for kinds in [2, 40, u64::MAX >> 33] {
            let (older, newer) = (random(1, kinds), random(2, kinds));
            let begun = Instant::now();
            let changes = changes(&older, &newer);
            assert!(
                begun.elapsed() < Duration::from_secs(5),
                "{kinds}: {:?}",
                begun.elapsed()
            );
            assert!(changes.blocks.len() <= 2 * MOST + 1);
        }
    }
}
