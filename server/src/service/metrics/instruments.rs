//! Families of counters and histograms. Recording is a look-up in a small map under a lock that nobody holds for longer.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

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
