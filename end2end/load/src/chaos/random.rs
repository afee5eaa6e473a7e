//! Numbers that look random and are the same in each run.

use std::{ops::RangeInclusive, time::Duration};

/// A generator of such numbers (`SplitMix64`).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from a range.
    pub(super) fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (first, last) = range.into_inner();
        first + self.draw() % (last - first + 1)
    }

    /// Returns a duration from a range of milliseconds.
    pub(super) fn duration(&mut self, milliseconds: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.within(milliseconds))
    }

    /// Returns one of two values.
    pub(super) fn either<T>(&mut self, one: T, other: T) -> T {
        if self.draw().is_multiple_of(2) { one } else { other }
    }

    pub(super) fn shuffle<T>(&mut self, values: &mut [T]) {
        for index in 1..values.len() {
            values.swap(index, self.within(0..=index as u64) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_same_seed_gives_the_same_numbers_of_the_range() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..100).map(|_| random.within(5..=20)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!(numbers(1).iter().all(|number| (5..=20).contains(number)));
    }

    #[test]
    fn shuffling_loses_nothing() {
        let mut values: Vec<u64> = (0..13).collect();
        Random::new(7).shuffle(&mut values);
        assert!(!values.is_sorted());
        values.sort_unstable();
        assert_eq!(values, (0..13).collect::<Vec<_>>());
    }
}
