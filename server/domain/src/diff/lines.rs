//! The lines, or words, that two texts have in common.

use std::{collections::HashMap, hash::Hash, ops::Range};

/// Maximum number of differences between two lines in common for which the shortest comparison is sought. It bounds time
/// and memory, which grow with its square. Beyond it, everything between them counts as changed.
const MOST_DIFFERENCES: usize = 500;

/// A part of the old text that is replaced by a part of the new one. One of them may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Returns the differences between two lists, in order and with common items between them. First, items that occur once
/// in both lists are matched ("patience diff"), which is fast in large texts and finds what readers consider the same; then
/// the rest between them, by Myers' algorithm.
pub(super) fn hunks<T: Copy + Eq + Hash>(old: &[T], new: &[T]) -> Vec<Hunk> {
    let mut hunks = Hunks(Vec::new());
    let before = common_prefix(old, new);
    let after = common_suffix(&old[before..], &new[before..]);
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let anchors = anchors(&old[before..old_end], &new[before..new_end]);
    let (mut old_from, mut new_from) = (before, before);
    for (old_anchor, new_anchor) in anchors.into_iter().map(|(old, new)| (before + old, before + new)) {
        hunks.add_between(old, old_from..old_anchor, new, new_from..new_anchor);
        (old_from, new_from) = (old_anchor + 1, new_anchor + 1);
    }
    hunks.add_between(old, old_from..old_end, new, new_from..new_end);
    hunks.0
}

struct Hunks(Vec<Hunk>);

impl Hunks {
    /// Adds the differences between two anchors.
    fn add_between<T: Copy + Eq>(&mut self, old: &[T], old_range: Range<usize>, new: &[T], new_range: Range<usize>) {
        let (old_part, new_part) = (&old[old_range.clone()], &new[new_range.clone()]);
        let before = common_prefix(old_part, new_part);
        let after = common_suffix(&old_part[before..], &new_part[before..]);
        let (old_range, new_range) = (
            old_range.start + before..old_range.end - after,
            new_range.start + before..new_range.end - after,
        );
        if old_range.is_empty() || new_range.is_empty() {
            return self.add(old_range, new_range);
        }
        let Some(common) = common(&old[old_range.clone()], &new[new_range.clone()]) else {
            return self.add(old_range, new_range);
        };
        let (mut old_from, mut new_from) = (old_range.start, new_range.start);
        for (old_index, new_index) in common {
            let (old_index, new_index) = (old_range.start + old_index, new_range.start + new_index);
            self.add(old_from..old_index, new_from..new_index);
            (old_from, new_from) = (old_index + 1, new_index + 1);
        }
        self.add(old_from..old_range.end, new_from..new_range.end);
    }

    fn add(&mut self, old: Range<usize>, new: Range<usize>) {
        if !old.is_empty() || !new.is_empty() {
            self.0.push(Hunk { old, new });
        }
    }
}

fn common_prefix<T: Eq>(old: &[T], new: &[T]) -> usize {
    old.iter().zip(new).take_while(|(old, new)| old == new).count()
}

fn common_suffix<T: Eq>(old: &[T], new: &[T]) -> usize {
    let pairs = old.iter().rev().zip(new.iter().rev());
    pairs.take_while(|(old, new)| old == new).count()
}

/// How often an item occurs in each list, and where it did last.
#[derive(Default)]
struct Occurrences {
    old: usize,
    new: usize,
    new_index: usize,
}

/// Returns the positions of the items that occur once in each list, as far as they are in the same order in both.
fn anchors<T: Copy + Eq + Hash>(old: &[T], new: &[T]) -> Vec<(usize, usize)> {
    let mut occurrences: HashMap<T, Occurrences> = HashMap::new();
    for item in old {
        occurrences.entry(*item).or_default().old += 1;
    }
    for (index, item) in new.iter().enumerate() {
        let found = occurrences.entry(*item).or_default();
        found.new += 1;
        found.new_index = index;
    }
    let unique = old.iter().enumerate().filter_map(|(index, item)| {
        let found = occurrences.get(item)?;
        (found.old == 1 && found.new == 1).then_some((index, found.new_index))
    });
    longest_increasing(&unique.collect::<Vec<_>>())
}

/// Returns a longest subsequence of pairs whose second numbers increase.
fn longest_increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Indices of the last pairs of the subsequences of each length, and of the pairs before all pairs.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, number)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *number);
        previous.push(length.checked_sub(1).map(|length| ends[length]));
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut longest = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        longest.push(pairs[index]);
        next = previous[index];
    }
    longest.reverse();
    longest
}

/// Returns the positions of a longest common subsequence, or `None` if there are too many differences. This is the greedy
/// algorithm of E. Myers, "An O(ND) Difference Algorithm and Its Variations".
fn common<T: Eq>(old: &[T], new: &[T]) -> Option<Vec<(usize, usize)>> {
    // For each number of differences, how far each diagonal reaches in `old`. With d differences, the diagonal with the
    // index i has reached the position x in `old` and x + d − 2i in `new`.
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for differences in 0..=MOST_DIFFERENCES {
        let mut row = Vec::with_capacity(differences + 1);
        for index in 0..=differences {
            let mut old_at = rows.last().map_or(0, |before| step(before, index).0);
            let mut new_at = old_at + differences - 2 * index;
            while old_at < old.len() && new_at < new.len() && old[old_at] == new[new_at] {
                (old_at, new_at) = (old_at + 1, new_at + 1);
            }
            row.push(old_at);
            if old_at >= old.len() && new_at >= new.len() {
                rows.push(row);
                return Some(traced(&rows, index));
            }
        }
        rows.push(row);
    }
    None
}

/// Returns the position in `old` at which a diagonal begins after one more difference, and the index of the diagonal from
/// which it comes: the same index after an addition, one less after a removal.
fn step(before: &[usize], index: usize) -> (usize, usize) {
    let added = before.get(index).copied();
    let removed = index.checked_sub(1).and_then(|index| before.get(index));
    match (removed, added) {
        (Some(removed), Some(added)) if *removed >= added => (removed + 1, index - 1),
        (Some(removed), None) => (removed + 1, index - 1),
        (_, added) => (added.unwrap_or_default(), index),
    }
}

/// Follows the path to the diagonal `index` of the last row back to the beginning. Returns the positions of the items in
/// common.
fn traced(rows: &[Vec<usize>], mut index: usize) -> Vec<(usize, usize)> {
    let mut common = Vec::new();
    for (differences, row) in rows.iter().enumerate().rev() {
        let before = differences.checked_sub(1).and_then(|before| rows.get(before));
        let (from, index_before) = before.map_or((0, 0), |before| step(before, index));
        let positions = (from..row[index]).rev();
        common.extend(positions.map(|old_at| (old_at, old_at + differences - 2 * index)));
        index = index_before;
    }
    common.reverse();
    common
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_hunks(old: &str, new: &str, expected: &[(Range<usize>, Range<usize>)]) {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        let found = hunks(&chars(old), &chars(new));
        let found: Vec<_> = found.into_iter().map(|hunk| (hunk.old, hunk.new)).collect();
        assert_eq!(found, expected, "{old} {new}");
    }

    #[test]
    fn differences_are_found_at_either_end_and_between() {
        assert_hunks("", "", &[]);
        assert_hunks("abc", "abc", &[]);
        assert_hunks("abc", "xabc", &[(0..0, 0..1)]);
        assert_hunks("abc", "ab", &[(2..3, 2..2)]);
        assert_hunks("abcd", "axyd", &[(1..3, 1..3)]);
        assert_hunks("aabbcc", "aaxbbcyc", &[(2..2, 2..3), (5..5, 6..7)]);
        assert_hunks("", "ab", &[(0..0, 0..2)]);
    }

    #[test]
    fn items_that_moved_are_removed_and_added() {
        assert_hunks("abcdef", "bcdefa", &[(0..1, 0..0), (6..6, 5..6)]);
    }

    #[test]
    fn too_many_differences_are_one() {
        let text = |offset: usize| (0..2000).map(|index| (index * 7 + offset) % 5).collect::<Vec<_>>();
        let reversed: Vec<_> = text(0).into_iter().rev().collect();
        let hunks = hunks(&text(1), &reversed);
        assert_eq!(hunks.len(), 1, "{hunks:?}");
    }

    proptest! {
        #[test]
        fn what_is_between_differences_is_common(
            old in prop::collection::vec(0..8_u8, 0..60),
            new in prop::collection::vec(0..8_u8, 0..60),
        ) {
            let mut patched = Vec::new();
            let mut end = (0, 0);
            for hunk in hunks(&old, &new) {
                prop_assert!(hunk.old.start >= end.0 && hunk.new.start >= end.1, "in order");
                prop_assert_eq!(&old[end.0..hunk.old.start], &new[end.1..hunk.new.start]);
                patched.extend_from_slice(&old[end.0..hunk.old.start]);
                patched.extend_from_slice(&new[hunk.new.clone()]);
                end = (hunk.old.end, hunk.new.end);
            }
            patched.extend_from_slice(&old[end.0..]);
            prop_assert_eq!(patched, new);
        }

        #[test]
        fn the_shortest_comparison_is_found(
            old in prop::collection::vec(0..3_u8, 0..12),
            new in prop::collection::vec(0..3_u8, 0..12),
        ) {
            let mut lengths = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
            for row in (0..old.len()).rev() {
                for column in (0..new.len()).rev() {
                    lengths[row][column] = if old[row] == new[column] {
                        lengths[row + 1][column + 1] + 1
                    } else {
                        lengths[row + 1][column].max(lengths[row][column + 1])
                    };
                }
            }
            let found = common(&old, &new).expect("few differences");
            prop_assert_eq!(found.len(), lengths[0][0]);
            prop_assert!(found.iter().all(|(old_at, new_at)| old[*old_at] == new[*new_at]));
            prop_assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
        }
    }
}
