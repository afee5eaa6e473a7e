//! Histograms of durations.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Upper bounds of buckets in seconds: from an empty phase to a document of thousands of pages, or a job at the end of
/// a long queue.
pub const BOUNDS: [f64; 18] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0,
];

/// A histogram of durations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Count of each bucket, not cumulative; the last one counts durations above all bounds.
    pub counts: [u64; BOUNDS.len() + 1],
    /// The sum of all durations, in seconds.
    pub sum: f64,
}

impl Histogram {
    /// Adds a duration.
    #[cfg(test)]
    pub(crate) fn observe(&mut self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        self.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the difference from an earlier state of the same histogram.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            counts: std::array::from_fn(|bucket| self.counts[bucket].saturating_sub(earlier.counts[bucket])),
            sum: (self.sum - earlier.sum).max(0.0),
        }
    }

    /// Adds all durations of another histogram.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        self.sum += other.sum;
    }

    /// Returns the quantile for a `share` from 0 to 1, interpolated linearly within a bucket. Returns the last bound
    /// for durations above it, and `None` for an empty histogram.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let rank = share * self.count() as f64;
        let (mut below, mut lower) = (0.0, 0.0);
        for (&count, bound) in self.counts.iter().zip(BOUNDS) {
            let count = count as f64;
            if count > 0.0 && below + count >= rank {
                let within = ((rank - below) / count).clamp(0.0, 1.0);
                return Some(Duration::from_secs_f64(lower + (bound - lower) * within));
            }
            below += count;
            lower = bound;
        }
        (self.count() > 0).then(|| Duration::from_secs_f64(lower))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seconds: &[f64]) -> Histogram {
        let mut histogram = Histogram::default();
        for &seconds in seconds {
            histogram.observe(Duration::from_secs_f64(seconds));
        }
        histogram
    }

    fn quantile(histogram: &Histogram, share: f64) -> Option<u128> {
        histogram.quantile(share).map(|duration| duration.as_micros())
    }

    #[test]
    fn quantiles_lie_in_the_bucket_that_holds_them() {
        assert_eq!(of(&[]).quantile(0.5), None);
        // All in the bucket from 250 to 500 ms.
        let same = of(&[0.3; 4]);
        assert_eq!(quantile(&same, 0.5), Some(375_000));
        assert_eq!(quantile(&same, 1.0), Some(500_000));
        // 19 of 20 are fast, the last one is not.
        let mut mixed = of(&[0.002; 19]);
        mixed.observe(Duration::from_secs(2));
        assert_eq!(quantile(&mixed, 0.95), Some(2_500));
        assert_eq!(quantile(&mixed, 1.0), Some(2_500_000));
        assert_eq!(quantile(&of(&[100_000.0]), 0.5), Some(7_200_000_000));
    }

    #[test]
    fn what_came_since_is_the_difference_and_sums_give_the_whole() {
        let earlier = of(&[0.3, 2.0]);
        let mut later = earlier.clone();
        later.observe(Duration::from_millis(1500));
        let since = later.since(&earlier);
        assert_eq!(since.count(), 1);
        assert!((since.sum - 1.5).abs() < 1e-9);
        let mut whole = earlier.clone();
        whole.add(&since);
        assert_eq!(whole.counts, later.counts);
        // A histogram that was reset has no difference.
        assert_eq!(earlier.since(&later).count(), 0);
    }
}
