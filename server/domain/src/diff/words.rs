//! The words in which a line differs from the one that it replaces.

use std::{ops::Range, time::Instant};

use super::{Segment, compare::hunks};

/// Returns the segments of a removed line and of the one that replaces it. If they have little in common, none is marked
/// as changed, because the whole line is.
pub(super) fn segments(older: &str, newer: &str, deadline: Instant) -> (Vec<Segment>, Vec<Segment>) {
    let (old, new) = (words(older), words(newer));
    let hunks = hunks(&old, &new, deadline);
    let visible = |words: &[&str]| words.iter().map(|word| word.trim().len()).sum::<usize>();
    let (old_length, new_length) = (visible(&old), visible(&new));
    let removed: usize = hunks.iter().map(|hunk| visible(&old[hunk.old.clone()])).sum();
    let common = old_length - removed;
    // A line that was only added to has all of the shorter one.
    if common == 0 || common < old_length.min(new_length) / 2 {
        return (whole(older), whole(newer));
    }
    let of_old = hunks.iter().map(|hunk| hunk.old.clone());
    let of_new = hunks.iter().map(|hunk| hunk.new.clone());
    (marked(&old, of_old), marked(&new, of_new))
}

fn whole(line: &str) -> Vec<Segment> {
    vec![Segment {
        text: line.to_owned(),
        changed: false,
    }]
}

/// Splits a line into words, spaces, and other characters.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_of_word(first) => rest.find(|character| !is_of_word(character)),
            _ if first.is_whitespace() => rest.find(|character: char| !character.is_whitespace()),
            _ => Some(first.len_utf8()),
        };
        let (word, after) = rest.split_at(length.unwrap_or(rest.len()));
        words.push(word);
        rest = after;
    }
    words
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Joins the words of a line to segments.
fn marked(words: &[&str], changed: impl Iterator<Item = Range<usize>>) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut add = |range: Range<usize>, changed| {
        let text = words[range].concat();
        if !text.is_empty() {
            segments.push(Segment { text, changed });
        }
    };
    let mut end = 0;
    for range in changed {
        add(end..range.start, false);
        end = range.end;
        add(range, true);
    }
    add(end..words.len(), false);
    segments
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn marked_up(segments: &[Segment]) -> String {
        let segments = segments.iter().map(|segment| {
            if segment.changed {
                format!("[{}]", segment.text)
            } else {
                segment.text.clone()
            }
        });
        segments.collect()
    }

    fn assert_segments(older: &str, newer: &str, expected: (&str, &str)) {
        let (old, new) = segments(older, newer, Instant::now() + Duration::from_secs(5));
        assert_eq!((marked_up(&old).as_str(), marked_up(&new).as_str()), expected);
    }

    #[test]
    fn changed_words_are_marked() {
        assert_segments(
            "<h1>Invoice {{ number }}</h1>",
            "<h1>Credit note {{ number }}</h1>",
            ("<h1>[Invoice] {{ number }}</h1>", "<h1>[Credit note] {{ number }}</h1>"),
        );
        assert_segments("a = 1;", "  a = 1;", ("a = 1;", "[  ]a = 1;"));
        let longer = format!("<p>A {}letter", "long ".repeat(40));
        let marked = format!("<p>A [{}]letter", "long ".repeat(40));
        assert_segments("<p>A letter", &longer, ("<p>A letter", &marked));
        assert_segments("größer als", "größer  als", ("größer[ ]als", "größer[  ]als"));
    }

    #[test]
    fn lines_with_little_in_common_are_not_marked() {
        assert_segments(
            "<h1>Invoice</h1>",
            "{% for line in lines %}",
            ("<h1>Invoice</h1>", "{% for line in lines %}"),
        );
        assert_segments("", "text", ("", "text"));
    }
}
