//! Counters and histograms. Recording is a look-up in a small map under a lock that nobody holds for longer.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Upper bounds, in seconds: from a phase that does nothing to a document of thousands of pages, and to a job at the end
/// of a long queue.
pub(super) const BUCKETS: [f64; 18] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0,
];

/// How durations are spread.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    /// In each bucket alone; the last one holds what is above every bound.
    pub(super) counts: [u64; BUCKETS.len() + 1],
    /// Seconds.
    pub(super) sum: f64,
}

impl Histogram {
    /// Adds a duration.
    pub(super) fn observe(&mut self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        self.counts[BUCKETS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
    }
}

/// One instrument for each set of labels. Labels are of types that have few values, never what a client chooses.
pub(super) struct Family<L, I>(Mutex<BTreeMap<L, I>>);

impl<L: Ord, I: Default> Family<L, I> {
    /// With instruments for these labels: a series that is there before anything happens can be told from one that is
    /// missing.
    pub(super) fn of(known: impl IntoIterator<Item = L>) -> Self {
        Self(Mutex::new(
            known.into_iter().map(|labels| (labels, I::default())).collect(),
        ))
    }

    /// Records something.
    pub(super) fn record(&self, labels: L, change: impl FnOnce(&mut I)) {
        change(self.all().entry(labels).or_default());
    }

    /// Every instrument.
    pub(super) fn all(&self) -> MutexGuard<'_, BTreeMap<L, I>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
